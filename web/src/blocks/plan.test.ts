import { describe, expect, test } from "vitest";
import type { ReadPolicy } from "./device.ts";
import { planReads, type Span } from "./plan.ts";

const POLICY: ReadPolicy = { gapBlocksMax: 4, wasteRatioMax: 1.5, readBlocksMax: 64, parallelMax: 6 };

/** Repeatable numbers in [0, below). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

const blocksOf = (spans: readonly Span[]): Set<number> => {
  const blocks = new Set<number>();
  for (const { first, count } of spans) for (let i = 0; i < count; i++) blocks.add(first + i);
  return blocks;
};

describe("planReads", () => {
  test("joins over a gap of four blocks, not of five", () => {
    const wide = { ...POLICY, wasteRatioMax: 10 };
    const near = [
      { first: 0, count: 1 },
      { first: 5, count: 1 },
    ];
    const far = [
      { first: 0, count: 1 },
      { first: 6, count: 1 },
    ];
    expect(planReads(near, wide)).toEqual([{ first: 0, count: 6, wanted: 2 }]);
    expect(planReads(far, wide)).toHaveLength(2);
  });

  test("doesn't read more than one and a half times what is wanted", () => {
    const wanted = [
      { first: 0, count: 2 },
      { first: 4, count: 2 },
    ];
    expect(planReads(wanted, POLICY)).toEqual([{ first: 0, count: 6, wanted: 4 }]);
    expect(
      planReads(
        [
          { first: 0, count: 1 },
          { first: 2, count: 1 },
        ],
        POLICY,
      ),
    ).toEqual([{ first: 0, count: 3, wanted: 2 }]);
    expect(
      planReads(
        [
          { first: 0, count: 1 },
          { first: 3, count: 1 },
        ],
        POLICY,
      ),
    ).toHaveLength(2);
  });

  test("wants nothing, reads nothing", () => {
    expect(planReads([], POLICY)).toEqual([]);
    expect(planReads([{ first: 3, count: 0 }], POLICY)).toEqual([]);
  });

  test("any wish is covered once, within the policy", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const next = numbers(seed);
      const wanted = Array.from({ length: 1 + next(30) }, () => ({ first: next(300), count: next(90) }));
      const reads = planReads(wanted, POLICY);
      const wish = blocksOf(wanted);
      const got = blocksOf(reads);
      expect(
        [...wish].filter((block) => !got.has(block)),
        `seed ${seed}`,
      ).toEqual([]);
      let behind = -1;
      for (const read of reads) {
        expect(read.first, `seed ${seed}`).toBeGreaterThanOrEqual(behind);
        expect(read.count).toBeLessThanOrEqual(POLICY.readBlocksMax);
        behind = read.first + read.count;
        const useful = Array.from({ length: read.count }, (_, i) => read.first + i).filter((b) =>
          wish.has(b),
        );
        expect(useful).toHaveLength(read.wanted);
        expect(read.count).toBeLessThanOrEqual(read.wanted * POLICY.wasteRatioMax);
        // It begins and ends with a wanted block.
        expect(useful.at(0)).toBe(read.first);
        expect(useful.at(-1)).toBe(behind - 1);
      }
    }
  });
});
