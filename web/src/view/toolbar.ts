// The bar on top: what is open, the range and its buttons, the zone, and the pause of a live view.

import { msFromNanos, nanosFromMs, type TimeRange } from "../time/nanos.ts";
import { PRESETS, type RangeChoice } from "../time/range.ts";
import { rangeOffsetLabel, stamp, wallAt, type Zone } from "../time/zone.ts";
import { button, el } from "./dom.ts";
import markUrl from "./mark.svg?inline";
import { addressForm, fileChooser } from "./start.ts";

/** What the bar tells its owner. */
export interface ToolbarEvents {
  range(choice: RangeChoice): void;
  back(): void;
  scale(factor: number): void;
  move(fraction: number): void;
  zone(zone: Zone): void;
  pause(paused: boolean): void;
  files(files: readonly File[]): void;
  urls(urls: readonly string[]): void;
  help(): void;
}

/** What the bar shows. */
export interface ToolbarState {
  readonly label: string;
  readonly live: boolean;
  readonly paused: boolean;
  readonly choice: RangeChoice;
  readonly range: TimeRange;
  readonly zone: Zone;
}

/** The bar. */
export class Toolbar {
  readonly element: HTMLElement;
  readonly #events: ToolbarEvents;
  readonly #label = el("button", {
    type: "button",
    className: "source",
    title: "Open something else, or more",
  });
  readonly #presets = new Map<string, HTMLButtonElement>();
  readonly #range = el("button", { type: "button", className: "range-text", title: "Type a range" });
  readonly #zone = el("button", { type: "button", className: "quiet", title: "Local time or UTC ( u )" });
  readonly #live = el("button", { type: "button", className: "live" });
  #state: ToolbarState | null = null;

  constructor(events: ToolbarEvents) {
    this.#events = events;
    const group = el("div", { className: "presets" });
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Range");
    for (const { label, spanSeconds } of PRESETS) {
      const choose = button(label, `The last ${label}`, () => events.range({ kind: "last", spanSeconds }));
      this.#presets.set(`last-${spanSeconds}`, choose);
      group.append(choose);
    }
    const all = button("all", "Everything there is", () => events.range({ kind: "all" }));
    this.#presets.set("all", all);
    group.append(all);
    this.#label.onclick = () => this.#openDialog();
    this.#range.onclick = () => this.#rangeDialog();
    this.#zone.onclick = () => events.zone(this.#state?.zone === "utc" ? "local" : "utc");
    this.#live.onclick = () => events.pause(!(this.#state?.paused ?? false));
    this.element = el(
      "header",
      { className: "toolbar" },
      el("img", { src: markUrl, alt: "Siltstone", width: 22, height: 22 }),
      this.#label,
      el("span", { className: "spring" }),
      this.#live,
      group,
      el(
        "div",
        { className: "steps" },
        button("‹", "Earlier ( ← )", () => events.move(-0.5)),
        this.#range,
        button("›", "Later ( → )", () => events.move(0.5)),
      ),
      el(
        "div",
        { className: "steps" },
        button("−", "Zoom out ( - )", () => events.scale(2)),
        button("+", "Zoom in ( + )", () => events.scale(0.5)),
        button("↶", "Range before ( Backspace, double click )", () => events.back()),
      ),
      this.#zone,
      button("?", "Keys ( ? )", () => events.help(), "quiet"),
    );
  }

  show(state: ToolbarState): void {
    this.#state = state;
    const { choice, range, zone } = state;
    this.#label.textContent = `${state.label} ▾`;
    const key = choice.kind === "last" ? `last-${choice.spanSeconds}` : choice.kind;
    for (const [name, element] of this.#presets) element.setAttribute("aria-pressed", String(name === key));
    const begin = msFromNanos(range.begin);
    const end = msFromNanos(range.end);
    const fine = end - begin < 600_000 ? 1000 : 60_000;
    this.#range.textContent = rangeText(zone, begin, end, fine);
    this.#zone.textContent = rangeOffsetLabel(zone, begin, end);
    this.#live.hidden = !state.live;
    const following = !state.paused && choice.kind !== "fixed";
    this.#live.textContent = state.paused ? "paused" : "live";
    this.#live.classList.toggle("on", following);
    this.#live.title = state.paused ? "Follow new readings" : "Stop following new readings";
  }

  #openDialog(): void {
    const dialog = el("dialog", { className: "dialog" });
    const done = <T>(then: (value: T) => void) => {
      return (value: T): void => {
        dialog.close();
        then(value);
      };
    };
    dialog.append(
      el("h2", { textContent: "Open" }),
      el("p", {
        className: "dim",
        textContent: "Added to the files that are open; all together are one set of series.",
      }),
      fileChooser("Choose files…", "primary", done(this.#events.files)),
      el("div", { className: "or", textContent: "or an address" }),
      addressForm(done(this.#events.urls)),
    );
    showDialog(dialog);
  }

  #rangeDialog(): void {
    const state = this.#state;
    if (state === null) return;
    const { zone, range } = state;
    const field = (label: string, ms: number): HTMLInputElement => {
      const input = el("input", { type: "datetime-local", step: "1", value: fieldText(zone, ms) });
      input.setAttribute("aria-label", label);
      return input;
    };
    const from = field("From", msFromNanos(range.begin));
    const to = field("To", msFromNanos(range.end));
    const form = el(
      "form",
      { className: "dialog-form" },
      el("label", {}, "From", from),
      el("label", {}, "To (not included)", to),
      el("button", { type: "submit", className: "primary", textContent: "Show" }),
    );
    const dialog = el(
      "dialog",
      { className: "dialog" },
      el("h2", { textContent: `Range, ${zone === "utc" ? "UTC" : "local time"}` }),
      form,
    );
    form.onsubmit = (event) => {
      event.preventDefault();
      const begin = fieldInstant(zone, from.value);
      const end = fieldInstant(zone, to.value);
      to.setCustomValidity(
        begin !== null && end !== null && begin < end ? "" : "The end must be later than the begin.",
      );
      if (begin === null || end === null || !to.reportValidity()) return;
      dialog.close();
      this.#events.range({ kind: "fixed", begin: nanosFromMs(begin), end: nanosFromMs(end) });
    };
    to.oninput = () => to.setCustomValidity("");
    showDialog(dialog);
  }
}

/** Opens a dialog that goes away with Escape or a click beside it. */
export function showDialog(dialog: HTMLDialogElement): void {
  dialog.onclose = () => dialog.remove();
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  document.body.append(dialog);
  dialog.showModal();
}

/** Both ends, the second without a day that is the same. */
function rangeText(zone: Zone, beginMs: number, endMs: number, fineMs: number): string {
  const first = stamp(zone, beginMs, fineMs);
  const last = stamp(zone, endMs, fineMs);
  return first.slice(0, 10) === last.slice(0, 10) ? `${first} – ${last.slice(11)}` : `${first} – ${last}`;
}

const fieldText = (zone: Zone, ms: number): string => stamp(zone, ms, 1000).replace(" ", "T");

function fieldInstant(zone: Zone, text: string): number | null {
  const ms = Date.parse(zone === "utc" ? `${text}Z` : text);
  if (Number.isNaN(ms)) return null;
  return Number.isFinite(wallAt(zone, ms).year) ? ms : null;
}
