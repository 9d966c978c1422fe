// Gets the blocks a query wants: from the cache, from reads under way, or by planned reads in parallel.
//
// Counts what it cost. It doesn't look into blocks; whether one is good is for the engine to say.

import { cancelled, failures } from "../source/errors.ts";
import type { BlockCache } from "./cache.ts";
import { BLOCK_BYTES, type BlockDevice } from "./device.ts";
import { planReads, type Read, type Span } from "./plan.ts";

/** Blocks wanted of one device. */
export interface Need extends Span {
  readonly device: number;
}

/** Takes one block. */
export type Deliver = (device: number, block: number, bytes: Uint8Array) => void;

/** What reading has cost. */
export interface ReadCost {
  /** Blocks handed to the engine that came from a device. */
  blocksRead: number;
  /** Bytes that came from devices, gaps included. */
  bytesRead: number;
  /** Reads sent to devices. */
  reads: number;
  /** Blocks found in the cache. */
  blocksCached: number;
}

/** Nothing read yet. */
export const noReads = (): ReadCost => ({ blocksRead: 0, bytesRead: 0, reads: 0, blocksCached: 0 });

/** Reads blocks of several devices. */
export class BlockReader {
  readonly #devices = new Map<number, BlockDevice>();
  readonly #cache: BlockCache;
  readonly #underWay = new Map<string, Promise<void>>();
  #lastNumber = -1;

  constructor(cache: BlockCache) {
    this.#cache = cache;
  }

  /** Adds a device and gives its number, which no other gets. */
  add(device: BlockDevice): number {
    this.#lastNumber += 1;
    this.#devices.set(this.#lastNumber, device);
    return this.#lastNumber;
  }

  /** Puts a newer version of a device in its place. */
  replace(number: number, device: BlockDevice): void {
    this.remove(number);
    this.#devices.set(number, device);
  }

  /** Forgets a device and its blocks. */
  remove(number: number): void {
    const device = this.#devices.get(number);
    if (device !== undefined) this.#cache.drop(device.id);
    this.#devices.delete(number);
  }

  device(number: number): BlockDevice | undefined {
    return this.#devices.get(number);
  }

  /** Takes a block that was read already, such as the one that opening an address brings. */
  keep(number: number, block: number, bytes: Uint8Array, cost: ReadCost): void {
    const device = this.#devices.get(number);
    if (device === undefined) return;
    this.#cache.put(device.id, block, bytes);
    cost.blocksRead += 1;
    cost.bytesRead += bytes.length;
    cost.reads += 1;
  }

  /** Blocks and bytes of all devices together. */
  total(): { blocks: number; bytes: number } {
    let blocks = 0;
    let bytes = 0;
    for (const { sizeBytes } of this.#devices.values()) {
      blocks += Math.ceil(sizeBytes / BLOCK_BYTES);
      bytes += sizeBytes;
    }
    return { blocks, bytes };
  }

  /** Hands every wanted block to `deliver`, each once, in any order; the last of a device may be short. */
  async read(needs: readonly Need[], deliver: Deliver, signal: AbortSignal, cost: ReadCost): Promise<void> {
    if (signal.aborted) throw cancelled();
    const jobs: Promise<void>[] = [];
    for (const [number, device] of this.#devices) {
      const missing: Span[] = [];
      for (const need of needs) {
        if (need.device !== number) continue;
        for (let block = need.first; block < need.first + need.count; block++) {
          const cached = this.#cache.get(device.id, block);
          const underWay = this.#underWay.get(`${number}:${block}`);
          if (cached !== undefined) {
            cost.blocksCached += 1;
            deliver(number, block, cached);
          } else if (underWay !== undefined) {
            jobs.push(this.#await(underWay, number, block, deliver, signal, cost));
          } else {
            missing.push({ first: block, count: 1 });
          }
        }
      }
      if (missing.length > 0) jobs.push(this.#fetch(number, device, missing, deliver, signal, cost));
    }
    await Promise.all(jobs);
  }

  async #await(
    job: Promise<void>,
    number: number,
    block: number,
    deliver: Deliver,
    signal: AbortSignal,
    cost: ReadCost,
  ): Promise<void> {
    // Whether somebody else's read failed or was cancelled is not our affair: then read ourselves.
    await job.catch(() => undefined);
    await this.read([{ device: number, first: block, count: 1 }], deliver, signal, cost);
  }

  async #fetch(
    number: number,
    device: BlockDevice,
    missing: readonly Span[],
    deliver: Deliver,
    signal: AbortSignal,
    cost: ReadCost,
  ): Promise<void> {
    const wanted = new Set<number>();
    for (const span of missing) wanted.add(span.first);
    const queue = planReads(missing, device.policy);
    const lanes = Array.from({ length: Math.min(device.policy.parallelMax, queue.length) }, async () => {
      for (let read = queue.shift(); read !== undefined; read = queue.shift()) {
        await this.#readOne(number, device, read, wanted, deliver, signal, cost);
      }
    });
    await Promise.all(lanes);
  }

  async #readOne(
    number: number,
    device: BlockDevice,
    read: Read,
    wanted: ReadonlySet<number>,
    deliver: Deliver,
    signal: AbortSignal,
    cost: ReadCost,
  ): Promise<void> {
    const offset = read.first * BLOCK_BYTES;
    const length = Math.min(read.count * BLOCK_BYTES, device.sizeBytes - offset);
    if (length <= 0) throw failures.truncated(device.name, device.sizeBytes, offset + BLOCK_BYTES);
    const job = device.read(offset, length, signal).then((bytes) => {
      cost.reads += 1;
      cost.bytesRead += bytes.length;
      for (let i = 0; i * BLOCK_BYTES < bytes.length; i++) {
        this.#cache.put(device.id, read.first + i, bytes.slice(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES));
      }
      return bytes;
    });
    const settled = job.then(() => undefined);
    settled.catch(() => undefined);
    for (let i = 0; i < read.count; i++) this.#underWay.set(`${number}:${read.first + i}`, settled);
    try {
      const bytes = await job;
      for (let i = 0; i * BLOCK_BYTES < bytes.length; i++) {
        if (!wanted.has(read.first + i)) continue;
        cost.blocksRead += 1;
        deliver(number, read.first + i, bytes.slice(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES));
      }
    } finally {
      for (let i = 0; i < read.count; i++) this.#underWay.delete(`${number}:${read.first + i}`);
    }
  }
}
