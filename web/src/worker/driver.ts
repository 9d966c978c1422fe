// What the worker does for each request: opens devices and runs the engine over their blocks.

import { BlockCache } from "../blocks/cache.ts";
import type { BlockDevice } from "../blocks/device.ts";
import { FileDevice } from "../blocks/file.ts";
import { BlockReader, noReads, type ReadCost } from "../blocks/reader.ts";
import { download, UrlDevice } from "../blocks/url.ts";
import { engineError, SourceError } from "../source/errors.ts";
import type { Question, SeriesInfo, SeriesPage, SourceInfo, Table } from "../source/source.ts";
import { hull, type TimeRange } from "../time/nanos.ts";
import type { Handlers } from "./dispatcher.ts";
import { costOf, LoadedEngine } from "./engine.ts";
import { drive } from "./machine.ts";
import type { Opened, OpenItem, OpenResult, Progress } from "./protocol.ts";

/** 64 MiB of blocks. */
const CACHE_BLOCKS = 16_384;
/** Files and addresses opened at once. */
const OPENED_AT_ONCE = 4;

type Tell = (progress: Progress) => void;

/** The operations. The module loads at once, so that files open when the network has gone. */
export function handlers(): Handlers {
  const driver = new Driver(LoadedEngine.load());
  return {
    open: ({ items }, signal, progress) => driver.open(items, signal, progress),
    series: ({ search, limit }) => driver.series(search, limit),
    query: ({ question }, signal) => driver.query(question, signal),
  };
}

class Driver {
  readonly #loading: Promise<LoadedEngine>;
  readonly #reader = new BlockReader(new BlockCache(CACHE_BLOCKS));
  /** The open segments: device numbers and what each is called. */
  readonly #open = new Map<number, string>();
  #series: { readonly info: SeriesInfo; readonly text: string }[] = [];

  constructor(loading: Promise<LoadedEngine>) {
    this.#loading = loading;
    // Whoever needs the engine is told; until then nobody has to be.
    loading.catch(() => undefined);
  }

  async open(items: readonly OpenItem[], signal: AbortSignal, tell: Tell): Promise<OpenResult> {
    const engine = await this.#engine();
    const cost = noReads();
    const opened: Opened[] = [];
    const queue = [...items.entries()];
    const lane = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [place, item] = next;
        opened[place] = await this.#openItem(engine, item, signal, cost, tell);
      }
    };
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, lane));
    const list = await this.#drive(engine.list("{}"), signal, cost);
    this.#series = list.map((info) => ({ info, text: info.name.toLowerCase() }));
    return { info: this.#info(engine), items: opened, cost: costOf(cost, this.#reader.total()) };
  }

  /** Series whose name contains every word. */
  async series(search: string, limit: number): Promise<SeriesPage> {
    const words = search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const found = this.#series.filter(({ text }) => words.every((word) => text.includes(word)));
    return { series: found.slice(0, limit).map(({ info }) => info), total: found.length };
  }

  async query(question: Question, signal: AbortSignal): Promise<Table> {
    const engine = await this.#engine();
    const cost = noReads();
    const ask = (): Promise<Omit<Table, "cost">> => {
      const named = (device: number, damage: string): string =>
        `${this.#name(device)} is damaged in ${damage}; what it holds is missing here.`;
      return this.#drive(engine.ask(question, named), signal, cost);
    };
    const answer = await ask().catch(async (thrown: unknown) => {
      // A file that was replaced on its server is opened again, once.
      const replaced = thrown instanceof SourceError && thrown.reason === "changed";
      if (!replaced) throw thrown;
      const warnings = await this.#reopen(engine, signal, cost);
      const again = await ask();
      return { ...again, warnings: [...warnings, ...again.warnings] };
    });
    return { ...answer, cost: costOf(cost, this.#reader.total()) };
  }

  async #engine(): Promise<LoadedEngine> {
    try {
      return await this.#loading;
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      throw new SourceError("internal", `The engine could not be loaded: ${why}`);
    }
  }

  async #openItem(
    engine: LoadedEngine,
    item: OpenItem,
    signal: AbortSignal,
    cost: ReadCost,
    tell: Tell,
  ): Promise<Opened> {
    let name = item.kind === "file" ? item.file.name : item.url;
    try {
      const device = await deviceOf(item, signal);
      name = device.name;
      const number = this.#reader.add(device);
      try {
        await this.#openDevice(engine, number, device, signal, cost, tell);
      } catch (thrown) {
        this.#reader.remove(number);
        throw engineError(thrown, () => name);
      }
      return { name, error: null };
    } catch (thrown) {
      const error = engineError(thrown, () => name);
      return { name, error: error.reason === "already-open" ? null : error.plain() };
    }
  }

  async #openDevice(
    engine: LoadedEngine,
    number: number,
    device: BlockDevice,
    signal: AbortSignal,
    cost: ReadCost,
    tell: Tell,
  ): Promise<void> {
    if (device instanceof UrlDevice) this.#reader.keep(number, 0, device.firstBlock, cost);
    const scan = !(device instanceof UrlDevice);
    const machine = engine.open(number, device.sizeBytes, scan);
    await drive(machine, this.#reader, signal, cost, () => tell(cost));
    this.#open.set(number, device.name);
  }

  /** Opens every address again whose file is another one now; says which. */
  async #reopen(engine: LoadedEngine, signal: AbortSignal, cost: ReadCost): Promise<string[]> {
    const warnings: string[] = [];
    for (const [number, name] of [...this.#open]) {
      const old = this.#reader.device(number);
      if (!(old instanceof UrlDevice)) continue;
      const device = await UrlDevice.open(old.url, signal);
      if (device.id === old.id) continue;
      engine.close(number);
      this.#open.delete(number);
      this.#reader.replace(number, device);
      await this.#openDevice(engine, number, device, signal, cost, () => undefined);
      warnings.push(`${name} was replaced on its server while it was open, and was opened again.`);
    }
    return warnings;
  }

  async #drive<Out>(
    machine: Parameters<typeof drive<Out>>[0],
    signal: AbortSignal,
    cost: ReadCost,
  ): Promise<Out> {
    try {
      return await drive(machine, this.#reader, signal, cost);
    } catch (thrown) {
      throw engineError(thrown, (device) => this.#name(device));
    }
  }

  #name(device: number | null): string {
    return (device === null ? undefined : this.#open.get(device)) ?? "A file";
  }

  #info(engine: LoadedEngine): SourceInfo {
    const numbers = [...this.#open.keys()];
    const range = numbers.reduce<TimeRange | null>((all, number) => hull(all, engine.span(number)), null);
    const warnings = numbers.flatMap((number) => {
      const warning = engine.warning(number);
      return warning === null ? [] : [`${this.#name(number)}: ${warning}.`];
    });
    const [first] = this.#open.values();
    const label = numbers.length === 1 ? (first ?? "") : `${numbers.length} segments`;
    return { label, live: false, seriesCount: this.#series.length, range, warnings };
  }
}

async function deviceOf(item: OpenItem, signal: AbortSignal): Promise<BlockDevice> {
  switch (item.kind) {
    case "file":
      return new FileDevice(item.file.name, item.file, String(item.file.lastModified));
    case "url":
      return UrlDevice.open(item.url, signal);
    case "download":
      return download(item.url, signal);
  }
}
