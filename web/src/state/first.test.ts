import { describe, expect, test } from "vitest";
import { SourceError } from "../source/errors.ts";
import { nameParts } from "../source/names.ts";
import { NO_COST, type Question, type SeriesInfo, type Source, type Table } from "../source/source.ts";
import type { Nanos } from "../time/nanos.ts";
import { firstView, glances } from "./first.ts";

const SECOND = 1_000_000_000n;
const NOW: Nanos = 1_800_000_000n * SECOND;
const DAY = 86_400;

/** A series with a reading every `everySeconds` from `from` to `to` seconds ago. */
interface Made {
  readonly info: SeriesInfo;
  readonly from: number;
  readonly to: number;
  readonly everySeconds: number;
  readonly value: (second: number) => number;
}

const wave = (second: number): number => 20 + 8 * Math.sin(second / 7);

function made(name: string, from: number, everySeconds: number, value = wave, to = 0): Made {
  return { info: { name, ...nameParts(name), kind: "float", unit: null }, from, to, everySeconds, value };
}

/** A source over made series that notes what it is asked. */
function sourceOf(all: readonly Made[], live: boolean): Source & { asked: Question[] } {
  const oldest = Math.max(0, ...all.map(({ from }) => from));
  const range = all.length === 0 ? null : { begin: NOW - BigInt(oldest) * SECOND, end: NOW };
  const asked: Question[] = [];
  return {
    asked,
    info: { label: "made", live, seriesCount: all.length, range, warnings: [] },
    series: async () => ({ series: all.map(({ info }) => info), total: all.length }),
    newest: async () => NOW,
    query: async (question) => {
      asked.push(question);
      return answer(all, question);
    },
  };
}

function answer(all: readonly Made[], { select, range, fns }: Question): Table {
  const rows = all
    .filter(({ info }) => select === "{}" || select === info.name)
    .map(({ info, from, to, everySeconds, value }) => {
      const at: Nanos[] = [];
      const values: number[] = [];
      for (let s = from; s >= to; s -= everySeconds) {
        const t = NOW - BigInt(s) * SECOND;
        if (t < range.begin || t >= range.end) continue;
        at.push(t);
        values.push(value(-s));
      }
      return { name: info.name, at, values };
    })
    .filter(({ at }) => at.length > 0);
  const by: Record<string, (values: number[]) => number> = {
    count: (values) => values.length,
    min: (values) => Math.min(...values),
    max: (values) => Math.max(...values),
    mean: (values) => values.reduce((a, b) => a + b, 0) / values.length,
    first: (values) => values[0] ?? Number.NaN,
    last: (values) => values.at(-1) ?? Number.NaN,
  };
  return {
    series: rows.map(({ name }) => name),
    seriesAt: Uint32Array.from(rows.keys()),
    begin: BigInt64Array.from(rows, () => range.begin),
    end: BigInt64Array.from(rows, () => range.end),
    columns: fns.map((name) => ({
      name,
      numbers: Float64Array.from(rows, ({ values }) => by[name]?.(values) ?? Number.NaN),
      ...(name === "first_at" ? { texts: rows.map(({ at }) => String(at[0])) } : {}),
      ...(name === "last_at" ? { texts: rows.map(({ at }) => String(at.at(-1))) } : {}),
    })),
    cost: NO_COST,
    cut: false,
    warnings: [],
  };
}

async function first(all: readonly Made[], live: boolean) {
  const source = sourceOf(all, live);
  const page = await source.series("", 2000, new AbortController().signal);
  const view = await firstView(source, page, new AbortController().signal);
  return { ...view, names: view.series.map(({ name }) => name), asked: source.asked };
}

const still = made("aaa", 20, 1, () => 91);

