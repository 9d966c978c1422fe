// What the worker does for each request: opens devices, runs the engine over their blocks.

import { SourceError } from "../source/errors.ts";
import type { Handlers } from "./dispatcher.ts";

const missing = (): Promise<never> =>
  Promise.reject(new SourceError("internal", "This build of the page has no engine for block files."));

/** The operations. */
export function handlers(): Handlers {
  return { open: missing, series: missing, query: missing };
}
