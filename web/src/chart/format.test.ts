import { expect, test } from "vitest";
import { axisTexts, countText, figureText, valueText } from "./format.ts";

test.each([
  [0, "0"],
  [21.37, "21.37"],
  [-0.5, "−0.5"],
  [1234.5, "1234.5"],
  [1_234_567.25, "1\u202f234\u202f567.25"],
  [0.1 + 0.2, "0.3"],
  [1e21, "1e+21"],
  [2.5e-9, "2.5e−9"],
  [Number.POSITIVE_INFINITY, "∞"],
  [Number.NaN, "NaN"],
])("%d is %s", (value, text) => expect(valueText(value)).toBe(text));

test("an exact reading keeps its digits, a mean is cut", () => {
  expect(figureText(21.123456789, true)).toBe("21.123456789");
  expect(figureText(21.123456789, false)).toBe("21.12346");
  expect(figureText("9007199254740993", true)).toBe("9007199254740993");
  expect(figureText(null, true)).toBe("–");
  expect(countText(31_536_000)).toBe("31\u202f536\u202f000");
});

test("axis labels have the decimals their spacing needs", () => {
  expect(axisTexts([20, 20.5, 21])).toEqual(["20.0", "20.5", "21.0"]);
  expect(axisTexts([-50, 0, 50])).toEqual(["−50", "0", "50"]);
  expect(axisTexts([1e6, 1.5e6, 2e6])).toEqual(["1.0M", "1.5M", "2.0M"]);
  expect(axisTexts([0, 2.5, 5])).toEqual(["0.0", "2.5", "5.0"]);
  expect(axisTexts([0.25, 0.5, 0.75])).toEqual(["0.25", "0.50", "0.75"]);
  expect(axisTexts([0.1, 0.2, 0.30000000000000004])).toEqual(["0.1", "0.2", "0.3"]);
  expect(axisTexts([1e6, 1.25e6, 1.5e6])).toEqual(["1.00M", "1.25M", "1.50M"]);
  expect(axisTexts([7.25])).toEqual(["7.25"]);
  expect(axisTexts([])).toEqual([]);
});
