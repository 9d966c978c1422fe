// Block files opened in this browser: the engine in a worker, behind the page's interface.

import type { Nanos } from "../time/nanos.ts";
import { WorkerClient } from "../worker/client.ts";
import type { FromWorker, OpenItem, OpenResult, Progress } from "../worker/protocol.ts";
import { SourceError } from "./errors.ts";
import type { Question, SeriesPage, Source, SourceInfo, Table } from "./source.ts";

const NOTHING: SourceInfo = { label: "no files", live: false, seriesCount: 0, range: null, warnings: [] };

/** Files and addresses, together one set of series. */
export class EngineSource implements Source {
  #info: SourceInfo = NOTHING;
  readonly #client: WorkerClient;

  constructor(client: WorkerClient = startWorker()) {
    this.#client = client;
  }

  get info(): SourceInfo {
    return this.#info;
  }

  /** Adds files and addresses to what is open, and says what became of each. */
  async open(
    items: readonly OpenItem[],
    signal: AbortSignal,
    progress?: (progress: Progress) => void,
  ): Promise<OpenResult> {
    const result = await this.#client.call("open", { items }, signal, progress);
    this.#info = result.info;
    return result;
  }

  series(search: string, limit: number, signal: AbortSignal): Promise<SeriesPage> {
    return this.#client.call("series", { search, limit }, signal);
  }

  query(question: Question, signal: AbortSignal): Promise<Table> {
    return this.#client.call("query", { question }, signal);
  }

  async newest(): Promise<Nanos> {
    return this.#info.range?.end ?? 0n;
  }

  close(): void {
    this.#client.terminate();
  }
}

function startWorker(): WorkerClient {
  const worker = new Worker(new URL("../worker/shell.ts", import.meta.url), {
    type: "module",
    name: "engine",
  });
  const client = new WorkerClient({
    post: (message) => worker.postMessage(message),
    listen: (take) =>
      worker.addEventListener("message", (event: MessageEvent<FromWorker>) => take(event.data)),
    terminate: () => worker.terminate(),
  });
  worker.onerror = (event) =>
    client.fail(
      new SourceError("internal", `The engine stopped: ${event.message || "its code could not be loaded"}.`),
    );
  return client;
}
