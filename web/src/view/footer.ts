// The line below: what the view has cost, in blocks and bytes of how many.

import { countText } from "../chart/format.ts";
import { sizeText } from "../source/errors.ts";
import type { Cost } from "../source/source.ts";
import { el } from "./dom.ts";

/** Sums costs; the totals of a source are the same in all of them, or grow while it lives. */
export function summed(costs: readonly Cost[]): Cost {
  return costs.reduce(
    (sum, cost) => ({
      blocksRead: sum.blocksRead + cost.blocksRead,
      bytesRead: sum.bytesRead + cost.bytesRead,
      blocksTotal: Math.max(sum.blocksTotal, cost.blocksTotal),
      bytesTotal: Math.max(sum.bytesTotal, cost.bytesTotal),
    }),
    { blocksRead: 0, bytesRead: 0, blocksTotal: 0, bytesTotal: 0 },
  );
}

const blocksText = (count: number): string => `${countText(count)} ${count === 1 ? "block" : "blocks"}`;

/** `12 blocks, 49 KB read of 2 431 blocks, 10 MB`. An agent may read a block once a question. */
export function costText(cost: Cost): string {
  const again = cost.blocksRead > cost.blocksTotal ? ", some more than once," : "";
  const total =
    cost.blocksTotal > 0 ? `${again} of ${blocksText(cost.blocksTotal)}, ${sizeText(cost.bytesTotal)}` : "";
  return `${blocksText(cost.blocksRead)}, ${sizeText(cost.bytesRead)} read${total}`;
}

/** The line. */
export class Footer {
  readonly element: HTMLElement;
  readonly #view = el("span", { className: "cost" });
  readonly #session = el("span", { className: "dim" });
  #sum: Cost = summed([]);

  constructor() {
    this.element = el(
      "footer",
      { className: "footer" },
      this.#view,
      el("span", { className: "spring" }),
      this.#session,
    );
  }

  /** What one view cost, and how long it took. */
  show(cost: Cost, elapsedMs: number): void {
    this.#view.textContent = `${costText(cost)} · ${Math.round(elapsedMs)} ms`;
    this.#view.title = "What this view cost. Blocks that are in memory already are not read again.";
    this.add(cost);
  }

  /** Adds to the sum since opening. */
  add(cost: Cost): void {
    this.#sum = summed([this.#sum, cost]);
    const { blocksRead, bytesRead } = this.#sum;
    this.#session.textContent = `since opening: ${blocksText(blocksRead)}, ${sizeText(bytesRead)}`;
  }

  /** Starts the sum anew, for another source. */
  reset(): void {
    this.#sum = summed([]);
    this.#view.textContent = "";
    this.#session.textContent = "";
  }

  /** What is being read right now. */
  progress(text: string): void {
    this.#view.textContent = text;
  }
}
