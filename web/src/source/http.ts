// The agent that serves this page, asked over its HTTP API.
//
// The API's JSON is checked here, field by field; nothing behind this file trusts the network.

import { type Nanos, nanosFromMs, parseNanos, type TimeRange } from "../time/nanos.ts";
import { asSourceError, type Cause, cancelled, failures, SourceError } from "./errors.ts";
import { nameParts } from "./names.ts";
import type {
  Column,
  Cost,
  Question,
  SeriesInfo,
  SeriesPage,
  Source,
  SourceInfo,
  Table,
  ValueKind,
} from "./source.ts";

const KINDS: readonly ValueKind[] = ["float", "integer", "boolean", "state"];
const BLOCK_BYTES = 4096;

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

const field = (json: Json | undefined, key: string): Json | undefined =>
  json !== null && typeof json === "object" && !Array.isArray(json)
    ? (json as { readonly [key: string]: Json | undefined })[key]
    : undefined;
const list = (json: Json | undefined): readonly Json[] =>
  Array.isArray(json) ? (json as readonly Json[]) : [];
const count = (json: Json | undefined): number => (typeof json === "number" && json >= 0 ? json : 0);
const text = (json: Json | undefined): string | null => (typeof json === "string" ? json : null);

const strange = (what: string): SourceError =>
  new SourceError(
    "internal",
    `The agent's answer isn't understood (${what}): page and agent may be of different versions.`,
  );

/** The agent of this page's own origin, or another one. */
export class AgentSource implements Source {
  #info: SourceInfo;
  readonly #base: URL;
  /** The agent's clock minus this computer's, milliseconds. */
  #clockAheadMs: number;

  private constructor(base: URL, info: SourceInfo, clockAheadMs: number) {
    this.#base = base;
    this.#info = info;
    this.#clockAheadMs = clockAheadMs;
  }

  get info(): SourceInfo {
    return this.#info;
  }

  /** Connects to the agent at `base`; `null` when what answers there is no agent. */
  static async connect(base: URL, signal: AbortSignal): Promise<AgentSource | null> {
    let answer: { json: Json; clockAheadMs: number };
    try {
      answer = await request(new URL("api/health", base), {}, signal);
    } catch (thrown) {
      if (asSourceError(thrown).reason === "cancelled") throw thrown;
      return null;
    }
    const { json } = await request(new URL("api/series?limit=0", base), {}, signal);
    const info: SourceInfo = {
      label: text(field(answer.json, "name")) ?? base.host,
      live: true,
      seriesCount: count(field(json, "total")),
      range: rangeOf(json) ?? rangeOf(answer.json),
      warnings: [],
    };
    return new AgentSource(base, info, answer.clockAheadMs);
  }

