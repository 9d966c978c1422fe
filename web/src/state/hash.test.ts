import { expect, test } from "vitest";
import { formatHash, parseHash, type ViewState } from "./hash.ts";

const states: readonly ViewState[] = [
  { source: null, series: null, range: null, zone: "local" },
  { source: { kind: "agent" }, series: [], range: { kind: "last", spanSeconds: 3600 }, zone: "utc" },
  {
    source: { kind: "urls", urls: ["https://a.example/x y.silt?v=1&w=2#z", "http://b.example/"] },
    series: ['temp{room="Küche, \\"oben\\""}', '{"soil moisture",device="x&y=z"}'],
    range: { kind: "fixed", begin: -1n, end: 1_700_000_000_123_456_789n },
    zone: "local",
  },
  { source: { kind: "files" }, series: ["a"], range: { kind: "all" }, zone: "utc" },
];

test.each(states)("state %# survives the address", (state) => {
  expect(parseHash(formatHash(state))).toEqual(state);
});

test.each([
  "#r=5..4",
  "#r=last-0",
  "#r=last--5",
  "#r=1..2..3",
  "#r=99999999999999999999..5",
  "#src=elsewhere",
  "#url=javascript:alert(1)",
  "#url=file:///etc/passwd",
  "#%E0%A4%A",
])("%s asks for nothing", (hash) => {
  expect(parseHash(hash)).toEqual({ source: null, series: null, range: null, zone: "local" });
});
