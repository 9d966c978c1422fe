import { describe, expect, test } from "vitest";
import { BlockCache } from "../blocks/cache.ts";
import { BLOCK_BYTES } from "../blocks/device.ts";
import { FileDevice } from "../blocks/file.ts";
import { BlockReader, noReads } from "../blocks/reader.ts";
import { failures, SourceError } from "../source/errors.ts";
import { NO_COST, type Table } from "../source/source.ts";
import { WorkerClient } from "./client.ts";
import { Dispatcher, type Handlers } from "./dispatcher.ts";
import { drive, type Machine, type Step } from "./machine.ts";
import { type FromWorker, type ToWorker, transferables } from "./protocol.ts";

const TABLE: Table = {
  series: ["a"],
  seriesAt: new Uint32Array(1),
  begin: new BigInt64Array(1),
  end: null,
  columns: [{ name: "value", numbers: new Float64Array(1) }],
  cost: NO_COST,
  cut: false,
  warnings: [],
};
const QUESTION = { select: "a", range: { begin: 0n, end: 1n }, fns: [] };
const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));

/** Page and worker joined without a worker: messages go through the structured clone, as real ones do. */
function joined(handlers: Partial<Handlers>): {
  client: WorkerClient;
  toWorker: ToWorker[];
  dispatcher: Dispatcher;
} {
  const toWorker: ToWorker[] = [];
  let take: (message: FromWorker) => void = () => undefined;
  const unused = (): Promise<never> => Promise.reject(new SourceError("internal", "unused"));
  const dispatcher = new Dispatcher(
    { open: unused, series: unused, query: unused, ...handlers },
    (message, transfer) => take(structuredClone(message, { transfer })),
  );
  const client = new WorkerClient({
    post: (message) => {
      toWorker.push(message);
      queueMicrotask(() => dispatcher.take(structuredClone(message)));
    },
    listen: (listener) => {
      take = listener;
    },
    terminate: () => undefined,
  });
  return { client, toWorker, dispatcher };
}

const signal = new AbortController().signal;

describe("protocol", () => {
  test("answers find their questions in whatever order they come", async () => {
    const delays = [20, 1, 10];
    const { client } = joined({
      series: async ({ limit }) => {
        await new Promise((resolve) => setTimeout(resolve, delays[limit]));
        return { series: [], total: limit };
      },
    });
    const totals = await Promise.all(
      [0, 1, 2].map((limit) => client.call("series", { search: "", limit }, signal)),
    );
    expect(totals.map(({ total }) => total)).toEqual([0, 1, 2]);
  });

  test("a failure keeps its cause and its sentence", async () => {
    const { client } = joined({ query: () => Promise.reject(failures.noRange("a.silt", 1000)) });
    const asked = client.call("query", { question: QUESTION }, signal);
    await expect(asked).rejects.toMatchObject({
      reason: "no-range",
      wholeBytes: 1000,
      message: /whole file is 1\.0 KB/,
    });
  });

  test("stopping reaches the worker, ends the call once, and leaves others alone", async () => {
    const { client, toWorker } = joined({
      query: (_, stop) => never(stop),
      series: () => Promise.resolve({ series: [], total: 7 }),
    });
    const controller = new AbortController();
    const asked = client.call("query", { question: QUESTION }, controller.signal);
    const other = client.call("series", { search: "", limit: 1 }, signal);
    setTimeout(() => controller.abort(), 2);
    await expect(asked).rejects.toMatchObject({ reason: "cancelled" });
    expect((await other).total).toBe(7);
    expect(toWorker.filter((message) => message.op === "cancel")).toEqual([{ id: 1, op: "cancel" }]);
  });

  test("what was stopped before it began is never sent", async () => {
    const { client, toWorker } = joined({});
    const asked = client.call("query", { question: QUESTION }, AbortSignal.abort());
    await expect(asked).rejects.toMatchObject({ reason: "cancelled" });
    expect(toWorker).toEqual([]);
  });

  test("progress comes before the answer, columns are handed over", async () => {
    const table = structuredClone(TABLE);
    const { client } = joined({
      query: async (_question, _signal, progress) => {
        progress({ blocksRead: 3, bytesRead: 12_288 });
        return table;
      },
    });
    const steps: number[] = [];
    const got = await client.call("query", { question: QUESTION }, signal, ({ blocksRead }) =>
      steps.push(blocksRead),
    );
    expect(steps).toEqual([3]);
    expect(got.columns[0]?.numbers).toHaveLength(1);
    expect(transferables(TABLE)).toHaveLength(3);
    // The worker's own arrays are gone: nothing was copied.
    expect(table.seriesAt).toHaveLength(0);
  });

  test("a worker that breaks fails what is under way", async () => {
    const { client } = joined({ query: (_, stop) => never(stop) });
    const asked = client.call("query", { question: QUESTION }, signal);
    client.fail(new SourceError("internal", "broken"));
    await expect(asked).rejects.toThrow("broken");
  });
});

/** A machine that wants each block of its list in turn and answers with the sum of their first bytes. */
class Summing implements Machine<number> {
  freed = 0;
  sum = 0;
  readonly #rounds: number[][];

  constructor(rounds: number[][]) {
    this.#rounds = rounds;
  }

  step(): Step<number> {
    const round = this.#rounds.shift();
    if (round === undefined) return { kind: "done", output: this.sum };
    return { kind: "need", needs: round.map((first) => ({ device: 0, first, count: 1 })) };
  }

  feed(_device: number, _block: number, bytes: Uint8Array): void {
    this.sum += bytes[0] ?? 0;
  }

  free(): void {
    this.freed += 1;
  }
}

describe("drive", () => {
  const bytes = Uint8Array.from({ length: 8 * BLOCK_BYTES }, (_, i) => Math.floor(i / BLOCK_BYTES) + 1);
  const reader = (): BlockReader => {
    const made = new BlockReader(new BlockCache(10));
    made.add(new FileDevice("f.silt", new Blob([bytes]), "1"));
    return made;
  };

  test("feeds what is needed until it is done, and frees the machine", async () => {
    const machine = new Summing([[0, 2], [7], []]);
    expect(await drive(machine, reader(), signal, noReads())).toBe(1 + 3 + 8);
    expect(machine.freed).toBe(1);
  });

  test("frees the machine when a read fails or it is stopped", async () => {
    const behind = new Summing([[99]]);
    await expect(drive(behind, reader(), signal, noReads())).rejects.toMatchObject({ reason: "truncated" });
    const stopped = new Summing([[0]]);
    await expect(drive(stopped, reader(), AbortSignal.abort(), noReads())).rejects.toMatchObject({
      reason: "cancelled",
    });
    expect([behind.freed, stopped.freed]).toEqual([1, 1]);
  });
});
