// The first view of a source whose address names none: which series, and which range.
//
// Both are chosen from summaries of a bounded number of series, which the engine takes from the roots of
// their trees. Of a live source a few candidates are asked about their last hour too, since what has been
// silent for a day is no news. Where that fails or takes too long, the first series by name are shown.

import { SourceError } from "../source/errors.ts";
import type { Cost, Fn, SeriesInfo, SeriesPage, Source, Table } from "../source/source.ts";
import { earlier, later, type Nanos, parseNanos, type TimeRange } from "../time/nanos.ts";
import { PRESETS, type RangeChoice } from "../time/range.ts";
import { type Glance, interest, liveliest, sampled } from "./interest.ts";

/** What to show first. */
export interface FirstView {
  readonly range: RangeChoice;
  readonly series: readonly SeriesInfo[];
  /** Whether a later look could choose much better, because there is little to judge by yet. */
  readonly early: boolean;
  readonly costs: readonly Cost[];
}

const CHART_COUNT = 3;
const SERIES_PER_CHART = 4;
/** Up to so many series are asked about in one question; of more, a sample, one by one. */
const ASKED_TOGETHER = 500;
const SAMPLE_COUNT = 48;
const ASKED_AT_ONCE = 6;
/** Charts that are asked about their last hour before the final choice. */
const CANDIDATE_CHARTS = 8;
/** A choice that takes longer is not worth waiting for. */
const PATIENCE_MS = 4000;
/** What has come in for less than this has not shown yet how it moves: a later look may choose otherwise. */
const EARLY_S = 30;
/** What is shown already is exchanged only for what is clearly better. */
const KEPT_WEIGHT = 1.5;
/** What fills next to nothing of a range. */
const SPARSE_WEIGHT = 0.1;

const SECOND_NS = 1_000_000_000n;
const HOUR_S = 3600;
/** A slow series gets a range with so many readings. */
const READINGS_WANTED = 100;
/** A silence of so many usual distances begins a new run of readings. */
const SILENCE_RATIO = 4;

const FNS: readonly Fn[] = ["count", "min", "max", "mean", "first", "last", "changes", "first_at", "last_at"];

/** Looks at a source, of whose series `page` is the list, and says what to show first, or instead of `shown`. */
export async function firstView(
  source: Source,
  page: SeriesPage,
  signal: AbortSignal,
  shown: readonly SeriesInfo[] = [],
): Promise<FirstView> {
  const newest = await source.newest(signal);
  const costs: Cost[] = [];
  const limit = new AbortController();
  const stop = (): void => limit.abort();
  const timer = setTimeout(stop, PATIENCE_MS);
  signal.addEventListener("abort", stop);
  try {
    const look = new Look(source, newest, costs, limit.signal, shown);
    const whole = await look.whole(page);
    const found = source.info.live ? await look.live(whole) : offline(whole);
    if (found.series.length > 0) return { ...found, early: found.early && page.total > 0, costs };
    return { ...found, series: firstByName(page.series), costs };
  } catch (thrown) {
    // What is wrong with the source is said when its charts are asked for; being slow is no fault.
    if (signal.aborted || !(thrown instanceof SourceError)) throw thrown;
    return { range: rangeByName(source, newest), series: firstByName(page.series), early: false, costs };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

type Choice = Omit<FirstView, "costs">;

/** The choice where everything there is is shown: what fills little of that is worth less. */
function offline(whole: readonly Glance[]): Choice {
  const begin = whole.reduce((least, { firstAt }) => earlier(least, firstAt), whole[0]?.firstAt ?? 0n);
  const end = whole.reduce((most, { lastAt }) => later(most, lastAt), begin);
  const judged = whole.map((glance) => {
    const share = Number(glance.lastAt - glance.firstAt) / Math.max(1, Number(end - begin));
    return { glance, worth: interest(glance) * (SPARSE_WEIGHT + (1 - SPARSE_WEIGHT) * share) };
  });
  const series = liveliest(judged, CHART_COUNT, SERIES_PER_CHART).map(({ info }) => info);
  return { range: { kind: "all" }, series, early: false };
}

/** What is asked for one choice. */
class Look {
  readonly #source: Source;
  readonly #newest: Nanos;
  readonly #costs: Cost[];
  readonly #signal: AbortSignal;
  readonly #shown: ReadonlySet<string>;

  constructor(
    source: Source,
    newest: Nanos,
    costs: Cost[],
    signal: AbortSignal,
    shown: readonly SeriesInfo[],
  ) {
    this.#shown = new Set(shown.map(({ name }) => name));
    this.#source = source;
    this.#newest = newest;
    this.#costs = costs;
    this.#signal = signal;
  }

  /** Everything that is stored of all series, or of a sample. */
  async whole(page: SeriesPage): Promise<Glance[]> {
    const range = this.#source.info.range;
    if (range === null || page.series.length === 0) return [];
    const everything = page.total === this.#source.info.seriesCount && page.total <= ASKED_TOGETHER;
    if (!everything || page.series.length < page.total)
      return this.#each(sampled(page.series, SAMPLE_COUNT), range);
    const table = await this.#source.query({ select: "{}", range, fns: FNS }, this.#signal);
    this.#costs.push(table.cost);
    return glances(table, page.series);
  }

  /** The choice for a live source: by the last hour where something came in it. */
  async live(whole: readonly Glance[]): Promise<Choice> {
    const newest = this.#newest;
    const hour: TimeRange = { begin: newest - BigInt(HOUR_S) * SECOND_NS, end: newest + 1n };
    const judged = whole.map((glance) => ({ glance, worth: interest(glance) }));
    const candidates = liveliest(judged, CANDIDATE_CHARTS, SERIES_PER_CHART);
    const fresh = candidates.every(({ firstAt }) => firstAt >= hour.begin)
      ? candidates
      : await this.#each(
          candidates.filter(({ lastAt }) => lastAt >= hour.begin).map(({ info }) => info),
          hour,
        );
    if (fresh.length === 0) {
      const quiet = whole.length > 0 && whole.every(({ lastAt }) => lastAt < hour.begin);
      const range: RangeChoice = quiet
        ? { kind: "all" }
        : { kind: "last", spanSeconds: PRESETS[0].spanSeconds };
      return { ...offline(whole), range, early: isYoung(whole, newest) };
    }
    const spanSeconds = liveSpan(fresh, whole, newest);
    const inView = fresh.map((glance) => {
      const weight = this.#shown.has(glance.info.name) ? KEPT_WEIGHT : 1;
      return { glance, worth: weight * interest(glance, countWithin(glance, newest, spanSeconds)) };
    });
    const chosen = liveliest(inView, CHART_COUNT, SERIES_PER_CHART);
    const early = isYoung(chosen.length > 0 ? chosen : whole, newest);
    return { range: { kind: "last", spanSeconds }, series: chosen.map(({ info }) => info), early };
  }

  async #each(series: readonly SeriesInfo[], range: TimeRange): Promise<Glance[]> {
    const found: Glance[][] = [];
    const queue = [...series.entries()];
    const lane = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [place, info] = next;
        const question = { select: info.name, exact: true, range, fns: FNS };
        const table = await this.#source.query(question, this.#signal);
        this.#costs.push(table.cost);
        found[place] = glances(table, [info]);
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, lane));
    return found.flat();
  }
}

