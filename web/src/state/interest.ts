// Which series are worth a first look, judged by the summaries of their readings alone. Pure.
//
// Interesting is what moves: over a good part of its size, back and forth rather than in one ramp, and with
// readings enough to make a line. Charts are spread over metrics and devices, so that one chatty device
// doesn't fill the page. The same summaries always give the same choice.

import type { SeriesInfo } from "../source/source.ts";
import type { Nanos } from "../time/nanos.ts";

/** What summaries say of one series. Figures are NaN where there is none. */
export interface Glance {
  readonly info: SeriesInfo;
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly first: number;
  readonly last: number;
  /** How often a switch or state changed. */
  readonly changes: number;
  /** When its first and last readings were. */
  readonly firstAt: Nanos;
  readonly lastAt: Nanos;
}

/** Fewer readings than this say nothing about how a series moves. */
const COUNT_MIN = 3;
/** So many readings make a good line; more make it no better. */
const COUNT_FULL = 30;
/** What only rises or only falls: a counter, a level that runs empty. */
const RAMP_WEIGHT = 0.3;
const BOOLEAN_WEIGHT = 0.25;
const STATE_WEIGHT = 0.2;
/** Another chart of a device that has one already. */
const SAME_DEVICE_WEIGHT = 0.5;

/** How much a series is worth a look, 0 to 1; 0 means that it does not move. `count`: readings in view. */
export function interest(glance: Glance, count = glance.count): number {
  if (glance.count < COUNT_MIN) return 0;
  const filled = Math.min(1, count / COUNT_FULL);
  const { kind } = glance.info;
  if (kind === "state") return glance.changes > 0 ? STATE_WEIGHT * filled : 0;
  const swing = glance.max - glance.min;
  if (!(swing > 0) || !Number.isFinite(swing)) return 0;
  if (kind === "boolean") return BOOLEAN_WEIGHT * filled;
  const size = Math.max(Math.abs(glance.min), Math.abs(glance.max));
  return Math.sqrt(Math.min(1, swing / size)) * filled * balance(glance, swing) * direction(glance);
}

/** Near 1 where values lie on both sides of the middle, less where all but a few lie at one end. */
function balance(glance: Glance, swing: number): number {
  const share = Math.max(0, Math.min(1, (glance.mean - glance.min) / swing));
  return 0.4 + 1.2 * Math.sqrt(share * (1 - share));
}

function direction({ first, last, min, max }: Glance): number {
  const ramp = (first === min && last === max) || (first === max && last === min);
  return ramp ? RAMP_WEIGHT : 1;
}

/** A glance with what it is worth. */
export interface Judged {
  readonly glance: Glance;
  readonly worth: number;
}

/** The best of them: so many charts (metrics) with so many series each. None that doesn't move. */
export function liveliest(judged: readonly Judged[], chartCount: number, seriesPerChart: number): Glance[] {
  const charts = [...grouped(judged).values()];
  const devices = new Map<string, number>();
  const chosen: Glance[] = [];
  for (let i = 0; i < chartCount; i++) {
    const next = charts.reduce<Judged[] | null>(
      (best, chart) => (worthOf(chart, devices) > worthOf(best, devices) ? chart : best),
      null,
    );
    if (next === null) break;
    charts.splice(charts.indexOf(next), 1);
    const taken = next.slice(0, seriesPerChart).map(({ glance }) => glance);
    for (const { info } of taken) devices.set(deviceOf(info), (devices.get(deviceOf(info)) ?? 0) + 1);
    chosen.push(...taken.sort((a, b) => (a.info.name < b.info.name ? -1 : 1)));
  }
  return chosen;
}

/** By chart, what moves, best first; equals keep the order they came in. */
function grouped(judged: readonly Judged[]): Map<string, Judged[]> {
  const charts = new Map<string, Judged[]>();
  for (const one of judged.filter(({ worth }) => worth > 0).sort((a, b) => b.worth - a.worth)) {
    const { metric, unit, kind } = one.glance.info;
    const key = `${kind === "state"} ${unit ?? ""} ${metric}`;
    charts.set(key, [...(charts.get(key) ?? []), one]);
  }
  return charts;
}

function worthOf(chart: readonly Judged[] | null, devices: ReadonlyMap<string, number>): number {
  const best = chart?.[0];
  if (best === undefined) return 0;
  return best.worth * SAME_DEVICE_WEIGHT ** (devices.get(deviceOf(best.glance.info)) ?? 0);
}

const deviceOf = (info: SeriesInfo): string => JSON.stringify(info.tags);

/** At most `countMax` of `series`, spread evenly over metrics and within each. */
export function sampled(series: readonly SeriesInfo[], countMax: number): SeriesInfo[] {
  if (series.length <= countMax) return [...series];
  const metrics = new Map<string, SeriesInfo[]>();
  for (const one of series) metrics.set(one.metric, [...(metrics.get(one.metric) ?? []), one]);
  const kept = evenly([...metrics.values()], countMax);
  const share = Math.max(1, Math.floor(countMax / kept.length));
  return kept.flatMap((group) => evenly(group, share));
}

function evenly<T>(items: readonly T[], countMax: number): T[] {
  if (items.length <= countMax) return [...items];
  return items.filter(
    (_, i) => Math.floor((i * countMax) / items.length) !== Math.floor(((i - 1) * countMax) / items.length),
  );
}
