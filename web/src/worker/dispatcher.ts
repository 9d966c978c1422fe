// The worker's end of the protocol: hands each request to the engine's driver, answers it once, and stops it
// when told to. Knows neither the engine nor the worker's global scope.

import { asSourceError, cancelled } from "../source/errors.ts";
import {
  type FromWorker,
  type Operation,
  type Operations,
  type Progress,
  type Request,
  type ToWorker,
  transferables,
} from "./protocol.ts";

/** What does the work: one method an operation. */
export type Handlers = {
  readonly [Op in Operation]: (
    input: Operations[Op]["in"],
    signal: AbortSignal,
    progress: (progress: Progress) => void,
  ) => Promise<Operations[Op]["out"]>;
};

/** Sends one message, handing the buffers over. */
export type Post = (message: FromWorker, transfer: ArrayBuffer[]) => void;

/** Runs requests. */
export class Dispatcher {
  readonly #handlers: Handlers;
  readonly #post: Post;
  readonly #running = new Map<number, AbortController>();

  constructor(handlers: Handlers, post: Post) {
    this.#handlers = handlers;
    this.#post = post;
  }

  /** Takes one message of the page. */
  take(message: ToWorker): void {
    if (message.op === "cancel") {
      this.#running.get(message.id)?.abort();
      return;
    }
    void this.#run(message);
  }

  async #run(request: Request): Promise<void> {
    const { id } = request;
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      const output = await this.#call(request, controller.signal);
      if (controller.signal.aborted) throw cancelled();
      this.#post({ id, kind: "result", output }, transferables(output));
    } catch (thrown) {
      const error = controller.signal.aborted ? cancelled() : asSourceError(thrown);
      this.#post({ id, kind: "error", error: error.plain() }, []);
    } finally {
      this.#running.delete(id);
    }
  }

  #call(request: Request, signal: AbortSignal): Promise<Operations[Operation]["out"]> {
    const progress = (state: Progress): void =>
      this.#post({ id: request.id, kind: "progress", progress: state }, []);
    switch (request.op) {
      case "open":
        return this.#handlers.open(request.input, signal, progress);
      case "series":
        return this.#handlers.series(request.input, signal, progress);
      case "query":
        return this.#handlers.query(request.input, signal, progress);
    }
  }
}
