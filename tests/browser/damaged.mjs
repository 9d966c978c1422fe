// Drops good files and one that is none on the static page.
//
// Task: { page, files: [paths], series: one canonical name, screenshots: folder }
// Answer: { rows: rows of the legend, messages: what the page says, errors: [...] }

import { join } from "node:path";
import { drop, freshPage, launch, legend, waitForLegend } from "./static_page.mjs";

const task = JSON.parse(process.argv[2]);
const answer = { errors: [] };
const browser = await launch();
try {
  const page = await freshPage(browser, answer.errors);
  await page.goto(`${task.page}#m=${encodeURIComponent(task.series)}&r=all&z=utc`);
  await page.locator(".drop-zone").waitFor();
  await drop(page, task.files);
  await waitForLegend(page, 1);
  answer.rows = (await legend(page)).length;
  answer.messages = await page.locator(".messages").first().innerText();
  await page.screenshot({ path: join(task.screenshots, "damaged.png") });
} finally {
  await browser.close();
}
console.log(JSON.stringify(answer));
