// Colours of series, told apart in both themes, also by most colour-blind eyes (hue and lightness differ).

/** How many distinct series colours there are; further series start over. */
export const COLOUR_COUNT = 8;

/** The CSS variable of the n-th colour. */
export const colourVariable = (n: number): string => `--series-${(n % COLOUR_COUNT) + 1}`;

/** The n-th colour as it stands in the current theme. */
export function colourAt(n: number): string {
  return themed(colourVariable(n));
}

/** The value of a CSS variable in the current theme. */
export function themed(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
