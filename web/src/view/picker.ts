// The list of series with its search. However many there are, only the visible rows are in the document.

import { countText } from "../chart/format.ts";
import type { SeriesInfo, SeriesPage } from "../source/source.ts";
import { el } from "./dom.ts";

/** What the list tells its owner. */
export interface PickerEvents {
  /** The search text has changed. */
  search(text: string): void;
  /** A series was switched on or off. */
  toggle(series: SeriesInfo): void;
}

const ROW_PX = 40;
const ROWS_BEYOND = 6;
const SEARCH_DELAY_MS = 120;

/** Tags for display: `room=kitchen  device=t1`. */
export function tagsText(tags: SeriesInfo["tags"]): string {
  return tags.map(([key, value]) => `${key}=${value}`).join("  ");
}

/** The side list. */
export class Picker {
  readonly element: HTMLElement;
  readonly #events: PickerEvents;
  readonly #search: HTMLInputElement;
  readonly #count = el("div", { className: "picker-count dim" });
  readonly #scroller = el("div", { className: "picker-rows", tabIndex: 0 });
  readonly #space = el("div", { className: "picker-space" });
  #page: SeriesPage = { series: [], total: 0 };
  #selected: ReadonlySet<string> = new Set();
  #active = 0;

  constructor(events: PickerEvents) {
    this.#events = events;
    this.#search = el("input", { type: "search", placeholder: "Search series  ( / )", spellcheck: false });
    this.#search.setAttribute("aria-label", "Search series");
    this.#scroller.setAttribute("role", "listbox");
    this.#scroller.setAttribute("aria-multiselectable", "true");
    this.#scroller.setAttribute("aria-label", "Series");
    this.#scroller.append(this.#space);
    this.element = el("aside", { className: "picker" }, this.#search, this.#count, this.#scroller);
    let timer = 0;
    this.#search.oninput = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => events.search(this.#search.value), SEARCH_DELAY_MS);
    };
    this.#search.onkeydown = (event) => this.#searchKey(event);
    this.#scroller.onscroll = () => this.#draw();
    this.#scroller.onkeydown = (event) => this.#listKey(event);
    new ResizeObserver(() => this.#draw()).observe(this.#scroller);
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  show(page: SeriesPage, selected: ReadonlySet<string>): void {
    if (page !== this.#page) this.#active = 0;
    this.#page = page;
    this.#selected = selected;
    const { series, total } = page;
    const shown = series.length < total ? `first ${countText(series.length)} of ` : "";
    this.#count.textContent = `${shown}${countText(total)} series${selected.size > 0 ? `, ${selected.size} shown` : ""}`;
    this.#space.style.height = `${series.length * ROW_PX}px`;
    this.#draw();
  }

  #searchKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.#search.value = "";
      this.#events.search("");
      this.#search.blur();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.#scroller.focus();
    } else if (event.key === "Enter") {
      const first = this.#page.series[0];
      if (first !== undefined) this.#events.toggle(first);
    }
  }

  #listKey(event: KeyboardEvent): void {
    const last = this.#page.series.length - 1;
    const pageRows = Math.max(1, Math.floor(this.#scroller.clientHeight / ROW_PX) - 1);
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: pageRows,
      PageUp: -pageRows,
    };
    const move = event.key === "Home" ? -last : event.key === "End" ? last : moves[event.key];
    if (move !== undefined) {
      if (this.#active === 0 && event.key === "ArrowUp") this.#search.focus();
      this.#active = Math.max(0, Math.min(last, this.#active + move));
      const top = this.#active * ROW_PX;
      const { scrollTop, clientHeight } = this.#scroller;
      if (top < scrollTop) this.#scroller.scrollTop = top;
      else if (top + ROW_PX > scrollTop + clientHeight)
        this.#scroller.scrollTop = top + ROW_PX - clientHeight;
      this.#draw();
    } else if (event.key === " " || event.key === "Enter") {
      const active = this.#page.series[this.#active];
      if (active !== undefined) this.#events.toggle(active);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.#scroller;
    const first = Math.max(0, Math.floor(scrollTop / ROW_PX) - ROWS_BEYOND);
    const last = Math.min(
      this.#page.series.length,
      Math.ceil((scrollTop + clientHeight) / ROW_PX) + ROWS_BEYOND,
    );
    const rows = this.#page.series.slice(first, last).map((series, i) => this.#row(series, first + i));
    this.#space.replaceChildren(...rows);
    this.#scroller.setAttribute("aria-activedescendant", `series-${this.#active}`);
  }

  #row(series: SeriesInfo, index: number): HTMLElement {
    const selected = this.#selected.has(series.name);
    const row = el(
      "div",
      {
        className: `picker-row${selected ? " selected" : ""}${index === this.#active ? " active" : ""}`,
        id: `series-${index}`,
        title: series.name,
        onclick: () => {
          this.#active = index;
          this.#events.toggle(series);
        },
      },
      el("i", { className: "check" }),
      el("span", { className: "picker-metric", textContent: series.metric || series.name }),
      el("span", {
        className: "picker-kind",
        textContent: series.unit ?? (series.kind === "float" ? "" : series.kind),
      }),
      el("span", { className: "picker-tags", textContent: tagsText(series.tags) || "no tags" }),
    );
    row.style.top = `${index * ROW_PX}px`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(selected));
    return row;
  }
}
