// The page's conductor: holds what is looked at, asks the source for it, and tells the parts what to show.
//
// One refresh runs at a time; a newer wish cancels it. Until an answer is complete the old picture stays.

import { type Answer, ask } from "../chart/ask.ts";
import { asSourceError, isCancelled } from "../source/errors.ts";
import { nameParts } from "../source/names.ts";
import { NO_COST, type SeriesInfo, type SeriesPage, type Source } from "../source/source.ts";
import { firstView } from "../state/first.ts";
import { formatHash, parseHash, type SourceChoice, type ViewState } from "../state/hash.ts";
import type { TimeRange } from "../time/nanos.ts";
import { moved, type RangeChoice, resolve, SPAN_MIN, scaled } from "../time/range.ts";
import { Board } from "./board.ts";
import { el } from "./dom.ts";
import { droppedFiles } from "./dropped.ts";
import { Footer, summed } from "./footer.ts";
import { bindKeys, showKeys } from "./keys.ts";
import { Messages } from "./messages.ts";
import { Opener } from "./opener.ts";
import { Picker } from "./picker.ts";
import { startScreen } from "./start.ts";
import { Toolbar } from "./toolbar.ts";

/** Series in the list at most; a search narrows it. */
const LIST_COUNT_MAX = 2000;
/** Series shown at once at most. */
const SHOWN_COUNT_MAX = 60;
/** Questions under way at once. */
const ASKED_AT_ONCE = 6;
/** A live view asks again when this part of its width has passed, but within these bounds. */
const LIVE_FRACTION = 1 / 500;
const LIVE_MS_MIN = 2000;
const LIVE_MS_MAX = 60_000;
/** A quick answer needs no bar, and one that nobody waits for even less. */
const BUSY_AFTER_MS = 150;
const LIVE_BUSY_AFTER_MS = 2000;