/** What a table of aggregates says of each of `series` that has readings in it. */
export function glances(table: Table, series: readonly SeriesInfo[]): Glance[] {
  const known = new Map(series.map((info) => [info.name, info]));
  const column = (fn: Fn) => table.columns.find(({ name }) => name === fn);
  const [firstAts, lastAts] = [column("first_at"), column("last_at")];
  const number = (fn: Fn, row: number): number => column(fn)?.numbers[row] ?? Number.NaN;
  const found: Glance[] = [];
  for (const [row, at] of table.seriesAt.entries()) {
    const info = known.get(table.series[at] ?? "");
    const firstAt = parseNanos(firstAts?.texts?.[row] ?? "");
    const lastAt = parseNanos(lastAts?.texts?.[row] ?? "");
    if (info === undefined || firstAt === null || lastAt === null) continue;
    found.push({
      info,
      count: number("count", row),
      min: number("min", row),
      max: number("max", row),
      mean: number("mean", row),
      first: number("first", row),
      last: number("last", row),
      changes: number("changes", row),
      firstAt,
      lastAt,
    });
  }
  return found;
}

const isYoung = (seen: readonly Glance[], newest: Nanos): boolean =>
  seen.every(({ firstAt }) => secondsOf(newest - firstAt) < EARLY_S);

const secondsOf = (nanos: Nanos): number => Number(nanos) / 1e9;

/** The usual distance of its readings, seconds. */
const distance = ({ count, firstAt, lastAt }: Glance): number =>
  count > 1 ? secondsOf(lastAt - firstAt) / (count - 1) : 0;

function countWithin(glance: Glance, newest: Nanos, spanSeconds: number): number {
  const age = Math.max(1, secondsOf(newest - glance.firstAt));
  return glance.count * Math.min(1, spanSeconds / age);
}

/** The smallest range offered that holds what most of `fresh` have, up to an hour, or some hundred readings. */
export function liveSpan(fresh: readonly Glance[], whole: readonly Glance[], newest: Nanos): number {
  const first = new Map(whole.map(({ info, firstAt }) => [info.name, firstAt]));
  const wanted = fresh.map((glance) => {
    // Since when it has been coming in: what lies behind a silence is another story.
    const silence = secondsOf(glance.firstAt - newest) + HOUR_S > SILENCE_RATIO * distance(glance);
    const since = silence ? glance.firstAt : (first.get(glance.info.name) ?? glance.firstAt);
    return Math.min(secondsOf(newest - since), Math.max(HOUR_S, READINGS_WANTED * distance(glance)));
  });
  const middle = wanted.toSorted((a, b) => a - b)[wanted.length >> 1] ?? HOUR_S;
  return PRESETS.find(({ spanSeconds }) => spanSeconds >= middle)?.spanSeconds ?? HOUR_S;
}

/** The last hour where something came in it, else everything. */
function rangeByName(source: Source, newest: Nanos): RangeChoice {
  const end = source.info.range?.end ?? newest;
  const quiet = newest - end >= BigInt(HOUR_S) * SECOND_NS;
  return quiet || !source.info.live ? { kind: "all" } : { kind: "last", spanSeconds: HOUR_S };
}

/** A few metrics with a few series each, numbers before switches and states. */
export function firstByName(series: readonly SeriesInfo[]): SeriesInfo[] {
  const metrics = new Map<string, SeriesInfo[]>();
  const rank = ({ kind }: SeriesInfo): number => ["float", "integer", "boolean", "state"].indexOf(kind);
  for (const one of series.toSorted((a, b) => rank(a) - rank(b))) {
    const group = metrics.get(one.metric) ?? [];
    if (group.length === 0 && metrics.size >= CHART_COUNT) continue;
    if (group.length < SERIES_PER_CHART) group.push(one);
    metrics.set(one.metric, group);
  }
  return [...metrics.values()].flat();
}