describe("a live source", () => {
  test("that is young gets the smallest range that holds it", async () => {
    const view = await first([still, made("power", 20, 1), made("temperature", 20, 2)], true);
    expect(view.range).toEqual({ kind: "last", spanSeconds: 60 });
    expect(view.names).toEqual(["power", "temperature"]);
    expect(view.asked).toHaveLength(1);
    expect((await first([made("power", 200, 1)], true)).range).toEqual({ kind: "last", spanSeconds: 300 });
  });

  test("with years of history gets an hour, or more where readings are rare", async () => {
    expect((await first([made("power", 30 * DAY, 30)], true)).range).toEqual({
      kind: "last",
      spanSeconds: 3600,
    });
    const rare = await first([made("level", 30 * DAY, 1200)], true);
    expect(rare.range).toEqual({ kind: "last", spanSeconds: 604_800 });
    expect(rare.names).toEqual(["level"]);
  });

  test("that was off for a day is looked at since it came back", async () => {
    const before = (second: number) => (second < -DAY ? 5 : wave(second));
    const parts = { ...made("power", 2 * DAY, 1, before), to: 0 };
    // Silent between two days ago and half a minute ago.
    const query = sourceOf([parts], true);
    query.query = async (question) => {
      const young = made("power", 30, 1);
      const table = answer([young], question);
      if (question.select !== "{}") return table;
      const old = answer([made("power", 2 * DAY, 600, before)], question);
      return old;
    };
    const page = { series: [parts.info], total: 1 };
    const view = await firstView(query, page, new AbortController().signal);
    expect(view.range).toEqual({ kind: "last", spanSeconds: 60 });
  });

  test("prefers what comes often to a backlog of rare readings", async () => {
    const view = await first(
      [made("backlog", DAY, 60), ...["p", "q", "r", "s"].map((metric) => made(metric, 20, 1))],
      true,
    );
    expect(view.range).toEqual({ kind: "last", spanSeconds: 60 });
    expect(view.names).toEqual(["p", "q", "r"]);
  });

  test("that has been silent for days shows all it has", async () => {
    const view = await first([made("power", 9 * DAY, 600, wave, 3 * DAY)], true);
    expect(view.range).toEqual({ kind: "all" });
    expect(view.names).toEqual(["power"]);
    expect(view.early).toBe(false);
  });

  test("with next to nothing is looked at again later", async () => {
    expect((await first([], true)).early).toBe(true);
    const view = await first([made("power", 4, 1)], true);
    expect(view.early).toBe(true);
    expect(view.names).toEqual(["power"]);
    expect((await first([made("power", 40, 1)], true)).early).toBe(false);
    // Where nothing ever moves, looking again and again would be in vain.
    expect((await first([made("aaa", 40, 1, () => 91)], true)).early).toBe(false);
  });

  test("keeps what it shows unless something is clearly better", async () => {
    const slightly = (second: number) => 1.1 * wave(second) - 2;
    const much = (second: number) => 50 * (1 + Math.sin(second / 3));
    const kept = ["q", "r", "s"].map((metric) => made(metric, 20, 1));
    const again = async (other: Made) => {
      const source = sourceOf([other, ...kept], true);
      const page = await source.series("", 10, new AbortController().signal);
      const shown = kept.map(({ info }) => info);
      const view = await firstView(source, page, new AbortController().signal, shown);
      return view.series.map(({ name }) => name);
    };
    expect(await again(made("p", 20, 1, slightly))).toEqual(["q", "r", "s"]);
    expect(await again(made("p", 20, 1, much))).toContain("p");
  });
});

describe("files", () => {
  test("are shown as a whole, with what moves", async () => {
    const view = await first([still, made("power", 30 * DAY, 600)], false);
    expect(view.range).toEqual({ kind: "all" });
    expect(view.names).toEqual(["power"]);
  });

  test("show what fills them rather than what came at their end", async () => {
    const short = ["p", "q", "r"].map((metric) => made(metric, 300, 1, (s) => 50 + 50 * Math.sin(s)));
    expect((await first([...short, made("weather", DAY, 60)], false)).names).toContain("weather");
  });

  test("in which nothing moves show their first series", async () => {
    expect((await first([still], false)).names).toEqual(["aaa"]);
  });

  test("of thousands of series cost a bounded number of questions", async () => {
    const many = Array.from({ length: 3000 }, (_, i) => made(`power{n="${i}"}`, 60, 10));
    const view = await first([...many, made("temperature", 60, 1)], false);
    expect(view.asked.length).toBeLessThanOrEqual(48);
    expect(view.names).toContain("temperature");
    expect(view.names.length).toBeLessThanOrEqual(12);
  });
});

test("a source that can't say shows its first series", async () => {
  const source = sourceOf([made("b", 20, 1), made("a", 20, 1)], true);
  source.query = () => Promise.reject(new SourceError("server", "The agent answered 500."));
  const page = await source.series("", 10, new AbortController().signal);
  const view = await firstView(source, page, new AbortController().signal);
  expect(view.series.map(({ name }) => name)).toEqual(["b", "a"]);
  expect(view.range).toEqual({ kind: "last", spanSeconds: 3600 });
});

test("a row without instants says nothing", () => {
  const range = { begin: 0n, end: NOW };
  const table = answer([still], { select: "{}", range, fns: ["count"] });
  expect(glances(table, [still.info])).toEqual([]);
});
