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

/** What reading has cost since the reader was made. */
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

/** Reads blocks of several devices. */
export class BlockReader {
  readonly devices: BlockDevice[] = [];
  readonly cost: ReadCost = { blocksRead: 0, bytesRead: 0, reads: 0, blocksCached: 0 };
  readonly #cache: BlockCache;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(cache: BlockCache) {
    this.#cache = cache;
  }

  /** Adds a device and gives its number; `firstBlock` is what opening has read already. */
  add(device: BlockDevice, firstBlock?: Uint8Array): number {
    this.devices.push(device);
    if (firstBlock !== undefined) {
      this.#cache.put(device.id, 0, firstBlock);
      this.cost.blocksRead += 1;
      this.cost.bytesRead += firstBlock.length;
      this.cost.reads += 1;
    }
    return this.devices.length - 1;
  }

  /** Blocks and bytes of all devices together. */
  total(): { blocks: number; bytes: number } {
    const bytes = this.devices.reduce((sum, device) => sum + device.sizeBytes, 0);
    const blocks = this.devices.reduce((sum, device) => sum + Math.ceil(device.sizeBytes / BLOCK_BYTES), 0);
    return { blocks, bytes };
  }

  /** Hands every wanted block to `deliver`, each once, in any order; the last of a device may be short. */
  async read(needs: readonly Need[], deliver: Deliver, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw cancelled();
    const jobs: Promise<void>[] = [];
    for (const [number, device] of this.devices.entries()) {
      const missing: Span[] = [];
      for (const need of needs) {
        if (need.device !== number) continue;
        for (let block = need.first; block < need.first + need.count; block++) {
          const cached = this.#cache.get(device.id, block);
          const underWay = this.#underWay.get(`${number}:${block}`);
          if (cached !== undefined) {
            this.cost.blocksCached += 1;
            deliver(number, block, cached);
          } else if (underWay !== undefined) {
            jobs.push(this.#await(underWay, number, block, deliver, signal));
          } else {
            missing.push({ first: block, count: 1 });
          }
        }
      }
      if (missing.length > 0) jobs.push(this.#fetch(number, device, missing, deliver, signal));
    }
    await Promise.all(jobs);
  }

  async #await(job: Promise<void>, number: number, block: number, deliver: Deliver, signal: AbortSignal) {
    // Whether somebody else's read failed or was cancelled is not our affair: then read ourselves.
    await job.catch(() => undefined);
    await this.read([{ device: number, first: block, count: 1 }], deliver, signal);
  }

  async #fetch(
    number: number,
    device: BlockDevice,
    missing: readonly Span[],
    deliver: Deliver,
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = new Set<number>();
    for (const span of missing) wanted.add(span.first);
    const queue = planReads(missing, device.policy);
    const lanes = Array.from({ length: Math.min(device.policy.parallelMax, queue.length) }, async () => {
      for (let read = queue.shift(); read !== undefined; read = queue.shift()) {
        await this.#readOne(number, device, read, wanted, deliver, signal);
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
  ): Promise<void> {
    const offset = read.first * BLOCK_BYTES;
    const length = Math.min(read.count * BLOCK_BYTES, device.sizeBytes - offset);
    if (length <= 0) throw failures.truncated(device.name, device.sizeBytes, offset + BLOCK_BYTES);
    const job = device.read(offset, length, signal).then((bytes) => {
      this.cost.reads += 1;
      this.cost.bytesRead += bytes.length;
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
        this.cost.blocksRead += 1;
        deliver(number, read.first + i, bytes.slice(i * BLOCK_BYTES, (i + 1) * BLOCK_BYTES));
      }
    } finally {
      for (let i = 0; i < read.count; i++) this.#underWay.delete(`${number}:${read.first + i}`);
    }
  }
}
