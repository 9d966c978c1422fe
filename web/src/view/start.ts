// The first screen where no agent serves the page: drop files, choose files, paste an address.

import { isWebAddress } from "../state/hash.ts";
import { el } from "./dom.ts";
import markUrl from "./mark.svg?inline";

/** What the first screen tells its owner. */
export interface StartEvents {
  files(files: readonly File[]): void;
  urls(urls: readonly string[]): void;
}

/** A control that opens the file dialog. */
export function fileChooser(
  label: string,
  className: string,
  chosen: (files: readonly File[]) => void,
): HTMLElement {
  const input = el("input", { type: "file", multiple: true, accept: ".silt", hidden: true });
  input.onchange = () => {
    chosen([...(input.files ?? [])]);
    input.value = "";
  };
  const open = el("button", { type: "button", textContent: label, className, onclick: () => input.click() });
  return el("span", {}, open, input);
}

/** A form for addresses, several separated by blanks. */
export function addressForm(opened: (urls: readonly string[]) => void): HTMLFormElement {
  const input = el("input", {
    type: "text",
    inputMode: "url",
    name: "url",
    placeholder: "https://… .silt",
    spellcheck: false,
    autocomplete: "off",
  });
  input.setAttribute("aria-label", "Address of a segment");
  const form = el(
    "form",
    { className: "address" },
    input,
    el("button", { type: "submit", textContent: "Open" }),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    const words = input.value.split(/\s+/).filter((word) => word !== "");
    const wrong = words.find((word) => !isWebAddress(absolute(word)));
    input.setCustomValidity(wrong === undefined ? "" : `${wrong} is no http or https address.`);
    if (!input.reportValidity() || words.length === 0) return;
    opened(words.map(absolute));
  };
  input.oninput = () => input.setCustomValidity("");
  return form;
}

/** An address beside this page may be given relative to it. */
function absolute(word: string): string {
  try {
    return new URL(word, location.href).href;
  } catch {
    return word;
  }
}

/** The whole screen. */
export function startScreen(events: StartEvents, messages: HTMLElement): HTMLElement {
  const mark = el("img", { src: markUrl, alt: "", width: 56, height: 56 });
  return el(
    "main",
    { className: "start" },
    el(
      "section",
      { className: "start-card" },
      mark,
      el("h1", { textContent: "Open block files" }),
      el("p", {
        className: "dim",
        textContent:
          "Charts from Siltstone segments (.silt), read here in the browser. Files stay on this computer; of an address only the blocks a chart needs are fetched.",
      }),
      el(
        "div",
        { className: "drop-zone" },
        el("strong", { textContent: "Drop files or a folder here" }),
        el("span", { className: "dim", textContent: "several together become one set of series" }),
        fileChooser("Choose files…", "primary", events.files),
      ),
      el("div", { className: "or", textContent: "or paste an address" }),
      addressForm(events.urls),
      messages,
    ),
  );
}