/** The page. */
export class App {
  readonly #root: HTMLElement;
  readonly #messages = new Messages();
  readonly #footer = new Footer();
  readonly #picker: Picker;
  readonly #board: Board;
  readonly #toolbar: Toolbar;
  readonly #opener: Opener;
  readonly #busy = el("div", { className: "busy", hidden: true });
  #view: ViewState;
  #source: Source | null = null;
  #shown: SeriesInfo[] = [];
  #page: SeriesPage = { series: [], total: 0 };
  /** How many series there were when the list was made. */
  #listedOf = 0;
  /** The first choice was made from little, and nobody has changed it since. */
  #early = false;
  /** The range was part of a first choice: another source gets one of its own. */
  #rangeIsFirst = false;
  /** The range that follows the newest reading, to come back to. */
  #followed: RangeChoice = { kind: "last", spanSeconds: 3600 };
  #search = "";
  #range: TimeRange = { begin: 0n, end: 1n };
  #refreshing: AbortController | null = null;
  #searching: AbortController | null = null;
  #paused = false;
  #dragging = false;
  #liveTimer = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#view = parseHash(location.hash);
    this.#opener = new Opener(this.#messages, {
      progress: (text) => this.#footer.progress(text),
      cost: (cost) => this.#footer.add(cost),
      download: (url) => void this.#open({ kind: "urls", urls: [url] }, [], true),
    });
    this.#picker = new Picker({
      search: (text) => void this.#list(text),
      toggle: (series) => this.#toggle(series),
    });
    this.#board = new Board({
      zoom: (range) => this.#choose({ kind: "fixed", ...range }),
      back: () => this.#back(),
      busy: (dragging) => {
        this.#dragging = dragging;
      },
      remove: (series) => this.#toggle(series),
    });
    const files = (chosen: readonly File[]): void => void this.#open({ kind: "files" }, chosen);
    const urls = (chosen: readonly string[]): void => void this.#open({ kind: "urls", urls: chosen }, []);
    const steps = {
      back: () => this.#back(),
      scale: (factor: number) => this.#scale(factor),
      move: (fraction: number) => this.#choose({ kind: "fixed", ...moved(this.#range, fraction) }),
      zone: () => this.#setZone(),
      help: () => showKeys(),
    };
    this.#toolbar = new Toolbar({
      ...steps,
      range: (choice) => this.#choose(choice),
      pause: (paused) => {
        this.#paused = paused;
        if (!paused && this.#view.range?.kind === "fixed") this.#choose(this.#followed);
        else void this.#refresh();
      },
      files,
      urls,
    });
    bindKeys({ ...steps, search: () => this.#picker.focusSearch() });
    this.#bindDrop(files);
    addEventListener("popstate", () => this.#restore());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#schedule(0);
    });
    this.#root.append(this.#start({ files, urls }));
  }

  /** Opens what the address names, else the agent that serves this page, else the first screen. */
  async run(): Promise<void> {
    const { source } = this.#view;
    if (source?.kind === "urls") {
      await this.#open(source, []);
      return;
    }
    if (source?.kind === "files") {
      this.#opener.prepare();
      this.#messages.say({
        kind: "note",
        topic: "files",
        text: "Files of this computer have to be chosen again after the page was reloaded.",
      });
      return;
    }
    const agent = await this.#opener.agent(new AbortController().signal);
    if (agent !== null) await this.#use(agent, { kind: "agent" });
    else this.#opener.prepare();
  }

  #start(events: { files(files: readonly File[]): void; urls(urls: readonly string[]): void }): HTMLElement {
    return startScreen(events, this.#messages.element);
  }

  async #open(choice: SourceChoice, files: readonly File[], whole = false): Promise<void> {
    this.#busy.hidden = false;
    const result = await this.#opener.open(
      choice,
      files,
      this.#view.source,
      new AbortController().signal,
      whole,
    );
    this.#busy.hidden = true;
    if (result !== null) await this.#use(result.source, result.choice);
  }

  async #use(source: Source, choice: SourceChoice): Promise<void> {
    const fresh = source !== this.#source;
    // The engine's sum began with its first file.
    if (fresh && source.info.live) this.#footer.reset();
    this.#source = source;
    for (const [i, text] of source.info.warnings.entries()) {
      this.#messages.say({ kind: "warning", topic: `warning ${i}`, text });
    }
    const range = fresh && this.#rangeIsFirst ? null : this.#view.range;
    if (fresh) this.#early = false;
    this.#view = { ...this.#view, source: choice, range };
    if (this.#board.element.parentElement === null) this.#layOut();
    await this.#list(this.#search);
    await this.#select();
    this.#remember(false);
    await this.#refresh();
  }

  #layOut(): void {
    const main = el("main", { className: "charts" }, this.#messages.element, this.#board.element);
    const body = el("div", { className: "body" }, this.#picker.element, main);
    this.#root.replaceChildren(this.#toolbar.element, this.#busy, body, this.#footer.element);
  }

  async #list(search: string): Promise<void> {
    const source = this.#source;
    if (source === null) return;
    this.#search = search;
    this.#searching?.abort();
    this.#searching = new AbortController();
    try {
      this.#listedOf = source.info.seriesCount;
      this.#page = await source.series(search, LIST_COUNT_MAX, this.#searching.signal);
      this.#messages.clear("search");
    } catch (thrown) {
      if (isCancelled(thrown)) return;
      this.#messages.say({ kind: "error", topic: "search", text: asSourceError(thrown).message });
    }
    this.#showPicker();
  }

  #showPicker(): void {
    this.#picker.show(this.#page, new Set(this.#shown.map(({ name }) => name)));
  }

  /** What the address names, and a first choice of what it doesn't. */
  async #select(): Promise<void> {
    const source = this.#source;
    if (source === null) return;
    const known = new Map(this.#page.series.map((series) => [series.name, series]));
    const named = this.#view.series?.slice(0, SHOWN_COUNT_MAX) ?? null;
    const shown =
      named && (await Promise.all(named.map(async (name) => known.get(name) ?? (await this.#find(name)))));
    const again = this.#early;
    if (shown === null || this.#view.range === null || again) {
      const pool = shown === null ? this.#page : { series: shown, total: shown.length };
      const first = await firstView(source, pool, new AbortController().signal, again ? this.#shown : []);
      // Somebody has chosen meanwhile.
      if (again && !this.#early) return;
      const range = again ? first.range : (this.#view.range ?? first.range);
      this.#early = first.early && shown === null && (again || this.#view.range === null);
      this.#rangeIsFirst ||= this.#view.range === null;
      this.#view = { ...this.#view, range };
      if (range.kind !== "fixed") this.#followed = range;
      for (const cost of first.costs) this.#footer.add(cost);
      this.#shown = shown ?? [...first.series];
    } else this.#shown = shown;
    this.#showPicker();
  }

  async #find(name: string): Promise<SeriesInfo> {
    const page = await this.#source?.series(name, 50, new AbortController().signal).catch(() => null);
    const found = page?.series.find((series) => series.name === name);
    return found ?? { name, ...nameParts(name), kind: "float", unit: null };
  }

  #toggle(series: SeriesInfo): void {
    const without = this.#shown.filter(({ name }) => name !== series.name);
    if (without.length === this.#shown.length) {
      if (without.length >= SHOWN_COUNT_MAX) {
        const text = `At most ${SHOWN_COUNT_MAX} series are shown at once; take one off first.`;
        this.#messages.say({ kind: "note", topic: "limit", text });
        return;
      }
      without.push(series);
    }
    this.#shown = without;
    this.#early = false;
    this.#view = { ...this.#view, series: without.map(({ name }) => name) };
    this.#showPicker();
    this.#remember(false);
    void this.#refresh();
  }

  #choose(choice: RangeChoice): void {
    if (choice.kind === "fixed" && choice.end - choice.begin < SPAN_MIN) return;
    if (choice.kind !== "fixed") this.#followed = choice;
    this.#early = false;
    this.#rangeIsFirst = false;
    this.#view = { ...this.#view, range: choice };
    this.#remember(true);
    void this.#refresh();
  }

  #scale(factor: number): void {
    const { range } = this.#view;
    // A range that follows the newest reading keeps following it.
    if (range?.kind === "last") {
      this.#choose({ kind: "last", spanSeconds: Math.max(1, Math.round(range.spanSeconds * factor)) });
    } else this.#choose({ kind: "fixed", ...scaled(this.#range, factor) });
  }

  #setZone(): void {
    this.#view = { ...this.#view, zone: this.#view.zone === "utc" ? "local" : "utc" };
    this.#remember(false);
    void this.#refresh();
  }

  /** The address follows the view; a change of range can be undone with the browser's own back. */
  #remember(undoable: boolean): void {
    // A reload is to choose again.
    if (this.#early) return;
    const hash = formatHash({ ...this.#view, series: this.#shown.map(({ name }) => name) });
    if (hash === location.hash) return;
    const depth = Number((history.state as { depth?: number } | null)?.depth ?? 0);
    if (undoable) history.pushState({ depth: depth + 1 }, "", hash);
    else history.replaceState({ depth }, "", hash);
  }

  #back(): void {
    const depth = Number((history.state as { depth?: number } | null)?.depth ?? 0);
    if (depth > 0) history.back();
    else this.#choose({ kind: "all" });
  }

  async #restore(): Promise<void> {
    const before = this.#view;
    const after = parseHash(location.hash);
    const moved = JSON.stringify(after.source) !== JSON.stringify(before.source);
    if (this.#source === null || (moved && after.source?.kind === "urls")) {
      this.#view = after;
      this.#opener.reset();
      await this.run();
      return;
    }
    this.#early = false;
    this.#rangeIsFirst = false;
    this.#view = { ...after, source: before.source };
    await this.#select();
    await this.#refresh();
  }

  async #refresh(byItself = false): Promise<void> {
    const source = this.#source;
    if (source === null) return;
    clearTimeout(this.#liveTimer);
    this.#refreshing?.abort();
    const controller = new AbortController();
    this.#refreshing = controller;
    const started = performance.now();
    const slow = setTimeout(
      () => {
        this.#busy.hidden = false;
      },
      byItself ? LIVE_BUSY_AFTER_MS : BUSY_AFTER_MS,
    );
    try {
      const choice = this.#view.range ?? { kind: "all" };
      const newest = await source.newest(controller.signal);
      this.#range = resolve(choice, source.info.range, newest);
      this.#showToolbar();
      const answers = await this.#askAll(source, controller.signal);
      this.#board.show({ answers, range: this.#range, zone: this.#view.zone, hint: hintOf(source) });
      this.#footer.show(
        summed([NO_COST, ...answers.flatMap(({ costs }) => costs)]),
        performance.now() - started,
      );
      this.#messages.clear("query");
      this.#sayWarnings(answers);
    } catch (thrown) {
      if (isCancelled(thrown)) return;
      this.#messages.say({ kind: "error", topic: "query", text: asSourceError(thrown).message });
    } finally {
      clearTimeout(slow);
      if (this.#refreshing === controller) {
        this.#refreshing = null;
        this.#busy.hidden = true;
        this.#schedule(this.#livePeriodMs());
      }
    }
  }

  #sayWarnings(answers: readonly Answer[]): void {
    const texts = [...new Set(answers.flatMap(({ warnings }) => warnings))];
    const [text] = texts;
    if (text === undefined) return;
    const more = texts.length > 1 ? ` (and ${texts.length - 1} more)` : "";
    this.#messages.say({ kind: "warning", topic: "damage", text: text + more });
  }

  async #askAll(source: Source, signal: AbortSignal): Promise<Answer[]> {
    const answers: Answer[] = [];
    const queue = [...this.#shown.entries()];
    const width = this.#board.plotWidthPx();
    const lane = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [place, info] = next;
        answers[place] = await ask(source, info, this.#range, width, signal);
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, lane));
    return answers;
  }

  #showToolbar(): void {
    const source = this.#source;
    if (source === null) return;
    const { label, live } = source.info;
    const choice = this.#view.range ?? { kind: "all" };
    const { zone } = this.#view;
    this.#toolbar.show({ label, live, paused: this.#paused, choice, range: this.#range, zone });
    document.title = `${label} – Siltstone`;
  }

  #livePeriodMs(): number {
    const spanMs = Number(this.#range.end - this.#range.begin) / 1e6;
    return Math.max(LIVE_MS_MIN, Math.min(LIVE_MS_MAX, spanMs * LIVE_FRACTION));
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#liveTimer);
    const follows = this.#source?.info.live === true && this.#view.range?.kind !== "fixed" && !this.#paused;
    if (!follows || document.hidden) return;
    this.#liveTimer = window.setTimeout(() => {
      if (this.#dragging || this.#refreshing !== null) this.#schedule(LIVE_MS_MIN);
      else void this.#follow();
    }, delayMs);
  }

  /** New series join the list; a first choice that was made from little is made again. */
  async #follow(): Promise<void> {
    if (this.#source !== null && this.#source.info.seriesCount !== this.#listedOf)
      await this.#list(this.#search);
    if (this.#early) {
      await this.#select();
      this.#remember(false);
    }
    await this.#refresh(true);
  }

  #bindDrop(take: (files: readonly File[]) => void): void {
    let depth = 0;
    const mark = (change: number): void => {
      depth = Math.max(0, depth + change);
      document.body.classList.toggle("dropping", depth > 0);
    };
    addEventListener("dragenter", () => mark(1));
    addEventListener("dragleave", () => mark(-1));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", async (event) => {
      event.preventDefault();
      mark(-depth);
      if (event.dataTransfer !== null) take(await droppedFiles(event.dataTransfer));
    });
  }
}

/** What a page without charts says. */
function hintOf({ info }: Source): string {
  if (info.seriesCount > 0) return "Choose series from the list.";
  return info.live
    ? "Nothing has come in yet. The first readings show up here by themselves."
    : "There are no series in these files.";
}
