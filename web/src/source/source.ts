// The one interface the page asks, with two implementations: the agent over HTTP (`http.ts`) and the
// engine in a worker over block files (`engine.ts`).
//
// Answers are tables of columns, as in the HTTP API; what a chart makes of them is in `chart/`.

import type { Nanos, TimeRange } from "../time/nanos.ts";

/** What a series holds. */
export type ValueKind = "float" | "integer" | "boolean" | "state";

/** One series. */
export interface SeriesInfo {
  /** Canonical name, the identity of the series. */
  readonly name: string;
  readonly metric: string;
  /** The tags in canonical order. */
  readonly tags: readonly (readonly [string, string])[];
  readonly kind: ValueKind;
  readonly unit: string | null;
}

/** What a source is, known once it is open. */
export interface SourceInfo {
  /** How the person knows it. */
  readonly label: string;
  /** Whether new readings come in while one watches. */
  readonly live: boolean;
  readonly seriesCount: number;
  /** From the oldest to behind the newest reading; `null` when there is none or it isn't known. */
  readonly range: TimeRange | null;
  /** What was wrong on opening and didn't prevent it, a sentence each. */
  readonly warnings: readonly string[];
}

/** Series that match a search. */
export interface SeriesPage {
  readonly series: readonly SeriesInfo[];
  /** How many match in all. */
  readonly total: number;
}

/** A function over the readings of a range or bucket. */
export type Fn = "count" | "min" | "max" | "mean" | "first" | "first_at" | "last" | "last_at" | "changes";

/** A question: raw readings without `fns`, one row a series with, one a bucket with `step` too. */
export interface Question {
  readonly select: string;
  /** Whether only the series of exactly that name is wanted; a source may answer with more. */
  readonly exact?: boolean;
  readonly range: TimeRange;
  readonly fns: readonly Fn[];
  readonly step?: Nanos;
  /** Whether buckets may move to the edges of tree nodes, which costs fewer reads. */
  readonly snap?: boolean;
  readonly limit?: number;
}

/** One column of values. */
export interface Column {
  readonly name: string;
  /** NaN where there is no number: no value, a NaN reading, a text. */
  readonly numbers: Float64Array;
  /** What a number can't say (states, NaN, integers beyond 2^53), by row; absent when nothing needs it. */
  readonly texts?: readonly (string | null)[];
}

/** What an answer cost. */
export interface Cost {
  readonly blocksRead: number;
  readonly bytesRead: number;
  readonly blocksTotal: number;
  readonly bytesTotal: number;
}

/** An answer: rows sorted by series, then time. */
export interface Table {
  /** The distinct series of the rows. */
  readonly series: readonly string[];
  /** Per row the index into `series`. */
  readonly seriesAt: Uint32Array;
  /** Per row its instant, or the begin of its bucket, nanoseconds. */
  readonly begin: BigInt64Array;
  /** Per row the end of its bucket; `null` for raw readings. */
  readonly end: BigInt64Array | null;
  readonly columns: readonly Column[];
  readonly cost: Cost;
  /** Whether the limit cut the answer. */
  readonly cut: boolean;
  /** What could not be read and is missing in the answer, a sentence each. */
  readonly warnings: readonly string[];
}

/** Something that can be asked. */
export interface Source {
  readonly info: SourceInfo;
  /** Series whose name contains every word of `search`, at most `limit` of them. */
  series(search: string, limit: number, signal: AbortSignal): Promise<SeriesPage>;
  query(question: Question, signal: AbortSignal): Promise<Table>;
  /** The newest instant to count "the last hour" from; `info` is up to date afterwards. */
  newest(signal: AbortSignal): Promise<Nanos>;
}

export const NO_COST: Cost = { blocksRead: 0, bytesRead: 0, blocksTotal: 0, bytesTotal: 0 };
