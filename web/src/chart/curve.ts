// What a chart draws of one series, made from the tables a source answers with. Pure.
//
// A gap stays a gap: the line breaks where the engine says "no value from here" and where nothing came
// for several times the usual distance. A reading with no neighbour on either side becomes a dot.

import type { Column, Table } from "../source/source.ts";
import { msFromNanos } from "../time/nanos.ts";

/** One drawable series: points, or buckets with a band. Times are milliseconds. */
export interface Curve {
  readonly name: string;
  /** Where the line goes through: the reading's time, or the middle of the bucket. */
  readonly at: Float64Array;
  /** The reading, or the bucket's mean; NaN breaks the line. */
  readonly line: Float64Array;
  /** Texts of a state series, by row. */
  readonly texts: readonly (string | null)[] | null;
  readonly band: Band | null;
  /** Rows at which a new stretch of line begins, ascending; the first is 0 unless there are no rows. */
  readonly stretches: Uint32Array;
}

/** The extremes of each bucket, at its true width. */
export interface Band {
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly count: Float64Array;
}

/** Exact figures of one series over the visible range. */
export interface Totals {
  readonly name: string;
  readonly count: number;
  readonly last: Figure;
  readonly min: Figure;
  readonly mean: Figure;
  readonly max: Figure;
  readonly changes: Figure;
}

/** A number, a text where a number can't say it, or nothing. */
export type Figure = number | string | null;

/** Silences longer than this many usual distances break the line. */
export const GAP_RATIO = 4;
/** One empty bucket is a pixel of a sparse series, not yet a silence. */
const BUCKET_GAP_RATIO = 1.5;

const EMPTY = new Float64Array(0);

/** A series without readings in the range. */
export function emptyCurve(name: string): Curve {
  return { name, at: EMPTY, line: EMPTY, texts: null, band: null, stretches: new Uint32Array(0) };
}

function rowsOf(table: Table, name: string): { from: number; to: number } {
  const series = table.series.indexOf(name);
  if (series < 0) return { from: 0, to: 0 };
  const from = table.seriesAt.indexOf(series);
  const last = table.seriesAt.lastIndexOf(series);
  return from < 0 ? { from: 0, to: 0 } : { from, to: last + 1 };
}

function times(nanos: BigInt64Array, from: number, to: number): Float64Array {
  const out = new Float64Array(to - from);
  for (let i = 0; i < out.length; i++) out[i] = msFromNanos(nanos[from + i] ?? 0n);
  return out;
}

const columnOf = (table: Table, name: string): Column | undefined =>
  table.columns.find((column) => column.name === name);

/** The exact figures in a table of aggregates without steps. */
export function totalsOf(table: Table, name: string): Totals {
  const { from, to } = rowsOf(table, name);
  const figure = (fn: string): Figure => {
    const column = columnOf(table, fn);
    if (column === undefined || to === from) return null;
    const value = column.numbers[from] ?? Number.NaN;
    const text = column.texts?.[from] ?? null;
    if (text !== null) return text;
    return Number.isNaN(value) ? null : value;
  };
  const count = figure("count");
  return {
    name,
    count: typeof count === "number" ? count : 0,
    last: figure("last"),
    min: figure("min"),
    mean: figure("mean"),
    max: figure("max"),
    changes: figure("changes"),
  };
}

/** The middle distance between neighbours; 0 with fewer than two. */
export function usualDistance(at: Float64Array): number {
  if (at.length < 2) return 0;
  const distances = new Float64Array(at.length - 1);
  for (let i = 0; i < distances.length; i++) distances[i] = (at[i + 1] ?? 0) - (at[i] ?? 0);
  return middle(distances);
}

