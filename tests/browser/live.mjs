// Opens the page of a running agent without any choice in its address and watches it for a while.
//
// Task: { page, watched: metric whose readings must grow, screenshots: folder }
// Answer: { first: legend, later: legend after the watched metric has ten readings more, list: series counted
//   at first, grown: series counted later, range: the button that is pressed, loads: of the page, console: [...] }

import { join } from "node:path";
import { freshPage, launch, legend } from "./static_page.mjs";

const task = JSON.parse(process.argv[2]);
const answer = { loads: 0, console: [] };
const browser = await launch();
try {
  const page = await freshPage(browser, answer.console);
  page.on("load", () => { answer.loads += 1; });
  await page.goto(task.page);
  // A page that has seen little may choose otherwise at first.
  await page.waitForFunction(
    (metric) => [...document.querySelectorAll(".legend-pick")].some(({ title }) => title.startsWith(`${metric}{`)),
    task.watched,
    { timeout: 15_000 },
  );
  answer.first = await legend(page);
  answer.list = await counted(page);
  await page.screenshot({ path: join(task.screenshots, "live-first.png") });
  const before = answer.first.find(isWatched)?.readings ?? "0";
  const until = Date.now() + 15_000;
  do {
    await page.waitForTimeout(200);
    answer.later = await legend(page);
    answer.grown = await counted(page);
  } while (Date.now() < until && (answer.grown === answer.list
    || figure(answer.later.find(isWatched)?.readings ?? "0") < figure(before) + 10));
  await page.screenshot({ path: join(task.screenshots, "live-later.png") });
  answer.range = await page.locator(".presets button[aria-pressed=true]").textContent();
} finally {
  await browser.close();
}
console.log(JSON.stringify(answer));

function isWatched({ name }) {
  return name.startsWith(`${task.watched}{`);
}

function figure(text) {
  return Number(text.replace(/\s/g, ""));
}

/** How many series the list counts. */
async function counted(page) {
  return figure(/([\d\s]+) series/.exec(await page.locator(".picker-count").textContent())?.[1] ?? "0");
}
