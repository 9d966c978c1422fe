// Opens block files in the static page three ways and says what its legend shows.
//
// Task (first argument, JSON): { page: address of the static page, files: [paths], urls: [addresses of
//   the same files], series: [canonical names], screenshots: folder }
// Answer (last line, JSON): { drop, picker, url: { shown: [{name, last, min, mean, max, readings}],
//   cost: text }, requests: [wanted and not there while offline], strangers: [fetched from other hosts], console: [...] }

import { join } from "node:path";
import { drop, freshPage, launch, legend, pick, typeAddresses, waitForLegend } from "./static_page.mjs";

const task = JSON.parse(process.argv[2]);
const origin = new URL(task.page).origin;
const answer = { requests: [], strangers: [], console: [] };
const isWeb = (url) => !/^(data|blob):/.test(url);

const browser = await launch();
try {
  answer.drop = await view("drop", async (page) => {
    await goOffline(page);
    await drop(page, task.files);
  });
  answer.picker = await view("picker", async (page) => {
    await goOffline(page);
    await pick(page, task.files);
  });
  answer.url = await view("url", (page) => typeAddresses(page, task.urls));
} finally {
  await browser.close();
}
console.log(JSON.stringify(answer));

/** One fresh page: opens the files with `open`, waits for the legend, keeps a screenshot. */
async function view(name, open) {
  const page = await freshPage(browser, answer.console);
  page.on("request", (request) => {
    if (isWeb(request.url()) && new URL(request.url()).origin !== origin) answer.strangers.push(request.url());
  });
  const wanted = task.series.map((series) => `m=${encodeURIComponent(series)}`).join("&");
  await page.goto(`${task.page}#${wanted}&r=all&z=utc`);
  await page.locator(".drop-zone").waitFor();
  try {
    await open(page);
    await waitForLegend(page, task.series.length);
    // Away from the legend, so that the screenshot stresses no row.
    await page.mouse.move(0, 0);
    return { shown: await legend(page), cost: await page.locator(".footer .cost").textContent() };
  } finally {
    await page.screenshot({ path: join(task.screenshots, `offline-${name}.png`) });
    await page.context().close();
  }
}

/** No network from here on; what the page wants of it all the same, and does not have, is noted. */
async function goOffline(page) {
  await page.waitForLoadState("networkidle");
  await page.context().setOffline(true);
  // The browser itself, not the page, looks for the icon again when the address changes.
  const icon = await page.locator("link[rel=icon]").evaluate((link) => link.href);
  page.on("requestfailed", (request) => {
    if (request.url() !== icon) answer.requests.push(request.url());
  });
}
