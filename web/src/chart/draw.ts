// The renderer: draws curves on the canvas of a chart. What is drawn follows buckets, so pixels, not readings.
//
// Bands are filled at the buckets' true width, lines break at gaps, a stretch of one row becomes a dot,
// states become lanes of colour. Nothing is asked or computed here beyond positions.

import type uPlot from "uplot";
import type { Curve } from "./curve.ts";
import { colourAt } from "./palette.ts";

/** A curve with how it is drawn. */
export interface Drawn {
  readonly curve: Curve;
  readonly colour: string;
  /** Hold each value until the next: booleans. */
  readonly stepped: boolean;
  readonly faded: boolean;
}

/** Rows further apart than this get a dot each, CSS pixels. */
const DOT_DISTANCE_PX = 14;
const DOT_RADIUS_PX = 2;
const LANE_GAP_PX = 3;

type Place = (value: number) => number;

const places = (u: uPlot): { x: Place; y: Place } => ({
  x: (ms) => u.valToPos(ms, "x", true),
  y: (value) => u.valToPos(value, "y", true),
});

function clipped(u: uPlot, draw: (context: CanvasRenderingContext2D) => void): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

function eachStretch(curve: Curve, draw: (from: number, to: number) => void): void {
  for (const [i, from] of curve.stretches.entries()) {
    draw(from, curve.stretches[i + 1] ?? curve.at.length);
  }
}

/** The min/max bands, to be drawn below every line. */
export function drawBands(u: uPlot, drawn: readonly Drawn[]): void {
  const { x, y } = places(u);
  clipped(u, (context) => {
    for (const { curve, colour, faded } of drawn) {
      const { band } = curve;
      if (band === null) continue;
      const { begin, end, low, high } = band;
      context.beginPath();
      eachStretch(curve, (from, to) => {
        for (let i = from; i < to; i++) {
          const top = y(high[i] ?? 0);
          context[i === from ? "moveTo" : "lineTo"](x(begin[i] ?? 0), top);
          context.lineTo(x(end[i] ?? 0), top);
        }
        for (let i = to - 1; i >= from; i--) {
          const bottom = y(low[i] ?? 0);
          context.lineTo(x(end[i] ?? 0), bottom);
          context.lineTo(x(begin[i] ?? 0), bottom);
        }
        context.closePath();
      });
      context.globalAlpha = faded ? 0.05 : 0.24;
      context.fillStyle = colour;
      context.fill();
      // A thin edge keeps a spike of one bucket visible.
      context.globalAlpha = faded ? 0.04 : 0.3;
      context.lineWidth = devicePixelRatio * 0.75;
      context.strokeStyle = colour;
      context.stroke();
    }
  });
}

/** The lines through readings or means, and the dots. */
export function drawLines(u: uPlot, drawn: readonly Drawn[]): void {
  const { x, y } = places(u);
  clipped(u, (context) => {
    context.lineJoin = "round";
    context.lineCap = "round";
    for (const { curve, colour, stepped, faded } of drawn) {
      const { at, line } = curve;
      const sparse = at.length > 0 && u.bbox.width / at.length > DOT_DISTANCE_PX * devicePixelRatio;
      const path = new Path2D();
      const dots = new Path2D();
      eachStretch(curve, (from, to) => {
        let before = 0;
        for (let i = from; i < to; i++) {
          const value = line[i] ?? Number.NaN;
          if (Number.isNaN(value)) continue;
          const px = x(at[i] ?? 0);
          const py = y(value);
          if (i === from) path.moveTo(px, py);
          else {
            if (stepped) path.lineTo(px, before);
            path.lineTo(px, py);
          }
          before = py;
          if (sparse || to - from === 1) {
            dots.moveTo(px, py);
            dots.arc(px, py, DOT_RADIUS_PX * devicePixelRatio, 0, 2 * Math.PI);
          }
        }
      });
      context.globalAlpha = faded ? 0.18 : 1;
      context.lineWidth = 1.4 * devicePixelRatio;
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.stroke(path);
      context.fill(dots);
    }
  });
}

/** A colour for a state, the same wherever the word appears in one chart. */
export function stateColours(curves: readonly Curve[]): Map<string, string> {
  const colours = new Map<string, string>();
  for (const curve of curves) {
    for (const text of curve.texts ?? []) {
      if (text !== null && !colours.has(text)) colours.set(text, colourAt(colours.size));
    }
  }
  return colours;
}

/** One lane a series, a coloured bar as long as its state lasts. */
export function drawLanes(u: uPlot, drawn: readonly Drawn[]): void {
  const { x } = places(u);
  const colours = stateColours(drawn.map(({ curve }) => curve));
  const height = u.bbox.height / Math.max(1, drawn.length);
  const gap = LANE_GAP_PX * devicePixelRatio;
  clipped(u, (context) => {
    context.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const [lane, { curve, faded }] of drawn.entries()) {
      const top = u.bbox.top + lane * height + gap;
      eachRun(curve, (text, beginMs, endMs) => {
        const left = x(beginMs);
        const width = Math.max(devicePixelRatio, x(endMs) - left);
        context.globalAlpha = faded ? 0.2 : 0.75;
        context.fillStyle = colours.get(text) ?? "grey";
        context.fillRect(left, top, width, height - 2 * gap);
        const visible = Math.max(left, u.bbox.left);
        const room = Math.min(left + width, u.bbox.left + u.bbox.width) - visible - 2 * gap;
        if (context.measureText(text).width > room) return;
        context.globalAlpha = faded ? 0.3 : 1;
        context.fillStyle = "#fff";
        context.fillText(text, visible + gap, top + height / 2 - gap);
      });
    }
  });
}

/** Every run of one state: from its first row to the next state, the next gap, or the last row. */
function eachRun(curve: Curve, take: (text: string, beginMs: number, endMs: number) => void): void {
  const { at, texts, band } = curve;
  if (texts === null) return;
  const begin = (row: number): number => band?.begin[row] ?? at[row] ?? 0;
  let from = 0;
  for (let row = 1; row <= at.length; row++) {
    if (row < at.length && texts[row] === texts[from]) continue;
    const text = texts[from] ?? null;
    const last = band?.end[row - 1] ?? at[row - 1] ?? 0;
    if (text !== null) take(text, begin(from), row < at.length ? begin(row) : last);
    from = row;
  }
}
