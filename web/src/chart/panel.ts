// One chart: axes, zoom by drag, the cursor it shares with its neighbours, and the tooltip, on uPlot.
//
// uPlot gives axes, scales, selection and cursor; `draw.ts` draws the curves, each with times of its own.

import uPlot from "uplot";
import { msFromNanos, nanosFromMs, type TimeRange } from "../time/nanos.ts";
import { tickLabels, ticks } from "../time/ticks.ts";
import { stamp, type Zone } from "../time/zone.ts";
import { type Curve, extent, rowAt } from "./curve.ts";
import { type Drawn, drawBands, drawLanes, drawLines } from "./draw.ts";
import { axisTexts, valueText } from "./format.ts";
import { themed } from "./palette.ts";

/** What a chart tells its owner. */
export interface PanelEvents {
  /** A range was dragged out. */
  zoom(range: TimeRange): void;
  /** The range before is wanted. */
  back(): void;
  /** A drag has begun or ended. */
  busy(dragging: boolean): void;
}

/** One line of the chart. */
export interface PanelCurve extends Drawn {
  readonly label: string;
}

/** What a chart shows. */
export interface PanelPicture {
  readonly range: TimeRange;
  readonly zone: Zone;
  readonly curves: readonly PanelCurve[];
  /** Lanes of states instead of lines. */
  readonly lanes: boolean;
}

const FONT = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const AXIS_WIDTH_PX = 58;
const AXIS_HEIGHT_PX = 40;
const TICK_SPACE_PX = 84;
/** A drag shorter than this is a click. */
const DRAG_MIN_PX = 5;
/** Rows further from the cursor than this are not named in the tooltip. */
const REACH_PX = 24;
const TOOLTIP_ROWS_MAX = 12;

/** Width of the plotting area inside a chart that wide. */
export const plotWidth = (chartWidthPx: number): number => Math.max(1, chartWidthPx - AXIS_WIDTH_PX - 14);

/** A chart in `host`. */
export class Panel {
  readonly #plot: uPlot;
  readonly #events: PanelEvents;
  readonly #tooltip: HTMLElement;
  #picture: PanelPicture;

  constructor(
    host: HTMLElement,
    size: { width: number; height: number },
    picture: PanelPicture,
    events: PanelEvents,
  ) {
    this.#picture = picture;
    this.#events = events;
    this.#tooltip = document.createElement("div");
    this.#tooltip.className = "tooltip";
    this.#tooltip.hidden = true;
    this.#plot = new uPlot(this.#options(size), this.#data(), host);
    this.#plot.over.append(this.#tooltip);
  }

  /** Shows something else. */
  show(picture: PanelPicture): void {
    this.#picture = picture;
    this.#plot.setData(this.#data(), true);
    this.#moveTooltip();
  }

  resize(size: { width: number; height: number }): void {
    if (size.width !== this.#plot.width || size.height !== this.#plot.height) this.#plot.setSize(size);
  }

  /** Draws again, in the colours of a theme that changed. */
  redraw(): void {
    this.#plot.redraw(false, true);
  }

  destroy(): void {
    this.#plot.destroy();
  }

  /** uPlot's own data are only the two ends of the range: it places axes, `draw.ts` the curves. */
  #data(): uPlot.AlignedData {
    const { begin, end } = this.#picture.range;
    return [
      [msFromNanos(begin), msFromNanos(end)],
      [null, null],
    ];
  }

