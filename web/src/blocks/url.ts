// A file on a web server, read by Range requests.
//
// The first request is `bytes=0-4095`; the length comes with its answer. No HEAD (slow, sometimes wrong),
// no suffix or multiple ranges (they cost a preflight across origins), and never the browser's own cache,
// which makes parallel ranges of one address wait for each other.

import { asSourceError, cancelled, failures, WHOLE_FILE_BYTES_MAX } from "../source/errors.ts";
import { BLOCK_BYTES, type BlockDevice, type ReadPolicy } from "./device.ts";
import { FileDevice } from "./file.ts";

const POLICY: ReadPolicy = {
  gapBlocksMax: (16 * 1024) / BLOCK_BYTES,
  wasteRatioMax: 1.5,
  readBlocksMax: (1024 * 1024) / BLOCK_BYTES,
  // Browsers open six connections to a host.
  parallelMax: 6,
};

/** `fetch`, or what a test gives in its place. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const nameOf = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "") || url;

interface Part {
  readonly bytes: Uint8Array;
  readonly sizeBytes: number;
  readonly etag: string | null;
}

/** A file behind an address, opened. */
export class UrlDevice implements BlockDevice {
  readonly id: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly policy = POLICY;
  readonly url: string;
  /** The first block, which opening has read. */
  readonly firstBlock: Uint8Array;
  readonly #etag: string | null;
  readonly #fetch: Fetch;

  private constructor(url: string, first: Part, fetcher: Fetch) {
    this.url = url;
    this.name = nameOf(url);
    this.sizeBytes = first.sizeBytes;
    this.firstBlock = first.bytes;
    this.#etag = first.etag;
    this.#fetch = fetcher;
    this.id = `url:${url}:${first.sizeBytes}:${first.etag ?? ""}`;
  }

  /** Opens `url`: one request. */
  static async open(url: string, signal: AbortSignal, fetcher: Fetch = fetch): Promise<UrlDevice> {
    const first = await readPart(fetcher, url, 0, BLOCK_BYTES, null, signal);
    return new UrlDevice(url, first, fetcher);
  }

  async read(offset: number, length: number, signal: AbortSignal): Promise<Uint8Array> {
    const part = await readPart(this.#fetch, this.url, offset, length, this.sizeBytes, signal);
    if (part.etag !== this.#etag || part.sizeBytes !== this.sizeBytes) throw failures.changed(this.name);
    return part.bytes;
  }
}

/** Downloads all of `url`, for a server that can't send parts. */
export async function download(
  url: string,
  signal: AbortSignal,
  fetcher: Fetch = fetch,
): Promise<FileDevice> {
  const response = await ask(fetcher, url, { cache: "no-store", signal });
  refuseStatus(response, nameOf(url));
  const announced = lengthOf(response);
  if (announced !== null && announced > WHOLE_FILE_BYTES_MAX) throw failures.noRange(nameOf(url), announced);
  const blob = await body(response, (whole) => whole.blob());
  return new FileDevice(nameOf(url), blob, response.headers.get("etag") ?? String(Date.now()));
}

async function readPart(
  fetcher: Fetch,
  url: string,
  offset: number,
  length: number,
  sizeBytes: number | null,
  signal: AbortSignal,
): Promise<Part> {
  const name = nameOf(url);
  const response = await ask(fetcher, url, {
    headers: { Range: `bytes=${offset}-${offset + length - 1}` },
    cache: "no-store",
    signal,
  });
  if (response.status === 416) throw failures.notSatisfiable(name);
  refuseStatus(response, name);
  const encoding = response.headers.get("content-encoding");
  if (response.status !== 206) {
    await response.body?.cancel();
    throw failures.noRange(name, encoding === null ? lengthOf(response) : null);
  }
  if (encoding !== null && encoding !== "identity") {
    await response.body?.cancel();
    throw failures.encoded(name, encoding);
  }
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  const size = range === null ? sizeBytes : Number(range[3]);
  if (size === null) {
    await response.body?.cancel();
    throw failures.hiddenLength(new URL(url).host);
  }
  const bytes = new Uint8Array(await body(response, (part) => part.arrayBuffer()));
  // Only the very first answer may be shorter: the file may have less than a block.
  const wanted = sizeBytes === null ? Math.min(length, size) : length;
  if (bytes.length !== wanted || (range !== null && Number(range[1]) !== offset)) {
    throw failures.wrongLength(name, bytes.length, wanted);
  }
  return { bytes, sizeBytes: size, etag: response.headers.get("etag") };
}

async function ask(fetcher: Fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetcher(url, init);
  } catch {
    if (init.signal?.aborted === true) throw cancelled();
    if (typeof navigator !== "undefined" && navigator.onLine === false) throw failures.offline(nameOf(url));
    const { host, origin } = new URL(url);
    const same = typeof location !== "undefined" && location.origin === origin;
    throw same ? failures.unreachable(host) : failures.crossOrigin(host);
  }
}

async function body<T>(response: Response, take: (response: Response) => Promise<T>): Promise<T> {
  try {
    return await take(response);
  } catch (thrown) {
    const error = asSourceError(thrown);
    throw error.reason === "cancelled" ? error : failures.unreachable(new URL(response.url).host);
  }
}

function refuseStatus(response: Response, name: string): void {
  const { status } = response;
  if (status === 404 || status === 410) throw failures.notFound(name);
  if (status === 401 || status === 403) throw failures.refused(name, status);
  if (status >= 400) throw failures.server(name, status);
}

function lengthOf(response: Response): number | null {
  const text = response.headers.get("content-length");
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
