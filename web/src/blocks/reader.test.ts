import { beforeEach, describe, expect, test } from "vitest";
import { SourceError } from "../source/errors.ts";
import { BlockCache } from "./cache.ts";
import { BLOCK_BYTES, type BlockDevice, type ReadPolicy } from "./device.ts";
import { BlockReader, noReads, type ReadCost } from "./reader.ts";

const POLICY: ReadPolicy = { gapBlocksMax: 4, wasteRatioMax: 1.5, readBlocksMax: 64, parallelMax: 6 };

/** A device whose block n is full of n, and that notes what was read. */
class NotingDevice implements BlockDevice {
  readonly id: string;
  readonly name = "noted";
  readonly policy = POLICY;
  readonly sizeBytes: number;
  readonly reads: (readonly [number, number])[] = [];
  atOnce = 0;
  atOnceMax = 0;
  fails = 0;

  constructor(id: string, sizeBytes: number) {
    this.id = id;
    this.sizeBytes = sizeBytes;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.reads.push([offset / BLOCK_BYTES, Math.ceil(length / BLOCK_BYTES)]);
    this.atOnce += 1;
    this.atOnceMax = Math.max(this.atOnceMax, this.atOnce);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.atOnce -= 1;
    if (this.fails > 0) {
      this.fails -= 1;
      throw new SourceError("server", "no");
    }
    return Uint8Array.from({ length }, (_, i) => Math.floor((offset + i) / BLOCK_BYTES));
  }
}

function collect(): {
  got: Map<string, number>;
  deliver: (device: number, block: number, bytes: Uint8Array) => void;
} {
  const got = new Map<string, number>();
  return {
    got,
    deliver: (device, block, bytes) => {
      expect(bytes[0]).toBe(block);
      expect(bytes.at(-1)).toBe(block);
      const key = `${device}:${block}`;
      got.set(key, (got.get(key) ?? 0) + 1);
    },
  };
}

const signal = new AbortController().signal;
let cost: ReadCost;
beforeEach(() => {
  cost = noReads();
});

describe("BlockReader", () => {
  test("delivers each wanted block once, joins neighbours, keeps what it read", async () => {
    const reader = new BlockReader(new BlockCache(100));
    const device = new NotingDevice("a", 40 * BLOCK_BYTES);
    reader.add(device);
    const { got, deliver } = collect();
    const needs = [
      { device: 0, first: 2, count: 2 },
      { device: 0, first: 6, count: 2 },
      { device: 0, first: 3, count: 1 },
    ];
    await reader.read(needs, deliver, signal, cost);
    expect([...got.keys()].sort()).toEqual(["0:2", "0:3", "0:6", "0:7"]);
    expect(device.reads).toEqual([[2, 6]]);
    expect(cost).toEqual({ blocksRead: 4, bytesRead: 6 * BLOCK_BYTES, reads: 1, blocksCached: 0 });
    // The gap was read along, so it costs nothing now.
    await reader.read([{ device: 0, first: 4, count: 2 }], deliver, signal, cost);
    expect(device.reads).toHaveLength(1);
    expect(cost.blocksCached).toBe(2);
  });

  test("two questions for one block share the read", async () => {
    const reader = new BlockReader(new BlockCache(100));
    const device = new NotingDevice("a", 40 * BLOCK_BYTES);
    reader.add(device);
    const { got, deliver } = collect();
    const need = [{ device: 0, first: 9, count: 1 }];
    await Promise.all([reader.read(need, deliver, signal, cost), reader.read(need, deliver, signal, cost)]);
    expect(device.reads).toEqual([[9, 1]]);
    expect(got.get("0:9")).toBe(2);
  });

  test("a read that failed for one question is tried again for the other", async () => {
    const reader = new BlockReader(new BlockCache(100));
    const device = new NotingDevice("a", 40 * BLOCK_BYTES);
    device.fails = 1;
    reader.add(device);
    const { got, deliver } = collect();
    const need = [{ device: 0, first: 9, count: 1 }];
    const first = reader.read(need, deliver, signal, cost);
    const second = reader.read(need, deliver, signal, cost);
    await expect(first).rejects.toThrow("no");
    await second;
    expect(got.get("0:9")).toBe(1);
  });

  test("never more reads at once than the device allows, several devices side by side", async () => {
    const reader = new BlockReader(new BlockCache(1000));
    const devices = [new NotingDevice("a", 900 * BLOCK_BYTES), new NotingDevice("b", 900 * BLOCK_BYTES)];
    for (const device of devices) reader.add(device);
    const { got, deliver } = collect();
    const needs = Array.from({ length: 25 }, (_, i) => ({ device: i % 2, first: i * 10, count: 1 }));
    await reader.read(needs, deliver, signal, cost);
    expect(got.size).toBe(25);
    for (const device of devices) expect(device.atOnceMax).toBe(POLICY.parallelMax);
  });

  test("the last block of a cut file comes short, and behind it there is nothing", async () => {
    const reader = new BlockReader(new BlockCache(10));
    reader.add(new NotingDevice("a", BLOCK_BYTES + 10));
    const lengths: number[] = [];
    await reader.read(
      [{ device: 0, first: 0, count: 2 }],
      (_d, _b, bytes) => lengths.push(bytes.length),
      signal,
      cost,
    );
    expect(lengths).toEqual([BLOCK_BYTES, 10]);
    const behind = reader.read([{ device: 0, first: 2, count: 1 }], () => undefined, signal, cost);
    await expect(behind).rejects.toMatchObject({ reason: "truncated" });
  });

  test("an aborted question reads nothing", async () => {
    const reader = new BlockReader(new BlockCache(10));
    const device = new NotingDevice("a", BLOCK_BYTES);
    reader.add(device);
    const aborted = reader.read(
      [{ device: 0, first: 0, count: 1 }],
      () => undefined,
      AbortSignal.abort(),
      cost,
    );
    await expect(aborted).rejects.toMatchObject({ reason: "cancelled" });
    expect(device.reads).toEqual([]);
  });
});

describe("BlockCache", () => {
  test("forgets the block that was not used for longest", () => {
    const cache = new BlockCache(2);
    const block = new Uint8Array(1);
    cache.put("a", 1, block);
    cache.put("a", 2, block);
    cache.get("a", 1);
    cache.put("b", 1, block);
    expect([cache.get("a", 1), cache.get("a", 2), cache.get("b", 1)]).toEqual([block, undefined, block]);
    cache.drop("a");
    expect([cache.get("a", 1), cache.get("b", 1), cache.blockCount]).toEqual([undefined, block, 1]);
  });
});
