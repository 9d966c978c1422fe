// What blocks are read from: a chosen file or an address. Offsets and lengths are bytes.

/** Blocks are 4096 bytes at multiples of 4096. */
export const BLOCK_BYTES = 4096;

/** A readable, immutable run of bytes. */
export interface BlockDevice {
  /** Equal for equal content: address and ETag, or name, size and date of a file. */
  readonly id: string;
  /** What the person calls it. */
  readonly name: string;
  readonly sizeBytes: number;
  /** How reads of it are planned. */
  readonly policy: ReadPolicy;
  /** Exactly `[offset, offset + length)`; throws a SourceError otherwise. */
  read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** What joins neighbouring reads into one. */
export interface ReadPolicy {
  /** Unwanted blocks between two wanted ones that are read along at most. */
  readonly gapBlocksMax: number;
  /** Blocks read divided by blocks wanted, at most. */
  readonly wasteRatioMax: number;
  /** Blocks in one read at most. */
  readonly readBlocksMax: number;
  /** Reads under way at once. */
  readonly parallelMax: number;
}