/** Readings as they are. */
export function rawCurve(table: Table, name: string): Curve {
  const { from, to } = rowsOf(table, name);
  if (from === to) return emptyCurve(name);
  const at = times(table.begin, from, to);
  const column = columnOf(table, "value");
  const line = column?.numbers.slice(from, to) ?? new Float64Array(at.length).fill(Number.NaN);
  const texts = column?.texts?.slice(from, to) ?? null;
  const silence = usualDistance(at) * GAP_RATIO;
  const breaks = (i: number): boolean =>
    Number.isNaN(line[i]) || Number.isNaN(line[i - 1]) || (at[i] ?? 0) - (at[i - 1] ?? 0) > silence;
  return { name, at, line, texts, band: null, stretches: stretchesOf(at.length, breaks) };
}

/** Buckets with their extremes; buckets without a reading are left out. */
export function bucketCurve(table: Table, name: string): Curve {
  const { from, to } = rowsOf(table, name);
  const counts = columnOf(table, "count")?.numbers;
  const ends = table.end;
  if (from === to || ends === null || counts === undefined) return emptyCurve(name);
  const kept: number[] = [];
  for (let row = from; row < to; row++) if ((counts[row] ?? 0) > 0) kept.push(row);
  const pick = (column: Float64Array | undefined): Float64Array =>
    Float64Array.from(kept, (row) => column?.[row] ?? Number.NaN);
  const begin = Float64Array.from(kept, (row) => msFromNanos(table.begin[row] ?? 0n));
  const end = Float64Array.from(kept, (row) => msFromNanos(ends[row] ?? 0n));
  const count = pick(counts);
  const mean = columnOf(table, "mean") ?? columnOf(table, "last");
  const line = pick(mean?.numbers);
  const at = begin.map((b, i) => (b + (end[i] ?? b)) / 2);
  const texts = columnOf(table, "last")?.texts;
  const silence = silenceOfBuckets(begin, end, count);
  const breaks = (i: number): boolean =>
    Number.isNaN(line[i]) || Number.isNaN(line[i - 1]) || (begin[i] ?? 0) - (end[i - 1] ?? 0) > silence;
  return {
    name,
    at,
    line,
    texts: texts === undefined ? null : kept.map((row) => texts[row] ?? null),
    band: {
      begin,
      end,
      low: pick(columnOf(table, "min")?.numbers),
      high: pick(columnOf(table, "max")?.numbers),
      count,
    },
    stretches: stretchesOf(at.length, breaks),
  };
}

/** How long nothing may come between two filled buckets: several usual distances, and more than one bucket. */
function silenceOfBuckets(begin: Float64Array, end: Float64Array, count: Float64Array): number {
  const widths = begin.map((b, i) => (end[i] ?? b) - b);
  const distances = widths.map((width, i) => width / Math.max(1, count[i] ?? 1));
  return Math.max(middle(distances) * GAP_RATIO, middle(widths) * BUCKET_GAP_RATIO);
}

function middle(values: Float64Array): number {
  const sorted = values.toSorted();
  return sorted[sorted.length >> 1] ?? 0;
}

function stretchesOf(rows: number, breaks: (row: number) => boolean): Uint32Array {
  const starts: number[] = [];
  for (let row = 0; row < rows; row++) if (row === 0 || breaks(row)) starts.push(row);
  return Uint32Array.from(starts);
}

/** The least and greatest value drawn; `null` when there is none. */
export function extent(curves: readonly Curve[]): { low: number; high: number } | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const take = (values: Float64Array): void => {
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  };
  for (const curve of curves) {
    take(curve.line);
    if (curve.band !== null) {
      take(curve.band.low);
      take(curve.band.high);
    }
  }
  return low <= high ? { low, high } : null;
}

/** The row whose time is nearest to `ms`, or inside whose bucket it lies; -1 when nothing is near. */
export function rowAt(curve: Curve, ms: number, reachMs: number): number {
  const { at, band } = curve;
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  const near = [low - 1, low].filter((row) => row >= 0 && row < at.length);
  const distance = (row: number): number => {
    if (band !== null && (band.begin[row] ?? 0) <= ms && ms < (band.end[row] ?? 0)) return 0;
    return Math.abs((at[row] ?? 0) - ms);
  };
  const best = near.reduce((a, b) => (distance(b) < distance(a) ? b : a), near[0] ?? -1);
  return best >= 0 && distance(best) <= reachMs ? best : -1;
}
