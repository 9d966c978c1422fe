// A static file server for tests: Range, ETag and cross-origin headers, and the ways in which servers get them wrong.
//
// Loopback only. Counts requests and bytes, so that tests can hold the page to a budget.

import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

/** How the server misbehaves. */
export interface Faults {
  /** Answers 200 with everything to a Range request. */
  noRange?: boolean;
  /** Sends one byte less than asked for. */
  short?: boolean;
  /** Claims a Content-Encoding. */
  encoding?: string;
  /** Sends no headers for other origins. */
  noCors?: boolean;
  /** Doesn't expose Content-Range and ETag. */
  hidden?: boolean;
  /** Answers everything so. */
  status?: number;
  /** Put into the ETag; changing it is a new version of every file. */
  version?: string;
  /** Waits before each answer, milliseconds. */
  delayMs?: number;
}

const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** One request as it came. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
}

/** A running server. */
export class RangeServer {
  faults: Faults = {};
  readonly seen: Seen[] = [];
  bytesSent = 0;
  readonly #server: Server;
  readonly #files: ReadonlyMap<string, Uint8Array> | string;

  private constructor(files: ReadonlyMap<string, Uint8Array> | string) {
    this.#files = files;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Serves files from memory by path, or those of a folder. */
  static async start(files: ReadonlyMap<string, Uint8Array> | string, port = 0): Promise<RangeServer> {
    const server = new RangeServer(files);
    await new Promise<void>((resolve) => server.#server.listen(port, "127.0.0.1", resolve));
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #load(path: string): Promise<Uint8Array | null> {
    if (typeof this.#files !== "string") return this.#files.get(path) ?? null;
    const inside = normalize(path.endsWith("/") ? `${path}index.html` : path);
    if (inside.includes("..")) return null;
    return readFile(join(this.#files, inside)).catch(() => null);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const { range } = request.headers;
    this.seen.push({ method: request.method ?? "", path, range });
    const { faults } = this;
    if (faults.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, faults.delayMs));
    if (!faults.noCors) {
      response.setHeader("Access-Control-Allow-Origin", "*");
      if (!faults.hidden) response.setHeader("Access-Control-Expose-Headers", "Content-Range, ETag");
    }
    const bytes = await this.#load(path);
    if (faults.status !== undefined || bytes === null) {
      response.writeHead(faults.status ?? 404).end();
      return;
    }
    response.setHeader("Content-Type", TYPES[extname(path) || ".html"] ?? "application/octet-stream");
    response.setHeader("ETag", `"${faults.version ?? "1"}-${bytes.length}"`);
    this.#send(response, bytes, range);
  }

  #send(response: ServerResponse, bytes: Uint8Array, range: string | undefined): void {
    const { faults } = this;
    const asked = /^bytes=(\d+)-(\d+)$/.exec(range ?? "");
    if (asked === null || faults.noRange) {
      this.bytesSent += bytes.length;
      response.writeHead(200, { "Content-Length": bytes.length }).end(bytes);
      return;
    }
    const begin = Number(asked[1]);
    const end = Math.min(Number(asked[2]) + 1, bytes.length);
    if (begin >= bytes.length) {
      response.writeHead(416, { "Content-Range": `bytes */${bytes.length}` }).end();
      return;
    }
    const part = bytes.subarray(begin, faults.short ? end - 1 : end);
    this.bytesSent += part.length;
    if (faults.encoding !== undefined) response.setHeader("Content-Encoding", faults.encoding);
    response.writeHead(206, {
      "Content-Range": `bytes ${begin}-${end - 1}/${bytes.length}`,
      "Content-Length": part.length,
    });
    response.end(part);
  }
}
