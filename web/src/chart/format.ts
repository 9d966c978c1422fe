// Numbers as a person reads them: exact where they are readings, short where they label an axis.

import type { Figure } from "./curve.ts";

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const THIN_SPACE = "\u202f";

/** A count: `31 536 000`. */
export function countText(count: number): string {
  return GROUPED.format(count).replaceAll(",", THIN_SPACE);
}

/** A value with at most `digits` significant digits. */
export function valueText(value: number, digits = 12): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) {
    return value
      .toExponential(Math.min(6, digits - 1))
      .replace(/\.?0+e/, "e")
      .replace("-", "−");
  }
  const short = String(Number(value.toPrecision(digits)));
  const [whole = "", fraction] = short.split(".");
  const grouped = size >= 10_000 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN_SPACE) : whole;
  return (fraction === undefined ? grouped : `${grouped}.${fraction}`).replace("-", "−");
}

/** A reading (`exact`) or a mean, as a cell of the legend. */
export function figureText(figure: Figure, exact: boolean): string {
  if (figure === null) return "–";
  if (typeof figure === "string") return figure;
  return valueText(figure, exact ? 12 : 7);
}

/** Labels of evenly spaced axis ticks: all with the decimals that the spacing needs. */
export function axisTexts(values: readonly number[]): string[] {
  const step = Math.abs((values[1] ?? 0) - (values[0] ?? 0));
  const size = Math.max(...values.map(Math.abs), 0);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return values.map((value) => prefixed(value, size, step));
  const decimals = step > 0 ? decimalsOf(step) : 2;
  return values.map((value) => value.toFixed(decimals).replace("-", "−"));
}

const AXIS_DECIMALS_MAX = 8;

/** The decimals that write `step` in full: 2 for 0.25, though its size asks for 1. */
function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < AXIS_DECIMALS_MAX; decimals++) {
    const scaled = step * 10 ** decimals;
    if (scaled > 0.5 && Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return decimals;
  }
  return AXIS_DECIMALS_MAX;
}

const PREFIXES: readonly (readonly [number, string])[] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

function prefixed(value: number, size: number, step: number): string {
  const prefix = PREFIXES.find(([unit]) => size >= unit);
  if (prefix === undefined || size >= 1e15)
    return value === 0 ? "0" : value.toExponential(2).replace("-", "−");
  const [unit, letter] = prefix;
  const decimals = step > 0 ? Math.min(6, decimalsOf(step / unit)) : 2;
  return `${(value / unit).toFixed(decimals).replace("-", "−")}${letter}`;
}
