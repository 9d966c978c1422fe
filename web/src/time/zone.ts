// Wall clocks of the two zones the page offers: the computer's own, and UTC.
//
// Both are read through Date's own getters, which know every daylight-saving change; uPlot's tzDate
// does not (it is wrong for hours around a change when the computer's zone has one), so it is unused.

/** Which wall clock labels are drawn with. */
export type Zone = "local" | "utc";

/** A wall-clock reading; `month` counts from 0. */
export interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly ms: number;
}

/** What the clock on the wall shows at `ms`. */
export function wallAt(zone: Zone, ms: number): Wall {
  const date = new Date(ms);
  return zone === "utc"
    ? {
        year: date.getUTCFullYear(),
        month: date.getUTCMonth(),
        day: date.getUTCDate(),
        hour: date.getUTCHours(),
        minute: date.getUTCMinutes(),
        second: date.getUTCSeconds(),
        ms: date.getUTCMilliseconds(),
      }
    : {
        year: date.getFullYear(),
        month: date.getMonth(),
        day: date.getDate(),
        hour: date.getHours(),
        minute: date.getMinutes(),
        second: date.getSeconds(),
        ms: date.getMilliseconds(),
      };
}

/** The instant at which the wall shows midnight of that day (days and months may overflow). */
export function midnight(zone: Zone, year: number, month: number, day: number): number {
  if (zone === "utc") return Date.UTC(year, month, day);
  return new Date(year, month, day).getTime();
}

/** The instant at which the wall shows that full hour; an hour that is skipped gives the one behind it. */
export function atHour(zone: Zone, year: number, month: number, day: number, hour: number): number {
  if (zone === "utc") return Date.UTC(year, month, day, hour);
  return new Date(year, month, day, hour).getTime();
}

/** Minutes that the wall is ahead of UTC at `ms`. */
export function offsetMinutes(zone: Zone, ms: number): number {
  return zone === "utc" ? 0 : -new Date(ms).getTimezoneOffset();
}

/** `UTC`, `UTC+02:00`, `UTC-03:30`. */
export function offsetLabel(zone: Zone, ms: number): string {
  const offset = offsetMinutes(zone, ms);
  if (offset === 0) return "UTC";
  const absolute = Math.abs(offset);
  const hours = String(Math.floor(absolute / 60)).padStart(2, "0");
  const minutes = String(Math.round(absolute % 60)).padStart(2, "0");
  return `UTC${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
}

/** The offsets in force in a range: one, or both around a change. */
export function rangeOffsetLabel(zone: Zone, beginMs: number, endMs: number): string {
  const first = offsetLabel(zone, beginMs);
  const last = offsetLabel(zone, endMs);
  return first === last ? first : `${first} → ${last}`;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** `2026-03-29 14:05:00`, with as many parts of the second as `stepMs` asks for. */
export function stamp(zone: Zone, ms: number, stepMs = 1000): string {
  const w = wallAt(zone, ms);
  const day = `${w.year}-${two(w.month + 1)}-${two(w.day)}`;
  const minute = `${day} ${two(w.hour)}:${two(w.minute)}`;
  if (stepMs >= 60_000 && w.second === 0) return minute;
  const second = `${minute}:${two(w.second)}`;
  return stepMs >= 1000 ? second : `${second}.${String(w.ms).padStart(3, "0")}`;
}
