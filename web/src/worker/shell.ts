// The worker's global scope: joins the dispatcher to the page, nothing else.

import { Dispatcher } from "./dispatcher.ts";
import { handlers } from "./driver.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

/** What this file needs of the worker's scope. */
interface Scope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: ArrayBuffer[]): void;
}

const scope = self as unknown as Scope;
const dispatcher = new Dispatcher(handlers(), (message, transfer) => scope.postMessage(message, transfer));
scope.onmessage = (event) => dispatcher.take(event.data);
