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
  /** What is missing in it, a sentence each. */
  readonly warnings: readonly string[];
}

/** Readings are drawn as they are up to this many a pixel. */
const RAW_PER_PIXEL = 1.5;
const RAW_COUNT_MIN = 400;

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
  const common = { select: info.name, exact: true, range };
  const state = info.kind === "state";
  const overall = await source.query({ ...common, fns: state ? STATE_TOTALS : NUMBER_TOTALS }, signal);
  const totals = totalsOf(overall, info.name);
  const answer = (curve: Curve, ...tables: Table[]): Answer => ({
    info,
    totals,
    curve,
    costs: [overall, ...tables].map(({ cost }) => cost),
    warnings: [...new Set([overall, ...tables].flatMap(({ warnings }) => warnings))],
  });
  if (totals.count === 0) return answer(emptyCurve(info.name));

  const rawMax = Math.max(RAW_COUNT_MIN, Math.round(widthPx * RAW_PER_PIXEL));
  if (totals.count <= rawMax) {
    // Twice as many rows, since gap markers are rows but no readings.
    const raw = await source.query({ ...common, fns: [], limit: 2 * rawMax }, signal);
    if (!raw.cut) return answer(rawCurve(raw, info.name), raw);
  }
  const step = bucketStep(range, Math.max(50, Math.min(2000, Math.round(widthPx))));
  const fns = state ? STATE_BUCKET : NUMBER_BUCKET;
  const buckets = await source.query({ ...common, fns, step, snap: !state }, signal);
  return answer(bucketCurve(buckets, info.name), buckets);
}
