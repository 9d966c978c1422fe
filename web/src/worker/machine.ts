// Drives the engine: it never reads by itself, it says which blocks it needs, and is asked again.

import type { BlockReader, Need, ReadCost } from "../blocks/reader.ts";
import { cancelled, SourceError } from "../source/errors.ts";

/** What a step led to. */
export type Step<Out> =
  /** These blocks have to be fed before it goes on. */
  | { readonly kind: "need"; readonly needs: readonly Need[] }
  /** A part is done; ask again. */
  | { readonly kind: "more" }
  | { readonly kind: "done"; readonly output: Out };

/** Something of the engine that runs in steps. */
export interface Machine<Out> {
  /** Goes on, and asks for at most so many blocks at once. */
  step(budgetBlocks: number): Step<Out>;
  /** Hands over one wanted block. */
  feed(device: number, block: number, bytes: Uint8Array): void;
  /** Lets go of its memory in the engine. */
  free(): void;
}

/** Blocks asked for at once: what bounds the memory of a question. */
export const BUDGET_BLOCKS = 256;

/** Steps a question may take before it is taken for a fault of the engine. */
const STEP_COUNT_MAX = 1_000_000;

/** Runs a machine to its end. */
export async function drive<Out>(
  machine: Machine<Out>,
  reader: BlockReader,
  signal: AbortSignal,
  cost: ReadCost,
  fed: () => void = () => undefined,
): Promise<Out> {
  try {
    for (let count = 0; count < STEP_COUNT_MAX; count++) {
      if (signal.aborted) throw cancelled();
      const step = machine.step(BUDGET_BLOCKS);
      if (step.kind === "done") return step.output;
      if (step.kind === "need") {
        await reader.read(
          step.needs,
          (device, block, bytes) => machine.feed(device, block, bytes),
          signal,
          cost,
        );
        fed();
      }
    }
    throw new SourceError("internal", "The engine went round in circles; this is a fault of Siltstone.");
  } finally {
    machine.free();
  }
}
