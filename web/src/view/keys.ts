// The keyboard: what keys do anywhere on the page, and the card that lists them.

import type { Zone } from "../time/zone.ts";
import { el } from "./dom.ts";
import { showDialog } from "./toolbar.ts";

/** What keys can ask for. */
export interface KeyEvents {
  search(): void;
  back(): void;
  scale(factor: number): void;
  move(fraction: number): void;
  zone(zone?: Zone): void;
  help(): void;
}

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "search series; Enter shows the first, ↓ goes to the list"],
  ["← →", "earlier, later"],
  ["+ −", "zoom in, out"],
  ["Backspace", "range before"],
  ["u", "local time or UTC"],
  ["drag", "zoom to what is dragged over; double click goes back"],
  ["Esc", "close, leave the search"],
];

/** Listens on the whole page; keys typed into fields are left alone. */
export function bindKeys(events: KeyEvents): void {
  const actions: Record<string, () => void> = {
    "/": () => events.search(),
    "+": () => events.scale(0.5),
    "=": () => events.scale(0.5),
    "-": () => events.scale(2),
    ArrowLeft: () => events.move(-0.25),
    ArrowRight: () => events.move(0.25),
    Backspace: () => events.back(),
    u: () => events.zone(),
    "?": () => events.help(),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof HTMLInputElement || document.querySelector("dialog[open]") !== null) return;
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

/** The card with all keys. */
export function showKeys(): void {
  const rows = KEYS.map(([key, text]) =>
    el("tr", {}, el("th", {}, el("kbd", { textContent: key })), el("td", { textContent: text })),
  );
  showDialog(
    el(
      "dialog",
      { className: "dialog" },
      el("h2", { textContent: "Keys" }),
      el("table", { className: "keys" }, ...rows),
    ),
  );
}
