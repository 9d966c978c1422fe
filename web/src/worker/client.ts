// The page's end of the protocol: numbers requests, matches answers, turns an AbortSignal into "cancel".

import { cancelled, SourceError } from "../source/errors.ts";
import type { FromWorker, Operation, Operations, Progress, ToWorker } from "./protocol.ts";

/** A worker, or what a test gives in its place. */
export interface Port {
  post(message: ToWorker): void;
  listen(take: (message: FromWorker) => void): void;
  terminate(): void;
}

interface Waiting {
  readonly resolve: (output: Operations[Operation]["out"]) => void;
  readonly reject: (error: SourceError) => void;
  readonly progress: ((progress: Progress) => void) | undefined;
}

/** Calls operations of the worker behind a port. */
export class WorkerClient {
  readonly #port: Port;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(port: Port) {
    this.#port = port;
    port.listen((message) => this.#take(message));
  }

  /** Runs one operation; aborting the signal stops it. */
  call<Op extends Operation>(
    op: Op,
    input: Operations[Op]["in"],
    signal: AbortSignal,
    progress?: (progress: Progress) => void,
  ): Promise<Operations[Op]["out"]> {
    if (signal.aborted) return Promise.reject(cancelled());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise<Operations[Op]["out"]>((resolve, reject) => {
      const onAbort = (): void => this.#port.post({ id, op: "cancel" });
      const settled = (): void => {
        this.#waiting.delete(id);
        signal.removeEventListener("abort", onAbort);
      };
      this.#waiting.set(id, {
        resolve: (output) => {
          settled();
          resolve(output as Operations[Op]["out"]);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
        progress,
      });
      signal.addEventListener("abort", onAbort);
      this.#port.post({ id, op, input } as ToWorker);
    });
  }

  /** Ends the worker; what was under way fails. */
  terminate(): void {
    this.fail(cancelled());
    this.#port.terminate();
  }

  /** Fails everything under way, for a worker that broke. */
  fail(error: SourceError): void {
    for (const waiting of [...this.#waiting.values()]) waiting.reject(error);
  }

  #take(message: FromWorker): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === "progress") waiting.progress?.(message.progress);
    else if (message.kind === "error") waiting.reject(SourceError.from(message.error));
    else waiting.resolve(message.output);
  }
}