  #options(size: { width: number; height: number }): uPlot.Options {
    const line = (): string => themed("--grid");
    const axis: Partial<uPlot.Axis> = {
      stroke: () => themed("--dim"),
      font: FONT,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 4 },
    };
    return {
      ...size,
      ms: 1,
      padding: [8, 14, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: () => this.#xRange() },
        y: { range: () => this.#yRange() },
      },
      series: [{}, { show: true, points: { show: false }, paths: () => null }],
      axes: [
        {
          ...axis,
          size: AXIS_HEIGHT_PX,
          splits: (_u, _axis, low, high) => this.#ticks(low, high),
          values: (_u, splits) => tickLabels(this.#picture.zone, splits),
        },
        {
          ...axis,
          size: AXIS_WIDTH_PX,
          space: 34,
          values: (_u, splits) => (this.#picture.lanes ? splits.map(() => "") : axisTexts(splits)),
          ...(this.#picture.lanes ? { grid: { show: false }, ticks: { show: false } } : {}),
        },
      ],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: DRAG_MIN_PX },
        sync: { key: "siltstone", scales: ["x", null], setSeries: false },
        bind: {
          dblclick: () => () => {
            this.#events.back();
            return null;
          },
          mousedown: (_u, _target, handler) => (event) => {
            if (event.button === 0) this.#events.busy(true);
            handler(event);
            return null;
          },
          mouseup: (_u, _target, handler) => (event) => {
            handler(event);
            this.#events.busy(false);
            return null;
          },
        },
      },
      hooks: {
        drawAxes: [(u) => drawBands(u, this.#picture.curves)],
        draw: [(u) => this.#draw(u)],
        setSelect: [(u) => this.#select(u)],
        setCursor: [() => this.#moveTooltip()],
      },
    };
  }

  #draw(u: uPlot): void {
    if (this.#picture.lanes) drawLanes(u, this.#picture.curves);
    else drawLines(u, this.#picture.curves);
  }

  #xRange(): [number, number] {
    const { begin, end } = this.#picture.range;
    return [msFromNanos(begin), msFromNanos(end)];
  }

  #yRange(): [number, number] {
    if (this.#picture.lanes) return [0, 1];
    const found = extent(this.#picture.curves.map(({ curve }) => curve));
    if (found === null) return [0, 1];
    const { low, high } = found;
    const margin = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.05 || 1;
    return [low - margin, high + margin];
  }

  #ticks(low: number, high: number): number[] {
    const space = ((high - low) * TICK_SPACE_PX) / plotWidth(this.#plot?.width ?? 600);
    return ticks(this.#picture.zone, low, high, space);
  }

  #select(u: uPlot): void {
    const { left, width } = u.select;
    if (width < DRAG_MIN_PX) return;
    const begin = nanosFromMs(u.posToVal(left, "x"));
    const end = nanosFromMs(u.posToVal(left + width, "x"));
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (end > begin) this.#events.zoom({ begin, end });
  }

  /** The tooltip stands only in the chart under the pointer; the others show the shared cursor line. */
  #moveTooltip(): void {
    const u = this.#plot;
    if (u === undefined) return;
    const left = u.cursor.left ?? -1;
    const hovered = left >= 0 && u.over.matches(":hover");
    this.#tooltip.hidden = !hovered;
    if (!hovered) return;
    const ms = u.posToVal(left, "x");
    const reachMs = u.posToVal(left + REACH_PX, "x") - ms;
    const lines = this.#picture.curves.flatMap((curve) => {
      const row = rowAt(curve.curve, ms, reachMs);
      return row < 0 ? [] : [{ curve, row }];
    });
    this.#tooltip.replaceChildren(...this.#tooltipRows(ms, lines));
    const flip = left > u.over.clientWidth / 2;
    this.#tooltip.style.left = flip ? "" : `${left + 14}px`;
    this.#tooltip.style.right = flip ? `${u.over.clientWidth - left + 14}px` : "";
  }

  #tooltipRows(ms: number, lines: readonly { curve: PanelCurve; row: number }[]): HTMLElement[] {
    const { zone, range } = this.#picture;
    const pixelMs = msFromNanos(range.end - range.begin) / plotWidth(this.#plot.width);
    const head = document.createElement("div");
    head.className = "tooltip-time";
    head.textContent = stamp(zone, ms, pixelMs);
    const rows = lines.slice(0, TOOLTIP_ROWS_MAX).map(({ curve, row }) => tooltipRow(curve, row));
    if (lines.length > TOOLTIP_ROWS_MAX) {
      const more = document.createElement("div");
      more.className = "tooltip-more";
      more.textContent = `and ${lines.length - TOOLTIP_ROWS_MAX} more`;
      rows.push(more);
    }
    return [head, ...rows];
  }
}

function tooltipRow(drawn: PanelCurve, row: number): HTMLElement {
  const line = document.createElement("div");
  line.className = "tooltip-row";
  const dot = document.createElement("i");
  dot.style.background = drawn.colour;
  const name = document.createElement("span");
  name.textContent = drawn.label;
  const value = document.createElement("b");
  value.textContent = cursorText(drawn.curve, row);
  line.append(dot, name, value);
  return line;
}

function cursorText(curve: Curve, row: number): string {
  const text = curve.texts?.[row];
  if (text !== undefined && text !== null) return text;
  const value = curve.line[row] ?? Number.NaN;
  if (curve.band === null) return Number.isNaN(value) ? "–" : valueText(value);
  const { low, high, count } = curve.band;
  if (count[row] === 1) return valueText(value);
  return `${valueText(value, 5)}  (${valueText(low[row] ?? 0, 7)} … ${valueText(high[row] ?? 0, 7)})`;
}
