// The engine in this worker: loads the wasm module and turns its jobs into machines.

import init, { Engine, type Table as EngineTable } from "../pkg/siltstone_wasm.js";
import moduleUrl from "../pkg/siltstone_wasm_bg.wasm?url";
import { nameParts } from "../source/names.ts";
import type { Column, Cost, Question, SeriesInfo, Table, ValueKind } from "../source/source.ts";
import { NANOS_MAX, NANOS_MIN, type Nanos, type TimeRange } from "../time/nanos.ts";
import type { Machine, Step } from "./machine.ts";

/** In the order of their stored codes. */
const KINDS: readonly ValueKind[] = ["float", "integer", "boolean", "state"];
/** What the engine says when it wants to be asked again. */
const MORE_LENGTH = 1;

const clamped = (nanos: Nanos): Nanos =>
  nanos < NANOS_MIN ? NANOS_MIN : nanos > NANOS_MAX ? NANOS_MAX : nanos;

/** The engine with its segments. */
export class LoadedEngine {
  readonly #engine: Engine;

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  static async load(): Promise<LoadedEngine> {
    await init({ module_or_path: moduleUrl });
    return new LoadedEngine(new Engine());
  }

  /** Opens the segment on a device; one that was never sealed only where `scan` allows reading all of it. */
  open(device: number, sizeBytes: number, scan: boolean): Machine<null> {
    return this.#machine(this.#engine.open(device, sizeBytes, scan), () => null);
  }

  /** The series that `select` means, in the order of names. */
  list(select: string): Machine<SeriesInfo[]> {
    const job = this.#engine.list(select);
    return this.#machine(job, () => {
      const series = this.#engine.take_list(job);
      const kinds = series.take_kinds();
      const units = series.take_units();
      const list = series.take_names().map((name, i) => ({
        name,
        ...nameParts(name),
        kind: KINDS[kinds[i] ?? 0] ?? "float",
        unit: units[i] || null,
      }));
      series.free();
      return list;
    });
  }

  /** Answers a question; what it cost and what `named` makes of damage is put in by the caller. */
  ask(question: Question, named: (device: number, damage: string) => string): Machine<Omit<Table, "cost">> {
    const { begin, end } = question.range;
    const job = this.#engine.ask(
      question.select,
      question.exact ?? false,
      clamped(begin),
      clamped(end),
      [...question.fns],
      question.step ?? 0n,
      question.snap ?? false,
      question.limit ?? 0,
    );
    return this.#machine(job, () => tableOf(this.#engine.take_table(job), question, named));
  }

  /** The span of an open segment's readings. */
  span(device: number): TimeRange | null {
    const [begin, end] = this.#engine.span(device);
    return begin === undefined || end === undefined ? null : { begin, end };
  }

  /** What is wrong with an open segment, though it opened. */
  warning(device: number): string | null {
    return this.#engine.warning(device) ?? null;
  }

  /** Forgets a segment. */
  close(device: number): void {
    this.#engine.close(device);
  }

  #machine<Out>(job: number, finish: () => Out): Machine<Out> {
    return {
      step: (budgetBlocks): Step<Out> => {
        const words = this.#engine.step(job, budgetBlocks);
        if (words.length === 0) return { kind: "done", output: finish() };
        if (words.length === MORE_LENGTH) return { kind: "more" };
        const needs = [];
        for (let i = 0; i + 2 < words.length; i += 3) {
          needs.push({ device: words[i] ?? 0, first: words[i + 1] ?? 0, count: words[i + 2] ?? 0 });
        }
        return { kind: "need", needs };
      },
      feed: (device, block, bytes) => this.#engine.feed(job, device, block, bytes),
      free: () => this.#engine.drop_job(job),
    };
  }
}

function tableOf(
  table: EngineTable,
  question: Question,
  named: (device: number, damage: string) => string,
): Omit<Table, "cost"> {
  const names = question.fns.length === 0 ? ["value"] : question.fns;
  const begin = table.take_begin();
  const columns: Column[] = names.map((name, c) => {
    const numbers = table.take_numbers(c);
    const rows = table.take_text_rows(c);
    if (rows.length === 0) return { name, numbers };
    const texts = new Array<string | null>(begin.length).fill(null);
    for (const [i, text] of table.take_texts(c).entries()) texts[rows[i] ?? 0] = text;
    return { name, numbers, texts };
  });
  const end = table.take_end();
  const devices = table.take_warning_segments();
  const warnings = table.take_warnings().map((damage, i) => named(devices[i] ?? 0, damage));
  const whole = {
    series: table.take_series(),
    seriesAt: table.take_series_at(),
    begin,
    end: question.fns.length === 0 ? null : end,
    columns,
    cut: table.is_cut(),
    warnings,
  };
  table.free();
  return whole;
}

/** What an answer cost, where `total` is all there is. */
export function costOf(
  read: { readonly blocksRead: number; readonly bytesRead: number },
  total: { readonly blocks: number; readonly bytes: number },
): Cost {
  return {
    blocksRead: read.blocksRead,
    bytesRead: read.bytesRead,
    blocksTotal: total.blocks,
    bytesTotal: total.bytes,
  };
}
