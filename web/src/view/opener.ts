// Opens sources and says what went wrong with each file or address, and what can be done about it.

import { EngineSource } from "../source/engine.ts";
import { asSourceError, type PlainError, sizeText } from "../source/errors.ts";
import { AgentSource } from "../source/http.ts";
import type { Cost, Source } from "../source/source.ts";
import type { SourceChoice } from "../state/hash.ts";
import type { OpenItem } from "../worker/protocol.ts";
import type { Messages } from "./messages.ts";

/** What opening led to. */
export interface OpenedSource {
  readonly source: Source;
  readonly choice: SourceChoice;
}

/** What the opener tells its owner. */
export interface OpenerEvents {
  /** How far it has come. */
  progress(text: string): void;
  /** What opening has cost. */
  cost(cost: Cost): void;
  /** A whole file is to be downloaded after all. */
  download(url: string): void;
}

/** Opens things into one engine, to which more can be added. */
export class Opener {
  readonly #messages: Messages;
  readonly #events: OpenerEvents;
  #engine: EngineSource | null = null;

  constructor(messages: Messages, events: OpenerEvents) {
    this.#messages = messages;
    this.#events = events;
  }

  /** The agent that serves this page, if one does. */
  agent(signal: AbortSignal): Promise<AgentSource | null> {
    if (!/^https?:$/.test(location.protocol)) return Promise.resolve(null);
    return AgentSource.connect(new URL("./", location.href), signal);
  }

  /** Lets go of everything that was opened. */
  reset(): void {
    this.#engine?.close();
    this.#engine = null;
  }

  /** Gets the engine ready, so that files open even when the network goes away before they are dropped. */
  prepare(): void {
    this.#engine ??= new EngineSource();
  }

  /** Adds files or addresses to what is open; `null` when none of them could be opened. `whole`: download first. */
  async open(
    choice: SourceChoice,
    files: readonly File[],
    before: SourceChoice | null,
    signal: AbortSignal,
    whole = false,
  ): Promise<OpenedSource | null> {
    const urls = choice.kind === "urls" ? choice.urls : [];
    const items: OpenItem[] = [
      ...files.map((file) => ({ kind: "file" as const, file })),
      ...urls.map((url) => ({ kind: whole ? ("download" as const) : ("url" as const), url })),
    ];
    if (items.length === 0) return null;
    this.#messages.clear("open");
    this.#messages.clear("files");
    this.#engine ??= new EngineSource();
    const engine = this.#engine;
    let good = 0;
    try {
      const opened = await engine.open(items, signal, ({ blocksRead, bytesRead }) =>
        this.#events.progress(`opening: ${blocksRead} blocks, ${sizeText(bytesRead)}`),
      );
      this.#events.cost(opened.cost);
      for (const [i, { name, error }] of opened.items.entries()) {
        if (error === null) good += 1;
        else this.#explain(name, error, items[i]);
      }
    } catch (thrown) {
      this.#messages.say({ kind: "error", topic: "open", text: asSourceError(thrown).message });
    }
    if (good === 0) return null;
    return { source: engine, choice: joined(choice, before) };
  }

  #explain(name: string, error: PlainError, item: OpenItem | undefined): void {
    const whole = item?.kind === "url" && error.wholeBytes !== undefined ? item.url : null;
    this.#messages.say({
      kind: "error",
      topic: `open ${name}`,
      text: error.message,
      ...(whole === null
        ? {}
        : {
            action: {
              label: `Download ${sizeText(error.wholeBytes ?? 0)}`,
              run: () => this.#events.download(whole),
            },
          }),
    });
  }
}

/** Addresses added to addresses stay in the page's own address; files can't be. */
function joined(choice: SourceChoice, before: SourceChoice | null): SourceChoice {
  if (choice.kind !== "urls") return choice;
  if (before?.kind === "files") return before;
  const old = before?.kind === "urls" ? before.urls : [];
  return { kind: "urls", urls: [...new Set([...old, ...choice.urls])] };
}
