import { describe, expect, test } from "vitest";
import { nameParts } from "../source/names.ts";
import type { ValueKind } from "../source/source.ts";
import { type Glance, interest, liveliest, sampled } from "./interest.ts";

/** What a series of these values, one a second, would sum up to. */
function glance(name: string, values: readonly number[], kind: ValueKind = "float"): Glance {
  return {
    info: { name, ...nameParts(name), kind, unit: null },
    count: values.length,
    min: Math.min(...values),
    max: Math.max(...values),
    mean: values.reduce((a, b) => a + b, 0) / values.length,
    first: values[0] ?? Number.NaN,
    last: values.at(-1) ?? Number.NaN,
    changes: values.filter((value, i) => i > 0 && value !== values[i - 1]).length,
    firstAt: 0n,
    lastAt: BigInt(values.length - 1) * 1_000_000_000n,
  };
}

const seconds = Array.from({ length: 60 }, (_, i) => i);
const constant = seconds.map(() => 230);
const wave = seconds.map((s) => 20 + 8 * Math.sin(s / 5));
const ripple = seconds.map((s) => 20 + 0.1 * Math.sin(s / 5));
const counter = seconds.map((s) => 100 + s);
const judge = (glances: readonly Glance[]) => glances.map((one) => ({ glance: one, worth: interest(one) }));
const names = (glances: readonly Glance[]) => glances.map(({ info }) => info.name);

describe("interest", () => {
  test("what does not move has none, nor what has hardly been seen", () => {
    expect(interest(glance("a", constant))).toBe(0);
    expect(interest(glance("a", [1, 2]))).toBe(0);
    expect(interest(glance("a", [Number.NaN, Number.NaN, Number.NaN]))).toBe(0);
    expect(interest(glance("a", [0, 0, 0], "boolean"))).toBe(0);
    expect(interest({ ...glance("a", [0, 0, 0], "state"), min: Number.NaN, max: Number.NaN })).toBe(0);
    expect(interest(glance("a", [0, 1, Number.POSITIVE_INFINITY]))).toBe(0);
  });

  test("a wide swing beats a ripple, back and forth beats a ramp, a number beats a switch", () => {
    const worth = (values: readonly number[], kind?: ValueKind) => interest(glance("a", values, kind));
    expect(worth(wave)).toBeGreaterThan(worth(ripple));
    expect(worth(wave)).toBeGreaterThan(worth(counter));
    expect(
      worth(
        wave.map((v) => (v > 20 ? 1 : 0)),
        "boolean",
      ),
    ).toBeLessThan(worth(wave));
    expect(worth(wave)).toBeGreaterThan(worth([...constant, 460]));
    for (const values of [wave, ripple, counter]) {
      expect(worth(values)).toBeGreaterThan(0);
      expect(worth(values)).toBeLessThanOrEqual(1);
    }
  });

  test("few readings in view count less", () => {
    expect(interest(glance("a", wave), 4)).toBeLessThan(interest(glance("a", wave)));
  });
});

describe("the choice", () => {
  test("leaves out what stands still, however early its name", () => {
    const all = [glance('aaa{device="x"}', constant), glance('power{device="x"}', wave)];
    expect(names(liveliest(judge(all), 3, 4))).toEqual(['power{device="x"}']);
    expect(liveliest(judge([glance("aaa", constant)]), 3, 4)).toEqual([]);
  });

  test("puts series of one metric together, at most so many", () => {
    const all = ["c", "a", "d", "b", "e"].map((room) => glance(`t{room="${room}"}`, wave));
    expect(names(liveliest(judge(all), 3, 4))).toEqual(
      ["a", "b", "c", "d"].map((room) => `t{room="${room}"}`),
    );
  });

  test("spreads over devices", () => {
    const strong = wave.map((v) => v * 2 - 20);
    const all = [
      ...["current", "power", "factor"].map((metric) => glance(`${metric}{device="plug"}`, strong)),
      glance('temperature{device="attic"}', wave),
    ];
    const chosen = names(liveliest(judge(all), 2, 4));
    expect(chosen).toContain('temperature{device="attic"}');
    expect(chosen).toHaveLength(2);
  });

  test("does not depend on the order of what moves alike beyond the order given", () => {
    const all = ["p", "q", "r", "s"].map((metric) => glance(metric, wave));
    expect(names(liveliest(judge(all), 2, 4))).toEqual(names(liveliest(judge(all), 2, 4)));
    expect(names(liveliest(judge(all), 2, 4))).toEqual(["p", "q"]);
  });
});

describe("samples", () => {
  const info = (name: string) => glance(name, wave).info;
  const many = [
    ...Array.from({ length: 1000 }, (_, i) => info(`power{n="${i}"}`)),
    info("temperature"),
    info("x"),
  ];

  test("have every metric and no more than asked for", () => {
    const some = sampled(many, 48);
    expect(some.length).toBeLessThanOrEqual(48);
    expect(new Set(some.map(({ metric }) => metric))).toEqual(new Set(["power", "temperature", "x"]));
    expect(new Set(some).size).toBe(some.length);
    // From all over the metric, not from its begin.
    expect(some.some(({ name }) => Number(/\d+/.exec(name)?.[0]) > 900)).toBe(true);
  });

  test("are everything where that is little, and bounded with more metrics than places", () => {
    expect(sampled(many.slice(0, 5), 48)).toEqual(many.slice(0, 5));
    const metrics = Array.from({ length: 333 }, (_, i) => info(`m${i}`));
    expect(sampled(metrics, 48)).toHaveLength(48);
  });
});
