// Turns the blocks a query wants into few reads: neighbours are joined, small gaps read along.
//
// Pure. Over HTTP one read of 192 KiB takes about as long as one of 4 KiB, and for a file the price is
// per call, so that a gap costs less than another read; the policy bounds the waste.

import type { ReadPolicy } from "./device.ts";

/** `count` blocks from block `first` on. */
export interface Span {
  readonly first: number;
  readonly count: number;
}

/** A read that covers some wanted blocks. */
export interface Read extends Span {
  /** How many of the blocks were wanted. */
  readonly wanted: number;
}

/** `wanted` sorted, without overlaps, neighbours joined. */
export function merged(wanted: readonly Span[]): Span[] {
  const sorted = wanted.filter((span) => span.count > 0).toSorted((a, b) => a.first - b.first);
  const out: { first: number; count: number }[] = [];
  for (const span of sorted) {
    const last = out.at(-1);
    if (last !== undefined && span.first <= last.first + last.count) {
      last.count = Math.max(last.count, span.first + span.count - last.first);
    } else {
      out.push({ first: span.first, count: span.count });
    }
  }
  return out;
}

/** The reads that get all of `wanted`, in ascending order and without overlap. */
export function planReads(wanted: readonly Span[], policy: ReadPolicy): Read[] {
  const reads: { first: number; count: number; wanted: number }[] = [];
  for (const span of merged(wanted)) {
    const last = reads.at(-1);
    if (last !== undefined) {
      const gap = span.first - (last.first + last.count);
      const count = span.first + span.count - last.first;
      const useful = last.wanted + span.count;
      if (
        gap <= policy.gapBlocksMax &&
        count <= policy.readBlocksMax &&
        count <= useful * policy.wasteRatioMax
      ) {
        last.count = count;
        last.wanted = useful;
        continue;
      }
    }
    for (let done = 0; done < span.count; done += policy.readBlocksMax) {
      const count = Math.min(policy.readBlocksMax, span.count - done);
      reads.push({ first: span.first + done, count, wanted: count });
    }
  }
  return reads;
}
