import { expect, test } from "vitest";
import { nameParts } from "./names.ts";

test.each([
  ["up", "up", []],
  [
    'temp{device="a",room="k"}',
    "temp",
    [
      ["device", "a"],
      ["room", "k"],
    ],
  ],
  ['{"soil moisture",device="x"}', "soil moisture", [["device", "x"]]],
  [
    'temp{"my tag"="a,b}c",z="q\\"\\\\"}',
    "temp",
    [
      ["my tag", "a,b}c"],
      ["z", 'q"\\'],
    ],
  ],
  ["temp{}", "temp", []],
] as const)("%s", (name, metric, tags) => {
  expect(nameParts(name)).toEqual({ metric, tags });
});

test.each(["temp{", 'temp{a="b', 'temp{a="b"}x', "temp{a=b}", 'temp{="b"}', 'temp{a="b"c="d"}'])(
  "%s is shown as it stands",
  (name) => expect(nameParts(name)).toEqual({ metric: name, tags: [] }),
);