  async series(search: string, limit: number, signal: AbortSignal): Promise<SeriesPage> {
    const url = new URL("api/series", this.#base);
    if (search.trim() !== "") url.searchParams.set("search", search.trim());
    url.searchParams.set("limit", String(limit));
    const { json } = await request(url, {}, signal);
    const series = list(field(json, "series")).map(seriesInfo);
    return { series, total: Math.max(series.length, count(field(json, "total"))) };
  }

  async query(question: Question, signal: AbortSignal): Promise<Table> {
    const body = {
      select: question.select,
      from: String(question.range.begin),
      to: String(question.range.end),
      fn: question.fns,
      ...(question.step === undefined ? {} : { step: String(question.step) }),
      ...(question.snap === true ? { snap: true } : {}),
      ...(question.limit === undefined ? {} : { limit: question.limit }),
    };
    const { json, clockAheadMs } = await request(
      new URL("api/query", this.#base),
      { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) },
      signal,
    );
    this.#clockAheadMs = clockAheadMs;
    return tableOf(json);
  }

  /** The agent's clock; what it holds by now is asked along. */
  async newest(signal: AbortSignal): Promise<Nanos> {
    const { json, clockAheadMs } = await request(new URL("api/series?limit=0", this.#base), {}, signal);
    this.#clockAheadMs = clockAheadMs;
    const range = rangeOf(json) ?? this.#info.range;
    this.#info = { ...this.#info, range, seriesCount: count(field(json, "total")) };
    return nanosFromMs(Date.now() + this.#clockAheadMs);
  }
}

async function request(
  url: URL,
  init: RequestInit,
  signal: AbortSignal,
): Promise<{ json: Json; clockAheadMs: number }> {
  let response: Response;
  const sent = Date.now();
  try {
    response = await fetch(url, { ...init, cache: "no-store", signal });
  } catch {
    if (signal.aborted) throw cancelled();
    throw failures.unreachable(url.host);
  }
  const clock = Date.parse(response.headers.get("date") ?? "");
  // The header has whole seconds: on average it is half a second behind.
  const clockAheadMs = Number.isNaN(clock) ? 0 : clock + 500 - (sent + Date.now()) / 2;
  let json: Json;
  try {
    json = (await response.json()) as Json;
  } catch {
    if (signal.aborted) throw cancelled();
    if (!response.ok) throw failures.server(url.pathname, response.status);
    throw strange("no JSON");
  }
  if (response.ok) return { json, clockAheadMs: Math.abs(clockAheadMs) < 1500 ? 0 : clockAheadMs };
  const error = field(json, "error");
  const at = field(error, "at");
  const reason: Cause = response.status < 500 ? "bad-request" : "server";
  throw new SourceError(
    reason,
    text(field(error, "message")) ?? `The agent answered ${response.status}.`,
    typeof at === "number" ? { at } : {},
  );
}

function rangeOf(json: Json): TimeRange | null {
  const begin = parseNanos(text(field(json, "begin")) ?? "");
  const end = parseNanos(text(field(json, "end")) ?? "");
  return begin !== null && end !== null && begin < end ? { begin, end } : null;
}

function seriesInfo(json: Json): SeriesInfo {
  const name = typeof json === "string" ? json : text(field(json, "name"));
  if (name === null) throw strange("a series without a name");
  const kind = KINDS.find((known) => known === field(json, "kind")) ?? "float";
  return { name, ...nameParts(name), kind, unit: text(field(json, "unit")) };
}

/** The table in the API's JSON. */
export function tableOf(json: Json): Table {
  const names = list(field(json, "columns")).map(
    (column) => text(field(column, "name")) ?? text(column) ?? "",
  );
  const rows = list(field(json, "rows"));
  if (names[0] !== "series" || names[1] !== "t") throw strange("columns");
  const bucketed = names[2] === "t_end";
  const index = new Map<string, number>();
  const seriesAt = new Uint32Array(rows.length);
  const begin = new BigInt64Array(rows.length);
  const end = bucketed ? new BigInt64Array(rows.length) : null;
  const columns: MutableColumn[] = names.slice(bucketed ? 3 : 2).map((name) => ({
    name,
    numbers: new Float64Array(rows.length),
  }));
  for (const [r, json] of rows.entries()) {
    const row = list(json);
    const name = text(row[0]);
    if (name === null) throw strange("a row without a series");
    let at = index.get(name);
    if (at === undefined) {
      at = index.size;
      index.set(name, at);
    }
    seriesAt[r] = at;
    begin[r] = instant(row[1]);
    if (end !== null) end[r] = instant(row[2]);
    for (const [c, column] of columns.entries()) setCell(column, r, rows.length, row[c + (bucketed ? 3 : 2)]);
  }
  const next = field(json, "next");
  return {
    series: [...index.keys()],
    seriesAt,
    begin,
    end,
    columns: columns as readonly Column[],
    cost: costOf(field(json, "stats")),
    cut: next !== null && next !== undefined,
    warnings: list(field(field(json, "stats"), "warnings")).flatMap((warning) => text(warning) ?? []),
  };
}

interface MutableColumn {
  name: string;
  numbers: Float64Array;
  texts?: (string | null)[];
}

function setCell(column: MutableColumn, row: number, rowCount: number, cell: Json | undefined): void {
  if (typeof cell === "number") {
    column.numbers[row] = cell;
  } else if (typeof cell === "boolean") {
    column.numbers[row] = cell ? 1 : 0;
  } else {
    column.numbers[row] = typeof cell === "string" ? Number(cell === "" ? Number.NaN : cell) : Number.NaN;
    if (typeof cell === "string") {
      column.texts ??= new Array<string | null>(rowCount).fill(null);
      column.texts[row] = cell;
    }
  }
}

function instant(cell: Json | undefined): Nanos {
  const nanos = parseNanos(text(cell) ?? "");
  if (nanos === null) throw strange("a row without an instant");
  return nanos;
}

function costOf(stats: Json | undefined): Cost {
  const blocksTotal = count(field(stats, "blocks_total"));
  return {
    blocksRead: count(field(stats, "blocks_read")),
    bytesRead: count(field(stats, "bytes_read")),
    blocksTotal,
    bytesTotal: blocksTotal * BLOCK_BYTES,
  };
}
