// What the scripts of this folder share: a real Chromium, and the ways a person opens block files.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

// playwright-core is one of the dashboard's tools.
const web = fileURLToPath(new URL("../../web/package.json", import.meta.url));
const { chromium } = createRequire(web)("playwright-core");

/** The browser of this machine, headless. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** A fresh page of 1280 by 800 in UTC; what goes wrong in it is pushed to `complaints`. */
export async function freshPage(browser, complaints) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: "UTC" });
  const page = await context.newPage();
  page.on("console", (message) => {
    // A page without an agent asks once whether there is one. What is wanted while offline is noted
    // by its request, with the address.
    const asked = message.type() === "error"
      && (message.location().url.includes("/api/") || message.text().includes("ERR_INTERNET_DISCONNECTED"));
    if (["error", "warning"].includes(message.type()) && !asked) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return page;
}

/** Drops files on the page. */
export async function drop(page, paths) {
  const files = paths.map((path) => ({ name: basename(path), base64: readFileSync(path, "base64") }));
  const transfer = await page.evaluateHandle((list) => {
    const data = new DataTransfer();
    for (const { name, base64 } of list) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      data.items.add(new File([bytes], name));
    }
    return data;
  }, files);
  for (const kind of ["dragenter", "dragover", "drop"]) {
    await page.locator("body").dispatchEvent(kind, { dataTransfer: transfer });
  }
}

/** Chooses files in the file dialog. */
export async function pick(page, paths) {
  await page.locator("input[type=file]").first().setInputFiles(paths);
}

/** Types addresses and opens them. */
export async function typeAddresses(page, urls) {
  await page.getByLabel("Address of a segment").fill(urls.join(" "));
  await page.getByRole("button", { name: "Open", exact: true }).click();
}

/** Waits until the legend has `count` rows and the line below says what that cost. */
export async function waitForLegend(page, count) {
  try {
    await page.waitForFunction(
      (rows) => document.querySelectorAll("table.legend tbody tr").length === rows
        && / read/.test(document.querySelector(".footer .cost")?.textContent ?? ""),
      count,
      { timeout: 30_000 },
    );
  } catch (error) {
    throw new Error(`${error.message}\nthe page says:\n${await page.locator("body").innerText()}`);
  }
}

/** The legend: one object a row, by the heads of the table, with the series' canonical `name`. */
export function legend(page) {
  return page.locator("table.legend tbody tr").evaluateAll((lines) => lines.map((line) => {
    const heads = [...line.closest("table").querySelectorAll("th")].map((head) => head.textContent);
    const cells = [...line.children].map((cell) => cell.textContent);
    const entries = heads.map((head, at) => [head, cells[at]]).filter(([head]) => head !== "");
    // The first line of the tooltip.
    const name = line.querySelector(".legend-pick").title.split("\n")[0];
    return { ...Object.fromEntries(entries), name };
  }));
}
