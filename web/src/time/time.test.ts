import { afterEach, describe, expect, test } from "vitest";
import { msFromNanos, NANOS_MAX, NANOS_MIN, nanosFromMs, parseNanos } from "./nanos.ts";
import { bucketStep, moved, resolve, scaled } from "./range.ts";
import { tickLabels, ticks } from "./ticks.ts";
import { offsetLabel, stamp, wallAt } from "./zone.ts";

const HOUR = 3_600_000;
const home = process.env.TZ;
afterEach(() => {
  if (home === undefined) delete process.env.TZ;
  else process.env.TZ = home;
});

test("nanoseconds go to milliseconds and back", () => {
  for (const nanos of [0n, 1n, -1n, 1_700_000_000_123_456_789n, -1_500_000n]) {
    const back = nanosFromMs(msFromNanos(nanos));
    const error = back > nanos ? back - nanos : nanos - back;
    // A double of today's milliseconds resolves a quarter of a microsecond.
    expect(error).toBeLessThan(250n);
  }
  expect(parseNanos(String(NANOS_MAX))).toBe(NANOS_MAX);
  expect(parseNanos(String(NANOS_MIN))).toBe(NANOS_MIN);
  for (const wrong of ["", "1.5", "9223372036854775808", "12n", " 1", "99999999999999999999"]) {
    expect(parseNanos(wrong)).toBeNull();
  }
});

describe("ticks", () => {
  test.each(["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "UTC"])(
    "in %s they stand on round wall clocks around every change of 2025",
    (zone) => {
      process.env.TZ = zone;
      for (let begin = Date.UTC(2025, 0, 1); begin < Date.UTC(2026, 0, 1); begin += 24 * HOUR) {
        for (const kind of ["local", "utc"] as const) {
          const at = ticks(kind, begin, begin + 30 * HOUR, 2 * HOUR);
          expect(at.length).toBeGreaterThanOrEqual(12);
          const wrong = at.filter((tick, i) => {
            const wall = wallAt(kind, tick);
            // Only an hour that doesn't exist may be given by the one behind it.
            const round = wall.hour % 2 === 0 || wall.hour === 3;
            const rest = [wall.minute % 30, wall.second, wall.ms].every((part) => part === 0);
            return !round || !rest || (i > 0 && tick <= (at[i - 1] ?? 0));
          });
          expect(wrong).toEqual([]);
        }
      }
    },
  );

  test("days are midnights, also when a day has 23 or 25 hours", () => {
    process.env.TZ = "Europe/Paris";
    const at = ticks("local", Date.UTC(2025, 2, 25), Date.UTC(2025, 3, 5), 24 * HOUR);
    expect(at).toHaveLength(11);
    for (const tick of at) expect(wallAt("local", tick).hour).toBe(0);
    expect(new Set(at.slice(1).map((tick, i) => tick - (at[i] ?? 0)))).toEqual(
      new Set([24 * HOUR, 23 * HOUR]),
    );
  });

  test("minutes, months and years", () => {
    const minutes = ticks("utc", 1000, 10 * 60_000, 50_000);
    expect(minutes.slice(0, 2)).toEqual([60_000, 120_000]);
    const months = ticks("utc", Date.UTC(2025, 0, 10), Date.UTC(2026, 5, 1), 28 * 24 * HOUR);
    expect(months.every((tick) => wallAt("utc", tick).day === 1)).toBe(true);
    expect(months).toHaveLength(17);
    const years = ticks("utc", Date.UTC(1990, 5), Date.UTC(2026, 5), 300 * 24 * HOUR);
    expect(tickLabels("utc", years).at(-1)).toBe("2026");
  });

  test("no range gives too many or never ends", () => {
    expect(ticks("utc", 0, Date.UTC(2200, 0), 1).length).toBeLessThanOrEqual(200);
    expect(ticks("utc", 5, 5, 1)).toEqual([]);
    expect(ticks("utc", 0, 10, 0)).toEqual([]);
  });

  test("the day is said once", () => {
    const at = ticks("utc", Date.UTC(2025, 0, 1, 20), Date.UTC(2025, 0, 2, 4), 2 * HOUR);
    expect(tickLabels("utc", at)).toEqual(["20:00\n1 Jan", "22:00", "00:00\n2 Jan", "02:00", "04:00"]);
  });
});

test("the offset is that of the moment, not of today", () => {
  process.env.TZ = "Europe/Paris";
  expect(offsetLabel("local", Date.UTC(2025, 0, 1))).toBe("UTC+01:00");
  expect(offsetLabel("local", Date.UTC(2025, 6, 1))).toBe("UTC+02:00");
  expect(offsetLabel("utc", Date.UTC(2025, 6, 1))).toBe("UTC");
  process.env.TZ = "America/St_Johns";
  expect(offsetLabel("local", Date.UTC(2025, 0, 1))).toBe("UTC-03:30");
  expect(stamp("utc", Date.UTC(2025, 2, 30, 1, 2, 3, 45), 1)).toBe("2025-03-30 01:02:03.045");
});

describe("ranges", () => {
  const data = { begin: 1_000_000_000_000n, end: 9_000_000_000_000n };

  test("the last hour ends with the newest reading", () => {
    const last = resolve({ kind: "last", spanSeconds: 60 }, data, data.end);
    expect(last).toEqual({ begin: data.end - 60_000_000_000n, end: data.end });
    expect(resolve({ kind: "all" }, data, 0n)).toEqual(data);
  });

  test("zooming out and in again, moving there and back, change nothing", () => {
    expect(scaled(scaled(data, 2), 0.5)).toEqual(data);
    expect(moved(moved(data, 0.5), -0.5)).toEqual(data);
  });

  test("never more buckets than pixels, and round ones", () => {
    for (const [spanSeconds, pixels, stepSeconds] of [
      [3600, 1000, 5],
      [86_400, 1000, 120],
      [31_536_000, 1000, 43_200],
      [3e9, 1000, 3_024_000],
    ] as const) {
      const step = bucketStep({ begin: 0n, end: BigInt(spanSeconds) * 1_000_000_000n }, pixels);
      expect(Number(step) / 1e9).toBe(stepSeconds);
      expect(spanSeconds / (Number(step) / 1e9)).toBeLessThanOrEqual(pixels);
    }
  });
});
