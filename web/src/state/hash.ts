// What is looked at, as the part of the address behind "#": source, series, range, zone. Nothing secret.
//
// Files of this computer can't be named in an address; the hash then only says that there were some.

import { parseNanos } from "../time/nanos.ts";
import type { RangeChoice } from "../time/range.ts";
import type { Zone } from "../time/zone.ts";

/** Where the data come from. */
export type SourceChoice =
  | { readonly kind: "agent" }
  | { readonly kind: "files" }
  | { readonly kind: "urls"; readonly urls: readonly string[] };

/** What is looked at. */
export interface ViewState {
  /** `null`: not chosen yet. */
  readonly source: SourceChoice | null;
  /** Canonical names in the order chosen; `null`: let the page choose. */
  readonly series: readonly string[] | null;
  readonly range: RangeChoice | null;
  readonly zone: Zone;
}

/** A limit on what an address may ask for. */
const SERIES_COUNT_MAX = 100;
const URL_COUNT_MAX = 100;

/** The state in a hash; parts that make no sense are left out. */
export function parseHash(hash: string): ViewState {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const urls = params.getAll("url").filter(isWebAddress).slice(0, URL_COUNT_MAX);
  const word = params.get("src");
  const source: SourceChoice | null =
    urls.length > 0 ? { kind: "urls", urls } : word === "agent" || word === "files" ? { kind: word } : null;
  const series = params.getAll("m").slice(0, SERIES_COUNT_MAX);
  return {
    source,
    series: params.has("m") ? series.filter((name) => name !== "") : null,
    range: parseRange(params.get("r")),
    zone: params.get("z") === "utc" ? "utc" : "local",
  };
}

/** The hash of a state, with "#". */
export function formatHash(state: ViewState): string {
  const params = new URLSearchParams();
  if (state.source?.kind === "urls") for (const url of state.source.urls) params.append("url", url);
  else if (state.source !== null) params.set("src", state.source.kind);
  for (const name of state.series ?? []) params.append("m", name);
  if (state.series?.length === 0) params.append("m", "");
  if (state.range !== null) params.set("r", formatRange(state.range));
  if (state.zone === "utc") params.set("z", "utc");
  return `#${params}`;
}

/** Whether a page may fetch it. */
export function isWebAddress(text: string): boolean {
  const url = URL.parse?.(text) ?? null;
  if (url !== null) return url.protocol === "http:" || url.protocol === "https:";
  return /^https?:\/\/[^\s/]+/.test(text);
}

function parseRange(text: string | null): RangeChoice | null {
  if (text === "all") return { kind: "all" };
  const last = /^last-(\d{1,10})$/.exec(text ?? "");
  if (last !== null && Number(last[1]) > 0) return { kind: "last", spanSeconds: Number(last[1]) };
  const [from, to, more] = (text ?? "").split("..");
  const begin = parseNanos(from ?? "");
  const end = parseNanos(to ?? "");
  if (more !== undefined || begin === null || end === null || begin >= end) return null;
  return { kind: "fixed", begin, end };
}

function formatRange(range: RangeChoice): string {
  if (range.kind === "all") return "all";
  if (range.kind === "last") return `last-${range.spanSeconds}`;
  return `${range.begin}..${range.end}`;
}
