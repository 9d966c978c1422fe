// The charts: one a metric, each with its legend, all with one time axis and one cursor.
//
// A chart keeps its picture until the next one is complete.

import type { Answer } from "../chart/ask.ts";
import { stateColours } from "../chart/draw.ts";
import { colourAt } from "../chart/palette.ts";
import { Panel, type PanelCurve, type PanelEvents, plotWidth } from "../chart/panel.ts";
import type { SeriesInfo } from "../source/source.ts";
import type { TimeRange } from "../time/nanos.ts";
import type { Zone } from "../time/zone.ts";
import { el } from "./dom.ts";
import { legend, splitTags } from "./legend.ts";
import { tagsText } from "./picker.ts";

/** What the charts tell their owner. */
export interface BoardEvents extends PanelEvents {
  remove(series: SeriesInfo): void;
}

/** What all charts show. */
export interface BoardPicture {
  readonly answers: readonly Answer[];
  readonly range: TimeRange;
  readonly zone: Zone;
  /** What is said where there is no chart. */
  readonly hint: string;
}

interface Card {
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly plot: HTMLElement;
  readonly table: HTMLElement;
  panel: Panel | null;
}

const PLOT_HEIGHT_MIN_PX = 150;
const PLOT_HEIGHT_MAX_PX = 520;
const LANE_PX = 30;
const LANES_AXIS_PX = 52;
const LEGEND_ROW_PX = 25;
const BOARD_PADDING_PX = 16;
const CARD_FRAME_PX = 72;

/** The area of the charts. */
export class Board {
  readonly element = el("div", { className: "board" });
  readonly #events: BoardEvents;
  readonly #cards = new Map<string, Card>();
  #picture: BoardPicture | null = null;
  #isolated: string | null = null;
  #pointed: string | null = null;

