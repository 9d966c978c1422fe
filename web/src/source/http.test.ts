import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentDouble } from "../../test/agent_double.ts";
import { ask } from "../chart/ask.ts";
import { AgentSource, tableOf } from "./http.ts";

const signal = new AbortController().signal;
const HOUR = 3_600_000_000_000n;
const BEGIN = 1_700_000_000n * 1_000_000_000n;
let agent: AgentDouble;

beforeAll(async () => {
  agent = await AgentDouble.start("dist", 50);
});
afterAll(() => agent.stop());

const connect = async (): Promise<AgentSource> => {
  const source = await AgentSource.connect(new URL(`${agent.origin}/`), signal);
  if (source === null) throw new Error("the double doesn't answer");
  return source;
};

describe("AgentSource", () => {
  test("lists and searches series", async () => {
    const source = await connect();
    expect(source.info).toMatchObject({ live: true, seriesCount: 57 });
    const page = await source.series("kitchen temp", 10, signal);
    expect(page.series).toEqual([
      {
        name: 'temperature{device="th-3",room="kitchen"}',
        metric: "temperature",
        tags: [
          ["device", "th-3"],
          ["room", "kitchen"],
        ],
        kind: "float",
        unit: "°C",
      },
    ]);
  });

  test("few readings come as they are, many as buckets, and the totals are the same for both", async () => {
    const source = await connect();
    const [info] = (await source.series("bedroom temp", 1, signal)).series;
    if (info === undefined) throw new Error("no series");
    const raw = await ask(source, info, { begin: BEGIN, end: BEGIN + HOUR }, 1000, signal);
    expect([raw.totals.count, raw.curve.at.length, raw.curve.band]).toEqual([360, 360, null]);
    const wide = { begin: BEGIN, end: BEGIN + 24n * HOUR };
    const buckets = await ask(source, info, wide, 500, signal);
    expect(buckets.totals.count).toBe(8640);
    expect(buckets.curve.at.length).toBeLessThanOrEqual(501);
    const highest = Math.max(...(buckets.curve.band?.high ?? []));
    expect(highest).toBe(buckets.totals.max);
    const counted = buckets.curve.band?.count.reduce((sum, n) => sum + n, 0);
    expect(counted).toBe(8640);
  });

  test("what is no agent is not taken for one", async () => {
    expect(await AgentSource.connect(new URL("http://127.0.0.1:9/"), signal)).toBeNull();
  });
});

describe("tableOf", () => {
  test("keeps what a number can't say", () => {
    const table = tableOf({
      columns: [{ name: "series" }, { name: "t" }, { name: "value" }],
      rows: [
        ["a", "1", 1.5],
        ["a", "2", null],
        ["a", "3", "NaN"],
        ["a", "4", "9007199254740993"],
        ["b", "5", true],
        ["b", "6", "open"],
      ],
      stats: { blocks_read: 1, blocks_total: 2, bytes_read: 4096 },
      next: null,
    });
    expect([...(table.columns[0]?.numbers ?? [])]).toEqual([
      1.5,
      Number.NaN,
      Number.NaN,
      9007199254740992,
      1,
      Number.NaN,
    ]);
    expect(table.columns[0]?.texts).toEqual([null, null, "NaN", "9007199254740993", null, "open"]);
    expect([...table.seriesAt]).toEqual([0, 0, 0, 0, 1, 1]);
    expect(table.cost).toEqual({ blocksRead: 1, bytesRead: 4096, blocksTotal: 2, bytesTotal: 8192 });
  });

  test.each([
    [null],
    [{}],
    [{ columns: [], rows: [] }],
    [{ columns: [{ name: "series" }, { name: "t" }], rows: [[1, "2"]] }],
    [{ columns: [{ name: "series" }, { name: "t" }], rows: [["a", 2]] }],
    [{ columns: [{ name: "series" }, { name: "t" }], rows: ["a"] }],
  ])("%j is not understood", (json) => expect(() => tableOf(json)).toThrow(/isn't understood/));
});
