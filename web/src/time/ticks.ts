// Where a time axis puts its ticks and what it writes there, in a given zone.
//
// Ticks stand on round readings of the wall clock: midnights stay midnights across a change to or
// from daylight saving, when a day has 23 or 25 hours.

import { atHour, midnight, offsetMinutes, type Wall, wallAt, type Zone } from "./zone.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** One tick distance: a fixed time below a day, whole days, or months. */
type Step = { readonly kind: "ms" | "days" | "months"; readonly size: number; readonly ms: number };

const ms = (size: number): Step => ({ kind: "ms", size, ms: size });
const days = (size: number): Step => ({ kind: "days", size, ms: size * DAY });
const months = (size: number): Step => ({ kind: "months", size, ms: size * 30.44 * DAY });

const STEPS: readonly Step[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map(ms),
  ...[1, 2, 5, 10, 15, 30].map((n) => ms(n * SECOND)),
  ...[1, 2, 5, 10, 15, 30].map((n) => ms(n * MINUTE)),
  ...[1, 2, 3, 6, 12].map((n) => ms(n * HOUR)),
  ...[1, 2, 7, 14].map(days),
  ...[1, 2, 3, 6, 12, 24, 60, 120, 600, 1200].map(months),
];

const COARSEST = months(12_000);

/** A limit on ticks, whatever is asked. */
const TICKS_MAX = 200;

function chooseStep(minimumMs: number): Step {
  return STEPS.find((step) => step.ms >= minimumMs) ?? COARSEST;
}

function evenTicks(zone: Zone, begin: number, end: number, step: number): number[] {
  // Up to an hour apart: changes of the offset are whole multiples of the step, so even steps stay round.
  const offset = offsetMinutes(zone, begin) * MINUTE;
  const ticks: number[] = [];
  for (let i = Math.ceil((begin + offset) / step); ticks.length < TICKS_MAX; i++) {
    const at = i * step - offset;
    if (at > end) break;
    ticks.push(at);
  }
  return ticks;
}

function clockTicks(zone: Zone, begin: number, end: number, step: number): number[] {
  const ticks: number[] = [];
  const { year, month, day } = wallAt(zone, begin);
  const perDay = DAY / step;
  for (let i = 0; ticks.length < TICKS_MAX; i++) {
    const hour = ((i % perDay) * step) / HOUR;
    const at = atHour(zone, year, month, day + Math.floor(i / perDay), hour);
    if (at > end) break;
    if (at >= begin && at > (ticks.at(-1) ?? Number.NEGATIVE_INFINITY)) ticks.push(at);
  }
  return ticks;
}

function dayTicks(zone: Zone, begin: number, end: number, size: number): number[] {
  const ticks: number[] = [];
  const { year, month, day } = wallAt(zone, begin);
  // Count days from a fixed Monday, so that ticks don't move while the range does.
  const dayNumber = Math.floor(Date.UTC(year, month, day) / DAY);
  const into = (((dayNumber - 4) % size) + size) % size;
  for (let i = -into; ticks.length < TICKS_MAX; i += size) {
    const at = midnight(zone, year, month, day + i);
    if (at > end) break;
    if (at >= begin) ticks.push(at);
  }
  return ticks;
}

function monthTicks(zone: Zone, begin: number, end: number, size: number): number[] {
  const ticks: number[] = [];
  const { year, month } = wallAt(zone, begin);
  const number = year * 12 + month;
  for (let i = Math.floor(number / size) * size; ticks.length < TICKS_MAX; i += size) {
    const at = midnight(zone, Math.floor(i / 12), ((i % 12) + 12) % 12, 1);
    if (at > end) break;
    if (at >= begin) ticks.push(at);
  }
  return ticks;
}

/** The ticks in `[beginMs, endMs]`, none closer than `minimumMs`. */
export function ticks(zone: Zone, beginMs: number, endMs: number, minimumMs: number): number[] {
  if (!(beginMs < endMs) || !(minimumMs > 0)) return [];
  const step = chooseStep(minimumMs);
  if (step.kind === "days") return dayTicks(zone, beginMs, endMs, step.size);
  if (step.kind === "months") return monthTicks(zone, beginMs, endMs, step.size);
  const place = step.size <= HOUR ? evenTicks : clockTicks;
  return place(zone, beginMs, endMs, step.size);
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (n: number): string => String(n).padStart(2, "0");
const dayLabel = (w: Wall): string => `${w.day} ${MONTHS[w.month] ?? ""}`;

/** One label a tick; where a new day or year begins, a second line says which. */
export function tickLabels(zone: Zone, at: readonly number[]): string[] {
  const gap = at.length > 1 ? (at[1] ?? 0) - (at[0] ?? 0) : HOUR;
  let before: Wall | null = null;
  return at.map((tick) => {
    const w = wallAt(zone, tick);
    const newYear = before === null || before.year !== w.year;
    const newDay = newYear || before?.month !== w.month || before.day !== w.day;
    before = w;
    if (gap >= 27 * DAY) {
      if (gap >= 300 * DAY) return String(w.year);
      return newYear ? `${MONTHS[w.month]}\n${w.year}` : (MONTHS[w.month] ?? "");
    }
    if (gap >= 23 * HOUR) return newYear ? `${dayLabel(w)}\n${w.year}` : dayLabel(w);
    const minute = `${two(w.hour)}:${two(w.minute)}`;
    const clock = gap >= MINUTE ? minute : `${minute}:${two(w.second)}`;
    const fine = gap >= SECOND ? clock : `${clock}.${String(w.ms).padStart(3, "0")}`;
    return newDay ? `${fine}\n${dayLabel(w)}` : fine;
  });
}