  constructor(events: BoardEvents) {
    this.#events = events;
    new ResizeObserver(() => this.#layout()).observe(this.element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
  }

  /** How wide a chart's plotting area is. */
  plotWidthPx(): number {
    return plotWidth(this.#chartWidth());
  }

  show(picture: BoardPicture): void {
    this.#picture = picture;
    this.element.dataset.hint = picture.hint;
    if (!picture.answers.some(({ info }) => info.name === this.#isolated)) this.#isolated = null;
    this.#draw();
  }

  clear(): void {
    this.#picture = null;
    for (const card of this.#cards.values()) card.panel?.destroy();
    this.#cards.clear();
    this.element.replaceChildren();
  }

  #groups(): Map<string, Answer[]> {
    const groups = new Map<string, Answer[]>();
    for (const answer of this.#picture?.answers ?? []) {
      const { info } = answer;
      const key = `${info.kind === "state" ? "state" : "number"} ${info.metric} ${info.unit ?? ""}`;
      groups.set(key, [...(groups.get(key) ?? []), answer]);
    }
    return groups;
  }

  #draw(): void {
    const picture = this.#picture;
    if (picture === null) return;
    const groups = this.#groups();
    for (const [key, card] of this.#cards) {
      if (groups.has(key)) continue;
      card.panel?.destroy();
      card.element.remove();
      this.#cards.delete(key);
    }
    const heights = this.#heights(groups);
    for (const [key, answers] of groups) {
      let card = this.#cards.get(key);
      if (card === undefined) {
        card = newCard();
        this.#cards.set(key, card);
      }
      // Appending moves a card that is there already: the order is that of the selection.
      if (this.element.children[[...groups.keys()].indexOf(key)] !== card.element)
        this.element.append(card.element);
      this.#fill(card, answers, picture, heights.get(key) ?? PLOT_HEIGHT_MIN_PX);
    }
  }

  #fill(card: Card, answers: readonly Answer[], picture: BoardPicture, height: number): void {
    const infos = answers.map(({ info }) => info);
    const { shared, labels } = splitTags(infos);
    const [first] = infos;
    const states = first?.kind === "state";
    const curves = answers.map((answer, i) => this.#curve(answer, i, labels[i] ?? answer.info.name));
    const unit = first?.unit ?? null;
    card.heading.replaceChildren(
      el("h2", { textContent: first?.metric ?? "" }),
      el("span", { className: "unit", textContent: unit ?? "" }),
      el("span", { className: "dim", textContent: infos.length > 1 ? tagsText(shared) : "" }),
      el("span", { className: "spring" }),
      el("span", { className: "dim", textContent: grain(answers) }),
    );
    const size = { width: this.#chartWidth(), height };
    const shown = { range: picture.range, zone: picture.zone, curves, lanes: states };
    if (card.panel === null) card.panel = new Panel(card.plot, size, shown, this.#events);
    else {
      card.panel.resize(size);
      card.panel.show(shown);
    }
    const total = infos.map(({ name }) => name).join(", ");
    card.plot.setAttribute("role", "img");
    card.plot.setAttribute("aria-label", `Chart of ${total}; the table below has its figures.`);
    const key = states ? stateColours(answers.map(({ curve }) => curve)) : null;
    const rows = answers.map((answer, i) => ({
      answer,
      label: labels[i] ?? answer.info.name,
      colour: key?.get(String(answer.totals.last)) ?? colourAt(i),
      faded: this.#faded(answer.info.name),
    }));
    const made = legend(rows, states, {
      point: (name) => this.#point(name),
      isolate: (name) => {
        this.#isolated = this.#isolated === name ? null : name;
        this.#draw();
      },
      remove: (series) => this.#events.remove(series),
    });
    card.table.replaceChildren(made);
  }

  #curve(answer: Answer, index: number, label: string): PanelCurve {
    return {
      curve: answer.curve,
      colour: colourAt(index),
      stepped: answer.info.kind === "boolean",
      faded: this.#faded(answer.info.name),
      label,
    };
  }

  #faded(name: string): boolean {
    const only = this.#isolated ?? this.#pointed;
    return only !== null && only !== name;
  }

  /** Pointing at a row dims the other lines of its chart; the table stays, so that the pointer keeps its row. */
  #point(name: string | null): void {
    if (this.#pointed === name || this.#isolated !== null) return;
    this.#pointed = name;
    for (const [key, answers] of this.#groups()) {
      const panel = this.#cards.get(key)?.panel;
      const picture = this.#picture;
      if (panel === undefined || panel === null || picture === null) continue;
      const mine = name === null || answers.some(({ info }) => info.name === name);
      const { labels } = splitTags(answers.map(({ info }) => info));
      const curves = answers.map((answer, i) => {
        const curve = this.#curve(answer, i, labels[i] ?? answer.info.name);
        return mine ? curve : { ...curve, faded: false };
      });
      panel.show({
        range: picture.range,
        zone: picture.zone,
        curves,
        lanes: answers[0]?.info.kind === "state",
      });
    }
  }

  #chartWidth(): number {
    return Math.max(240, this.element.clientWidth - 18);
  }

  /** Charts share the height of the window; with many they keep a least height and the page scrolls. */
  #heights(groups: ReadonlyMap<string, readonly Answer[]>): Map<string, number> {
    const heights = new Map<string, number>();
    let taken = BOARD_PADDING_PX;
    let plots = 0;
    for (const [key, answers] of groups) {
      taken += CARD_FRAME_PX + Math.min(8, answers.length) * LEGEND_ROW_PX;
      if (key.startsWith("state")) {
        heights.set(key, answers.length * LANE_PX + LANES_AXIS_PX);
        taken += answers.length * LANE_PX + LANES_AXIS_PX;
      } else plots += 1;
    }
    const each = (this.element.clientHeight - taken) / Math.max(1, plots);
    const height = Math.round(Math.max(PLOT_HEIGHT_MIN_PX, Math.min(PLOT_HEIGHT_MAX_PX, each)));
    for (const key of groups.keys()) if (!heights.has(key)) heights.set(key, height);
    return heights;
  }

  #layout(): void {
    if (this.#picture === null) return;
    const heights = this.#heights(this.#groups());
    for (const [key, card] of this.#cards) {
      card.panel?.resize({ width: this.#chartWidth(), height: heights.get(key) ?? PLOT_HEIGHT_MIN_PX });
    }
  }
}

function newCard(): Card {
  const heading = el("div", { className: "card-heading" });
  const plot = el("div", { className: "plot" });
  const table = el("div", { className: "legend-box" });
  const element = el("section", { className: "card" }, heading, plot, table);
  return { element, heading, plot, table, panel: null };
}

/** How what is drawn relates to readings. */
function grain(answers: readonly Answer[]): string {
  const bucketed = answers.filter(({ curve }) => curve.band !== null);
  if (answers.every(({ totals }) => totals.count === 0)) return "nothing in this range";
  if (bucketed.length === 0) return "every reading";
  const points = Math.max(...bucketed.map(({ curve }) => curve.at.length));
  const states = answers.some(({ info }) => info.kind === "state");
  return states ? `last state of ${points} buckets` : `min, mean and max of ${points} buckets`;
}
