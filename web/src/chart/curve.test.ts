import { describe, expect, test } from "vitest";
import { NO_COST, type Table } from "../source/source.ts";
import { bucketCurve, extent, rawCurve, rowAt, totalsOf } from "./curve.ts";

const MS = 1_000_000n;

/** A table of one series "s" in front of another, from columns of plain numbers. */
function table(begin: number[], end: number[] | null, columns: Record<string, (number | null)[]>): Table {
  const rows = begin.length;
  return {
    series: ["s", "t"],
    seriesAt: Uint32Array.from({ length: rows + 1 }, (_, i) => (i < rows ? 0 : 1)),
    begin: BigInt64Array.from([...begin, 0], (ms) => BigInt(ms) * MS),
    end: end === null ? null : BigInt64Array.from([...end, 1], (ms) => BigInt(ms) * MS),
    columns: Object.entries(columns).map(([name, values]) => ({
      name,
      numbers: Float64Array.from([...values, 99], (value) => value ?? Number.NaN),
    })),
    cost: NO_COST,
    cut: false,
    warnings: [],
  };
}

describe("raw readings", () => {
  test("a silence of several usual distances breaks the line, a jitter doesn't", () => {
    const curve = rawCurve(table([0, 10, 21, 30, 80, 90, 100], null, { value: [1, 2, 3, 4, 5, 6, 7] }), "s");
    expect([...curve.stretches]).toEqual([0, 4]);
    expect([...curve.line]).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("a gap marker breaks the line and leaves a lone reading alone", () => {
    const curve = rawCurve(table([0, 10, 20, 30], null, { value: [1, null, 3, null] }), "s");
    expect([...curve.stretches]).toEqual([0, 1, 2, 3]);
  });

  test("a series that is not in the answer is empty", () => {
    expect(rawCurve(table([0], null, { value: [1] }), "other").at).toHaveLength(0);
  });
});

describe("buckets", () => {
  const count = [6, 6, 0, 0, 0, 0, 0, 0, 6, 6];
  const begin = count.map((_, i) => i * 60);
  const end = begin.map((b) => b + 60);
  const some = count.map((c, i) => (c > 0 ? i : null));
  const curve = bucketCurve(
    table(begin, end, { count, mean: some, min: some, max: some.map((v) => v && v + 5) }),
    "s",
  );

  test("empty ones are left out and break the line", () => {
    expect([...curve.at]).toEqual([30, 90, 510, 570]);
    expect([...curve.stretches]).toEqual([0, 2]);
  });

  test("one reading every other bucket is no gap", () => {
    const sparse = [1, 0, 1, 0, 1, 0, 1];
    const at = sparse.map((_, i) => i * 10);
    const made = bucketCurve(
      table(
        at,
        at.map((b) => b + 10),
        { count: sparse, mean: sparse, min: sparse, max: sparse },
      ),
      "s",
    );
    expect([...made.stretches]).toEqual([0]);
  });

  test("one empty bucket is no silence, two are", () => {
    const counts = [9, 9, 0, 9, 9, 0, 0, 9];
    const from = counts.map((_, i) => i * 60);
    const values = counts.map((c) => (c > 0 ? 1 : null));
    const columns = { count: counts, mean: values, min: values, max: values };
    const until = from.map((b) => b + 60);
    expect([...bucketCurve(table(from, until, columns), "s").stretches]).toEqual([0, 4]);
  });

  test("the picture holds the extremes, not only the means", () => {
    expect(extent([curve])).toEqual({ low: 0, high: 14 });
    expect(extent([])).toBeNull();
  });

  test("the cursor finds the bucket it is in, and nothing in a gap", () => {
    expect(rowAt(curve, 59, 1)).toBe(0);
    expect(rowAt(curve, 61, 1)).toBe(1);
    expect(rowAt(curve, 300, 10)).toBe(-1);
    expect(rowAt(curve, 10_000, 10)).toBe(-1);
  });
});

test("totals are read, not computed; nothing is nothing and not zero", () => {
  const totals = totalsOf(table([0], [100], { count: [3], min: [1], mean: [2], max: [null] }), "s");
  expect(totals).toMatchObject({ count: 3, min: 1, mean: 2, max: null, last: null });
  expect(totalsOf(table([0], [1], { count: [3] }), "missing").count).toBe(0);
});
