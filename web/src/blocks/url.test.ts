import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RangeServer } from "../../test/range_server.ts";
import { BLOCK_BYTES } from "./device.ts";
import { download, UrlDevice } from "./url.ts";

const FILE = Uint8Array.from({ length: 10 * BLOCK_BYTES }, (_, i) => (i * 7 + (i >> 8)) & 255);
const signal = new AbortController().signal;
let server: RangeServer;

beforeAll(async () => {
  server = await RangeServer.start(
    new Map([
      ["/a.silt", FILE],
      ["/tiny.silt", FILE.subarray(0, 100)],
      ["/empty.silt", FILE.subarray(0, 0)],
    ]),
  );
});
afterAll(() => server.stop());
beforeEach(() => {
  server.faults = {};
  server.seen.length = 0;
});

const open = (path = "/a.silt"): Promise<UrlDevice> => UrlDevice.open(`${server.origin}${path}`, signal);

describe("UrlDevice", () => {
  test("opens with one request for the first block and learns the length from its answer", async () => {
    const device = await open();
    expect(server.seen).toEqual([{ method: "GET", path: "/a.silt", range: "bytes=0-4095" }]);
    expect([device.sizeBytes, device.name]).toEqual([FILE.length, "a.silt"]);
    expect(device.firstBlock).toEqual(FILE.slice(0, BLOCK_BYTES));
  });

  test("reads exactly the range that was asked for", async () => {
    const device = await open();
    expect(await device.read(8192, 4096, signal)).toEqual(FILE.slice(8192, 12_288));
    expect(server.seen[1]?.range).toBe("bytes=8192-12287");
  });

  test("a file shorter than a block opens; what is wrong with it is for the engine to say", async () => {
    expect((await open("/tiny.silt")).sizeBytes).toBe(100);
  });

  test.each([
    [{ status: 404 }, "not-found", /no a\.silt on the server/],
    [{ status: 403 }, "refused", /doesn't allow reading a\.silt \(403\)/],
    [{ status: 503 }, "server", /failed on a\.silt \(503\)/],
    [{ encoding: "br" }, "encoded", /compresses its answers \(Content-Encoding: br\)/],
    [{ noRange: true }, "no-range", /no Range support\); the whole file is 41 KB/],
  ] as const)("with %o the cause is %s", async (faults, reason, message) => {
    server.faults = faults;
    await expect(open()).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
  });

  test("an answer of the wrong length is refused", async () => {
    const device = await open();
    server.faults = { short: true };
    await expect(device.read(4096, 4096, signal)).rejects.toMatchObject({ reason: "wrong-length" });
  });

  test("an empty file has no first block to read", async () => {
    await expect(open("/empty.silt")).rejects.toMatchObject({ reason: "not-satisfiable" });
  });

  test("a file that was replaced is noticed by its ETag", async () => {
    const device = await open();
    server.faults = { version: "2" };
    await expect(device.read(4096, 4096, signal)).rejects.toMatchObject({ reason: "changed" });
  });

  test("a server that hides Content-Range across origins is told what to send", async () => {
    // What a browser shows of an answer whose headers are not exposed.
    const hidden = async (): Promise<Response> => new Response(FILE.slice(0, 4096), { status: 206 });
    const opened = UrlDevice.open(`${server.origin}/a.silt`, signal, hidden);
    await expect(opened).rejects.toMatchObject({
      reason: "cross-origin",
      message: expect.stringMatching(/Expose/),
    });
  });

  test("no answer at all is a refusal or a dead server", async () => {
    const dead = UrlDevice.open("http://127.0.0.1:9/a.silt", signal);
    await expect(dead).rejects.toMatchObject({ reason: "cross-origin" });
  });

  test("stopping is no failure of the server", async () => {
    server.faults = { delayMs: 50 };
    const controller = new AbortController();
    const opened = UrlDevice.open(`${server.origin}/a.silt`, controller.signal);
    setTimeout(() => controller.abort(), 5);
    await expect(opened).rejects.toMatchObject({ reason: "cancelled" });
  });

  test("the whole file can be downloaded instead", async () => {
    server.faults = { noRange: true };
    const device = await download(`${server.origin}/a.silt`, signal);
    expect(await device.read(4096, 4096, signal)).toEqual(FILE.slice(4096, 8192));
  });
});
