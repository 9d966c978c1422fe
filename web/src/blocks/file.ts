// A file that was dropped or chosen, read in slices. Nothing of it leaves the computer.

import { cancelled, failures } from "../source/errors.ts";
import { BLOCK_BYTES, type BlockDevice, type ReadPolicy } from "./device.ts";

// The price of a slice is per call and hardly grows up to 64 KiB.
const POLICY: ReadPolicy = {
  gapBlocksMax: (60 * 1024) / BLOCK_BYTES,
  wasteRatioMax: 8,
  readBlocksMax: (1024 * 1024) / BLOCK_BYTES,
  parallelMax: 4,
};

/** A chosen file. */
export class FileDevice implements BlockDevice {
  readonly id: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly policy = POLICY;
  readonly #blob: Blob;

  constructor(name: string, blob: Blob, version: string) {
    this.id = `file:${name}:${blob.size}:${version}`;
    this.name = name;
    this.sizeBytes = blob.size;
    this.#blob = blob;
  }

  async read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array> {
    if (signal.aborted) throw cancelled();
    try {
      const bytes = new Uint8Array(await this.#blob.slice(offset, offset + length).arrayBuffer());
      if (bytes.length !== length) throw failures.truncated(this.name, offset + bytes.length, this.sizeBytes);
      return bytes;
    } catch (thrown) {
      // The browser says NotReadableError when the file changed or its stick was pulled.
      if (thrown instanceof DOMException) throw failures.gone(this.name);
      throw thrown;
    }
  }
}
