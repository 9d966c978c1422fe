// The table under a chart: exact figures of the visible range, a row a series.
//
// The figures come from the engine's summaries, not from what is drawn.

import type { Answer } from "../chart/ask.ts";
import { countText, figureText } from "../chart/format.ts";
import type { SeriesInfo } from "../source/source.ts";
import { button, el } from "./dom.ts";
import { tagsText } from "./picker.ts";

/** What the table tells its owner. */
export interface LegendEvents {
  /** A row is pointed at, or none any more. */
  point(name: string | null): void;
  /** Only this series is wanted, or all again. */
  isolate(name: string): void;
  /** A series is to be taken off the chart. */
  remove(series: SeriesInfo): void;
}

/** One row. */
export interface LegendRow {
  readonly answer: Answer;
  readonly label: string;
  readonly colour: string;
  readonly faded: boolean;
}

/** Tags that all series of a chart share go into its heading, the others name the rows. */
export function splitTags(series: readonly SeriesInfo[]): { shared: SeriesInfo["tags"]; labels: string[] } {
  const [first, ...rest] = series;
  if (first === undefined) return { shared: [], labels: [] };
  if (rest.length === 0) return { shared: [], labels: [tagsText(first.tags) || first.metric] };
  const has = (other: SeriesInfo, key: string, value: string): boolean =>
    other.tags.some(([k, v]) => k === key && v === value);
  const shared = first.tags.filter(([key, value]) => rest.every((other) => has(other, key, value)));
  const labels = series.map((one) => {
    const own = one.tags.filter(([key, value]) => !shared.some(([k, v]) => k === key && v === value));
    return own.length === 1 ? (own[0]?.[1] ?? "") : tagsText(own) || one.metric;
  });
  return { shared, labels };
}

/** The table of `rows`. */
export function legend(rows: readonly LegendRow[], states: boolean, events: LegendEvents): HTMLTableElement {
  const heads = states ? ["last", "changes", "readings"] : ["last", "min", "mean", "max", "readings"];
  const head = el(
    "tr",
    {},
    el("th", { textContent: "series", className: "legend-name" }),
    ...heads.map((text) => el("th", { textContent: text })),
    el("th", {}),
  );
  const body = el("tbody", {}, ...rows.map((row) => legendRow(row, states, events)));
  const table = el("table", { className: "legend" }, el("thead", {}, head), body);
  table.onpointerleave = () => events.point(null);
  return table;
}

function legendRow(row: LegendRow, states: boolean, events: LegendEvents): HTMLTableRowElement {
  const { info, totals } = row.answer;
  const dot = el("i", { className: "dot" });
  dot.style.background = row.colour;
  const name = el(
    "button",
    { type: "button", className: "legend-pick", title: `${info.name}\nclick: only this one, or all again` },
    dot,
    row.label,
  );
  name.onclick = () => events.isolate(info.name);
  const cell = (text: string): HTMLTableCellElement => el("td", { textContent: text, title: text });
  const cells = states
    ? [
        cell(figureText(totals.last, true)),
        cell(figureText(totals.changes, true)),
        cell(countText(totals.count)),
      ]
    : [
        cell(figureText(totals.last, true)),
        cell(figureText(totals.min, true)),
        cell(figureText(totals.mean, false)),
        cell(figureText(totals.max, true)),
        cell(countText(totals.count)),
      ];
  const line = el(
    "tr",
    { className: row.faded ? "faded" : "" },
    el("td", { className: "legend-name" }, name),
    ...cells,
    el(
      "td",
      { className: "legend-off" },
      button("×", `Take ${info.name} off`, () => events.remove(info), "quiet"),
    ),
  );
  line.onpointerenter = () => events.point(info.name);
  return line;
}
