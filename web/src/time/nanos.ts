// Nanoseconds since the Unix epoch as bigint, and half-open ranges of them.
//
// The engine and the API speak nanoseconds; charts draw milliseconds in a double, which is exact to a
// quarter of a microsecond for today's dates.

/** Nanoseconds since 1970-01-01T00:00:00Z. */
export type Nanos = bigint;

/** The instants `begin <= t < end`. */
export interface TimeRange {
  readonly begin: Nanos;
  readonly end: Nanos;
}

const NANOS_PER_MS = 1_000_000n;

/** The bounds of a 64-bit signed integer, which every instant on the wire must fit. */
export const NANOS_MIN: Nanos = -(2n ** 63n);
export const NANOS_MAX: Nanos = 2n ** 63n - 1n;

/** Milliseconds (a double, perhaps with a fraction) to nanoseconds. */
export function nanosFromMs(ms: number): Nanos {
  const whole = Math.floor(ms);
  return BigInt(whole) * NANOS_PER_MS + BigInt(Math.round((ms - whole) * 1e6));
}

/** Nanoseconds to milliseconds as a double. */
export function msFromNanos(nanos: Nanos): number {
  const whole = nanos / NANOS_PER_MS;
  return Number(whole) + Number(nanos - whole * NANOS_PER_MS) / 1e6;
}

/** A decimal text to nanoseconds; `null` when it is none or doesn't fit 64 bits. */
export function parseNanos(text: string): Nanos | null {
  if (!/^-?\d{1,19}$/.test(text)) return null;
  const nanos = BigInt(text);
  return nanos >= NANOS_MIN && nanos <= NANOS_MAX ? nanos : null;
}

/** The earlier of two instants (Math.min takes no bigint). */
export function earlier(a: Nanos, b: Nanos): Nanos {
  if (a < b) return a;
  return b;
}

/** The later of two instants. */
export function later(a: Nanos, b: Nanos): Nanos {
  if (a > b) return a;
  return b;
}

/** The smallest range around both. */
export function hull(a: TimeRange | null, b: TimeRange | null): TimeRange | null {
  if (a === null || b === null) return a ?? b;
  return { begin: earlier(a.begin, b.begin), end: later(a.end, b.end) };
}
