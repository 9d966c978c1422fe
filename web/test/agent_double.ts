// An agent's HTTP API over made-up readings, for looking at the page and testing it without an agent.
//
// Answers /api/health, /api/series and /api/query in the API's form; the site itself comes from a folder.

import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const SECOND = 1_000_000_000n;
/** How far back the readings go. */
const HISTORY = 86_400n * SECOND;
const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

interface MadeSeries {
  readonly name: string;
  readonly kind: string;
  readonly unit: string | null;
  readonly stepSeconds: number;
  value(seconds: number): number | boolean | string | null;
}

/** The same "random" number for the same question, in [0, 1). */
function noise(seed: number): number {
  const x = Math.sin(seed * 127.1 + 311.7) * 43_758.5453;
  return x - Math.floor(x);
}

const round = (value: number, decimals: number): number => Number(value.toFixed(decimals));

function temperature(room: number): (seconds: number) => number | null {
  return (s) => {
    if (room === 2 && Math.floor(s / 3600) % 9 === 4) return null;
    const day = Math.sin((s / 86_400) * 2 * Math.PI + room);
    const spike = noise(Math.floor(s / 60) + room * 7919) > 0.9995 ? 6 : 0;
    return round(19 + room * 1.3 + 2.2 * day + noise(s + room) * 0.5 + spike, 2);
  };
}

/** Series enough to look at. */
export function madeSeries(extraCount: number): MadeSeries[] {
  const rooms = ["bedroom", "hall", "kitchen", "studio"];
  const out: MadeSeries[] = [];
  for (const [i, room] of rooms.entries()) {
    out.push({
      name: `temperature{device="th-${i + 1}",room="${room}"}`,
      kind: "float",
      unit: "°C",
      stepSeconds: 10,
      value: temperature(i),
    });
  }
  for (const [i, room] of rooms.slice(0, 2).entries()) {
    out.push({
      name: `humidity{device="th-${i + 1}",room="${room}"}`,
      kind: "float",
      unit: "%",
      stepSeconds: 60,
      value: (s) => round(48 + 9 * Math.sin(s / 20_000 + i) + noise(s + i) * 2, 1),
    });
  }
  out.push({
    name: 'mode{device="boiler"}',
    kind: "state",
    unit: null,
    stepSeconds: 600,
    value: (s) =>
      ["idle", "heating", "heating", "hot water"][Math.floor(noise(Math.floor(s / 1800)) * 4)] ?? null,
  });
  for (let i = 0; i < extraCount; i++) {
    out.push({
      name: `power_w{circuit="${String(i + 1).padStart(4, "0")}"}`,
      kind: "float",
      unit: "W",
      stepSeconds: 30,
      value: (s) => round(120 + 80 * noise(Math.floor(s / 300) + i), 0),
    });
  }
  return out.sort((a, b) => (a.name < b.name ? -1 : 1));
}

interface Query {
  select: string;
  from: string;
  to: string;
  step?: string;
  fn?: string[];
  limit?: number;
}

type Cell = number | boolean | string | null;

function readings(series: MadeSeries, from: bigint, to: bigint): (readonly [bigint, Cell])[] {
  const step = BigInt(series.stepSeconds) * SECOND;
  const rows: (readonly [bigint, Cell])[] = [];
  for (let t = ((from + step - 1n) / step) * step; t < to; t += step) {
    const value = series.value(Number(t / SECOND));
    const before = rows.at(-1)?.[1];
    if (value !== null || (before !== null && before !== undefined)) rows.push([t, value]);
  }
  return rows;
}

function aggregate(rows: readonly (readonly [bigint, Cell])[], fns: readonly string[]): Cell[] {
  const values = rows.map(([, value]) => value).filter((value) => value !== null);
  const numbers = values.map(Number).filter((value) => !Number.isNaN(value));
  const by: Record<string, () => Cell> = {
    count: () => values.length,
    min: () => (numbers.length > 0 ? Math.min(...numbers) : null),
    max: () => (numbers.length > 0 ? Math.max(...numbers) : null),
    mean: () => (numbers.length > 0 ? numbers.reduce((a, b) => a + b, 0) / numbers.length : null),
    first: () => values[0] ?? null,
    first_at: () => instant(rows.find(([, value]) => value !== null)),
    last: () => values.at(-1) ?? null,
    last_at: () => instant(rows.findLast(([, value]) => value !== null)),
    changes: () => values.filter((value, i) => i > 0 && value !== values[i - 1]).length,
  };
  return fns.map((fn) => by[fn]?.() ?? null);
}

const instant = (row: readonly [bigint, Cell] | undefined): Cell =>
  row === undefined ? null : String(row[0]);

function answerQuery(all: readonly MadeSeries[], query: Query): object {
  const series = all.find(({ name }) => name === query.select);
  const fns = query.fn ?? [];
  const columns = ["series", "t", ...(fns.length > 0 ? ["t_end", ...fns] : ["value"])].map((name) => ({
    name,
    type: "any",
  }));
  const stats = {
    blocks_read: 3,
    blocks_total: 2431,
    bytes_read: 3 * 4096,
    points_decoded: 100,
    subtrees_used: 5,
  };
  if (series === undefined) return { columns, rows: [], stats, next: null };
  const from = BigInt(query.from);
  const to = BigInt(query.to);
  const points = readings(series, from, to);
  const rows: Cell[][] = [];
  if (fns.length === 0) {
    const limit = query.limit ?? points.length;
    for (const [t, value] of points.slice(0, limit)) rows.push([series.name, String(t), value]);
    return { columns, rows, stats, next: points.length > limit ? "more" : null };
  }
  const step = query.step === undefined ? to - from : BigInt(query.step);
  let at = 0;
  for (let t = from - (query.step === undefined ? 0n : from % step); t < to; t += step) {
    const first = at;
    while (at < points.length && (points[at]?.[0] ?? to) < t + step) at += 1;
    if (at > first)
      rows.push([series.name, String(t), String(t + step), ...aggregate(points.slice(first, at), fns)]);
  }
  return { columns, rows, stats, next: null };
}

/** A running double. */
export class AgentDouble {
  readonly #server: Server;
  readonly #site: string;
  readonly #series: readonly MadeSeries[];

  private constructor(site: string, series: readonly MadeSeries[]) {
    this.#site = site;
    this.#series = series;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(site: string, extraCount = 5000, port = 0): Promise<AgentDouble> {
    const double = new AgentDouble(site, madeSeries(extraCount));
    await new Promise<void>((resolve) => double.#server.listen(port, "127.0.0.1", resolve));
    return double;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname.startsWith("/api/")) {
      const body = await bodyOf(request);
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(this.#api(url, body)));
      return;
    }
    const path = normalize(url.pathname.endsWith("/") ? `${url.pathname}index.html` : url.pathname);
    const bytes = await readFile(join(this.#site, path)).catch(() => null);
    response.writeHead(bytes === null ? 404 : 200, { "Content-Type": TYPES[extname(path)] ?? "text/plain" });
    response.end(bytes);
  }

  #api(url: URL, body: string): object {
    if (url.pathname === "/api/health") return { status: "ok" };
    if (url.pathname === "/api/query") return answerQuery(this.#series, JSON.parse(body) as Query);
    const words = (url.searchParams.get("search") ?? "").toLowerCase().split(/\s+/);
    const found = this.#series.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    const limit = Number(url.searchParams.get("limit") ?? 1000);
    const series = found.slice(0, limit).map(({ name, kind, unit }) => ({ name, kind, unit }));
    const end = BigInt(Date.now()) * 1_000_000n;
    return { series, total: found.length, begin: String(end - HISTORY), end: String(end) };
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
