// What can go wrong when data are opened or asked for, told apart by what the person can do about it.
//
// Each cause has one sentence, made here and nowhere else.

/** The causes a caller may branch on. */
export type Cause =
  | "offline"
  | "unreachable"
  | "cross-origin"
  | "no-range"
  | "wrong-length"
  | "encoded"
  | "not-satisfiable"
  | "not-found"
  | "refused"
  | "server"
  | "changed"
  | "gone"
  | "not-a-segment"
  | "newer-format"
  | "bad-block"
  | "truncated"
  | "unsealed"
  | "already-open"
  | "bad-request"
  | "cancelled"
  | "internal";

/** A failure in a form that crosses between the worker and the page. */
export interface PlainError {
  readonly reason: Cause;
  readonly message: string;
  /** Present where downloading the whole file would help: its size. */
  readonly wholeBytes?: number;
  /** The byte of the request's text that is meant, where one is. */
  readonly at?: number;
}

/** A failure with its cause. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly reason: Cause;
  readonly wholeBytes: number | undefined;
  readonly at: number | undefined;

  constructor(reason: Cause, message: string, more: { wholeBytes?: number; at?: number } = {}) {
    super(message);
    this.reason = reason;
    this.wholeBytes = more.wholeBytes;
    this.at = more.at;
  }

  /** The form that can be posted. */
  plain(): PlainError {
    return {
      reason: this.reason,
      message: this.message,
      ...(this.wholeBytes === undefined ? {} : { wholeBytes: this.wholeBytes }),
      ...(this.at === undefined ? {} : { at: this.at }),
    };
  }

  /** Back from the posted form. */
  static from(plain: PlainError): SourceError {
    return new SourceError(plain.reason, plain.message, plain);
  }
}

/** Whatever was thrown, as a SourceError. */
export function asSourceError(thrown: unknown): SourceError {
  if (thrown instanceof SourceError) return thrown;
  if (thrown instanceof DOMException && thrown.name === "AbortError") return cancelled();
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new SourceError("internal", `The page failed in a way it doesn't know: ${text}`);
}

/** Whether the failure is only that somebody stopped it. */
export function isCancelled(thrown: unknown): boolean {
  return asSourceError(thrown).reason === "cancelled";
}

export const cancelled = (): SourceError => new SourceError("cancelled", "Stopped.");

/** A limit on what is fetched as a whole from a server without Range support. */
export const WHOLE_FILE_BYTES_MAX = 64 * 1024 * 1024;

/** The size as people write it. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** The sentences, by cause; `name` is the file or address as the person knows it. */
export const failures = {
  offline: (name: string) =>
    new SourceError(
      "offline",
      `This computer is offline, so ${name} can't be read; files on this computer still open.`,
    ),
  unreachable: (host: string) =>
    new SourceError("unreachable", `No answer from ${host}: it is down, or the address is wrong.`),
  crossOrigin: (host: string) =>
    new SourceError(
      "cross-origin",
      `${host} can't be reached, or doesn't let pages from elsewhere read it: it must send "Access-Control-Allow-Origin" and expose "Content-Range" and "ETag".`,
    ),
  hiddenLength: (host: string) =>
    new SourceError(
      "cross-origin",
      `${host} hides the length of the file: it must send "Access-Control-Expose-Headers: Content-Range, ETag".`,
    ),
  noRange: (name: string, wholeBytes: number | null) =>
    wholeBytes !== null && wholeBytes <= WHOLE_FILE_BYTES_MAX
      ? new SourceError(
          "no-range",
          `The server of ${name} can't send parts of a file (no Range support); the whole file is ${sizeText(wholeBytes)}.`,
          { wholeBytes },
        )
      : new SourceError(
          "no-range",
          `The server of ${name} can't send parts of a file (no Range support), and the whole file is ${wholeBytes === null ? "of unknown size" : `${sizeText(wholeBytes)}, too much to download`}: save it and drop it here.`,
        ),
  wrongLength: (name: string, got: number, wanted: number) =>
    new SourceError(
      "wrong-length",
      `The server of ${name} sent ${got} bytes where ${wanted} were asked for.`,
    ),
  encoded: (name: string, encoding: string) =>
    new SourceError(
      "encoded",
      `The server of ${name} compresses its answers (Content-Encoding: ${encoding}), so parts of the file can't be placed: switch that off for .silt files.`,
    ),
  notSatisfiable: (name: string) =>
    new SourceError("not-satisfiable", `${name} is empty or shorter than it was when it was opened.`),
  notFound: (name: string) => new SourceError("not-found", `There is no ${name} on the server (404).`),
  refused: (name: string, status: number) =>
    new SourceError("refused", `The server doesn't allow reading ${name} (${status}).`),
  server: (name: string, status: number) =>
    new SourceError("server", `The server failed on ${name} (${status}); trying again later may help.`),
  changed: (name: string) =>
    new SourceError(
      "changed",
      `${name} was replaced on the server while it was open; it has to be opened again.`,
    ),
  gone: (name: string) =>
    new SourceError(
      "gone",
      `${name} can't be read any more: it was moved, changed or removed since it was chosen.`,
    ),
  truncated: (name: string, at: number, size: number) =>
    new SourceError(
      "truncated",
      `${name} ends at byte ${at} where ${size} are needed: the copy is not complete.`,
    ),
  notASegment: (name: string) => new SourceError("not-a-segment", `${name} is no Siltstone segment.`),
  newerFormat: (name: string, what: string) =>
    new SourceError("newer-format", `${name} can't be read by this version of the page: ${what}.`),
  cutShort: (name: string) =>
    new SourceError(
      "truncated",
      `${name} is no Siltstone segment, or a copy that broke off: it is shorter than one block.`,
    ),
  unsealed: (name: string) =>
    new SourceError(
      "unsealed",
      `${name} has no end: it was never sealed, or the copy broke off. Seal it ("siltstone seal"), or download it and drop it here.`,
    ),
  damaged: (name: string, what: string) => new SourceError("bad-block", `${name} is damaged: ${what}.`),
};

/** What the engine throws: `cause: sentence`, or `cause@device: sentence`. */
const ENGINE_FAULT = /^([a-z-]+)(?:@(\d+))?: (.*)$/s;

/** What the engine throws, as a failure; `name` says what a device, or the one asked about, is called. */
export function engineError(thrown: unknown, name: (device: number | null) => string): SourceError {
  if (thrown instanceof SourceError || thrown instanceof DOMException) return asSourceError(thrown);
  const [, cause = "", device, text = String(thrown)] = ENGINE_FAULT.exec(String(thrown)) ?? [];
  const file = name(device === undefined ? null : Number(device));
  switch (cause) {
    case "not-a-segment":
      return failures.notASegment(file);
    case "newer-format":
      return failures.newerFormat(file, text);
    case "truncated":
      return failures.cutShort(file);
    case "unsealed":
      return failures.unsealed(file);
    case "bad-block":
      return failures.damaged(file, text);
    case "already-open":
    case "bad-request":
      return new SourceError(cause, text);
    default:
      return new SourceError("internal", `The engine failed: ${text}`);
  }
}
