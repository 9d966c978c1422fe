// Blocks in memory, the least recently used going first.
//
// Keyed by the device's id, which carries the ETag: a file replaced on its server never mixes with
// what was read of the old one.

/** A bounded store of blocks. */
export class BlockCache {
  readonly #blocks = new Map<string, Uint8Array>();
  readonly #blockCountMax: number;

  constructor(blockCountMax: number) {
    this.#blockCountMax = blockCountMax;
  }

  get blockCount(): number {
    return this.#blocks.size;
  }

  get(device: string, block: number): Uint8Array | undefined {
    const key = keyOf(device, block);
    const bytes = this.#blocks.get(key);
    if (bytes !== undefined) {
      this.#blocks.delete(key);
      this.#blocks.set(key, bytes);
    }
    return bytes;
  }

  put(device: string, block: number, bytes: Uint8Array): void {
    const key = keyOf(device, block);
    this.#blocks.delete(key);
    this.#blocks.set(key, bytes);
    for (const oldest of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#blockCountMax) break;
      this.#blocks.delete(oldest);
    }
  }

  /** Forgets every block of one device. */
  drop(device: string): void {
    for (const key of this.#blocks.keys()) {
      if (key.startsWith(`${device}\u0000`)) this.#blocks.delete(key);
    }
  }
}

const keyOf = (device: string, block: number): string => `${device}\u0000${block}`;
