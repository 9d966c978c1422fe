import { describe, expect, test } from "vitest";
import { asSourceError, engineError, SourceError, sizeText } from "./errors.ts";

describe("what the engine throws", () => {
  const name = (device: number | null): string => (device === null ? "asked.silt" : `open-${device}.silt`);

  test.each([
    ["not-a-segment: bytes", "not-a-segment", "asked.silt is no Siltstone segment."],
    [
      "newer-format: format version 9",
      "newer-format",
      /asked\.silt can't be read by this version of the page: format version 9\./,
    ],
    ["truncated: short", "truncated", /asked\.silt is no Siltstone segment, or a copy that broke off/],
    ["unsealed: no footer", "unsealed", /siltstone seal/],
    ["bad-block@3: block 7: wrong checksum", "bad-block", "open-3.silt is damaged: block 7: wrong checksum."],
    ["bad-request: byte 4: no name", "bad-request", "byte 4: no name"],
    ["RuntimeError: unreachable", "internal", "The engine failed: RuntimeError: unreachable"],
  ] as const)("%s", (thrown, reason, message) => {
    const error = engineError(thrown, name);
    expect(error.reason).toBe(reason);
    if (typeof message === "string") expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
  });

  test("failures of reading pass through", () => {
    const error = new SourceError("offline", "off");
    expect(engineError(error, name)).toBe(error);
    expect(engineError(new DOMException("stop", "AbortError"), name).reason).toBe("cancelled");
  });
});

test("a failure survives being posted", () => {
  const error = new SourceError("no-range", "text", { wholeBytes: 5, at: 2 });
  expect(SourceError.from(structuredClone(error.plain()))).toEqual(error);
  expect(asSourceError("odd").reason).toBe("internal");
});

test.each([
  [999, "999 B"],
  [4096, "4.1 KB"],
  [999_700, "1.0 MB"],
  [10_000_000, "10 MB"],
] as const)("%d bytes are %s", (bytes, text) => expect(sizeText(bytes)).toBe(text));
