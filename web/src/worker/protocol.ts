// The messages between the page and the worker that owns the engine.
//
// The page sends requests, each with a number; the worker answers each exactly once, with a result or an
// error, perhaps after some progress. "cancel" names a request and has no answer of its own: the request
// ends with the error "cancelled". Typed arrays are transferred, not copied.

import type { PlainError } from "../source/errors.ts";
import type { Cost, Question, SeriesPage, SourceInfo, Table } from "../source/source.ts";

/** Something to open. */
export type OpenItem =
  | { readonly kind: "file"; readonly file: File }
  | { readonly kind: "url"; readonly url: string }
  /** Fetch all of it first, from a server that can't send parts. */
  | { readonly kind: "download"; readonly url: string };

/** What became of one item. */
export interface Opened {
  readonly name: string;
  readonly error: PlainError | null;
}

/** What opening gave. */
export interface OpenResult {
  readonly info: SourceInfo;
  readonly items: readonly Opened[];
  readonly cost: Cost;
}

/** The operations: what goes in and what comes out. */
export interface Operations {
  /** Adds files and addresses to what is open. */
  open: { in: { readonly items: readonly OpenItem[] }; out: OpenResult };
  series: { in: { readonly search: string; readonly limit: number }; out: SeriesPage };
  query: { in: { readonly question: Question }; out: Table };
}

export type Operation = keyof Operations;

/** A request for one of the operations. */
export type Request = {
  [Op in Operation]: { readonly id: number; readonly op: Op; readonly input: Operations[Op]["in"] };
}[Operation];

/** Page to worker. */
export type ToWorker = Request | { readonly id: number; readonly op: "cancel" };

/** How far a request has come. */
export interface Progress {
  readonly blocksRead: number;
  readonly bytesRead: number;
}

/** Worker to page. */
export type FromWorker =
  | { readonly id: number; readonly kind: "result"; readonly output: Operations[Operation]["out"] }
  | { readonly id: number; readonly kind: "error"; readonly error: PlainError }
  | { readonly id: number; readonly kind: "progress"; readonly progress: Progress };

/** The buffers of an answer that can be handed over instead of copied. */
export function transferables(output: Operations[Operation]["out"]): ArrayBuffer[] {
  if (!("seriesAt" in output)) return [];
  const arrays = [output.seriesAt, output.begin, ...(output.end === null ? [] : [output.end])];
  const all = [...arrays, ...output.columns.map((column) => column.numbers)];
  return all.map((array) => array.buffer).filter((buffer) => buffer instanceof ArrayBuffer);
}
