// The range a person chose, kept symbolic: "the last hour" stays so while time goes on.
//
// "Last" counts from the newest reading of the source, not from the viewer's clock, which may be wrong
// and for a file from a drawer says nothing.

import type { Nanos, TimeRange } from "./nanos.ts";

/** What was chosen. */
export type RangeChoice =
  | { readonly kind: "all" }
  | { readonly kind: "last"; readonly spanSeconds: number }
  | { readonly kind: "fixed"; readonly begin: Nanos; readonly end: Nanos };

const SECOND: Nanos = 1_000_000_000n;

/** The shortest range that can be zoomed to. */
export const SPAN_MIN: Nanos = 1000n;

/** The ranges offered as buttons. */
export const PRESETS = [
  { label: "1m", spanSeconds: 60 },
  { label: "5m", spanSeconds: 300 },
  { label: "15m", spanSeconds: 900 },
  { label: "1h", spanSeconds: 3600 },
  { label: "6h", spanSeconds: 21_600 },
  { label: "1d", spanSeconds: 86_400 },
  { label: "7d", spanSeconds: 604_800 },
  { label: "30d", spanSeconds: 2_592_000 },
  { label: "1y", spanSeconds: 31_536_000 },
] as const;

/** The instants meant by `choice`, where the source holds `data` and its newest instant is `newest`. */
export function resolve(choice: RangeChoice, data: TimeRange | null, newest: Nanos): TimeRange {
  if (choice.kind === "fixed") return { begin: choice.begin, end: choice.end };
  if (choice.kind === "last") {
    const span = BigInt(Math.max(1, Math.round(choice.spanSeconds))) * SECOND;
    return { begin: newest - span, end: newest };
  }
  if (data === null || data.end <= data.begin) return { begin: newest - 3600n * SECOND, end: newest };
  // A single reading still gets a picture with some width.
  if (data.end - data.begin < SECOND) return { begin: data.begin - SECOND, end: data.end + SECOND };
  return data;
}

/** `range` scaled around its middle: above 1 shows more, below 1 less. */
export function scaled(range: TimeRange, factor: number): TimeRange {
  const span = range.end - range.begin;
  const wanted = BigInt(Math.round(Number(span) * factor));
  const wide = wanted > SPAN_MIN ? wanted : SPAN_MIN;
  const middle = range.begin + span / 2n;
  return { begin: middle - wide / 2n, end: middle - wide / 2n + wide };
}

/** `range` moved by a fraction of its width. */
export function moved(range: TimeRange, fraction: number): TimeRange {
  const by = BigInt(Math.round(Number(range.end - range.begin) * fraction));
  return { begin: range.begin + by, end: range.end + by };
}

const LADDER_SECONDS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900,
  1200, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400,
] as const;

/** A round bucket width that gives at most `bucketCountMax` buckets in `range`. */
export function bucketStep(range: TimeRange, bucketCountMax: number): Nanos {
  const least = Number(range.end - range.begin) / 1e9 / Math.max(1, bucketCountMax);
  const round = LADDER_SECONDS.find((step) => step >= least);
  if (round !== undefined) return BigInt(Math.round(round * 1e9));
  return BigInt(Math.ceil(least / 86_400)) * 86_400n * SECOND;
}
