// Asks a source for what a chart of one series needs: exact totals of the range, then readings or buckets.
//
// The totals come first; they decide whether the readings are few enough to be drawn as they are. They are
// never computed from what is drawn: a chart's maximum must not change when one zooms.

import type { Cost, Fn, SeriesInfo, Source, Table } from "../source/source.ts";
import type { TimeRange } from "../time/nanos.ts";
import { bucketStep } from "../time/range.ts";
import { bucketCurve, type Curve, emptyCurve, rawCurve, type Totals, totalsOf } from "./curve.ts";

/** Everything shown of one series. */
export interface Answer {
  readonly info: SeriesInfo;
  readonly totals: Totals;
  readonly curve: Curve;
  readonly costs: readonly Cost[];
}

/** Readings are drawn as they are up to this many a pixel. */
const RAW_PER_PIXEL = 1.5;
const RAW_COUNT_MIN = 400;

/** A selector that names exactly this series. */
const selectorOf = (info: SeriesInfo): string => info.name;

const NUMBER_TOTALS: readonly Fn[] = ["count", "last", "min", "mean", "max"];
const STATE_TOTALS: readonly Fn[] = ["count", "last", "changes"];
const NUMBER_BUCKET: readonly Fn[] = ["count", "min", "mean", "max"];
const STATE_BUCKET: readonly Fn[] = ["count", "last"];

/** Asks for one series in `range`, to be drawn `widthPx` wide. */
export async function ask(
  source: Source,
  info: SeriesInfo,
  range: TimeRange,
  widthPx: number,
  signal: AbortSignal,
): Promise<Answer> {
  const select = selectorOf(info);
  const state = info.kind === "state";
  const overall = await source.query({ select, range, fns: state ? STATE_TOTALS : NUMBER_TOTALS }, signal);
  const totals = totalsOf(overall, info.name);
  if (totals.count === 0) return { info, totals, curve: emptyCurve(info.name), costs: [overall.cost] };

  const rawMax = Math.max(RAW_COUNT_MIN, Math.round(widthPx * RAW_PER_PIXEL));
  let table: Table | null = null;
  if (totals.count <= rawMax) {
    // Twice as many rows, since gap markers are rows but no readings.
    const raw = await source.query({ select, range, fns: [], limit: 2 * rawMax }, signal);
    if (!raw.cut) table = raw;
    if (table !== null) {
      return { info, totals, curve: rawCurve(table, info.name), costs: [overall.cost, raw.cost] };
    }
  }
  const step = bucketStep(range, Math.max(50, Math.min(2000, Math.round(widthPx))));
  const fns = state ? STATE_BUCKET : NUMBER_BUCKET;
  const buckets = await source.query({ select, range, fns, step, snap: !state }, signal);
  return { info, totals, curve: bucketCurve(buckets, info.name), costs: [overall.cost, buckets.cost] };
}
