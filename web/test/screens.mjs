// Looks at the built page in a real Chromium: screenshots of the first screen and of charts, in both themes.
//
//     npm run build && npm run screens [FOLDER]
//
// Uses CHROMIUM or the system's. Fails when the page writes errors to its console.

import { mkdir } from "node:fs/promises";
import { chromium } from "playwright-core";
import { createServer } from "vite";

const folder = process.argv[2] ?? "../artefacts/screens";
await mkdir(folder, { recursive: true });
// Vite's own loader runs the TypeScript of the double.
const vite = await createServer({
  server: { middlewareMode: true, ws: false, hmr: false },
  appType: "custom",
  logLevel: "error",
});
const { AgentDouble } = await vite.ssrLoadModule("/test/agent_double.ts");
const { RangeServer } = await vite.ssrLoadModule("/test/range_server.ts");
const agent = await AgentDouble.start("dist");
const site = await RangeServer.start("dist");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
const faults = [];

async function page(options, address) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
  const opened = await context.newPage();
  opened.on("console", (message) => {
    // A page from a plain folder asks once whether an agent serves it; that 404 is expected.
    if (message.type() === "error" && !message.location().url.endsWith("/api/health"))
      faults.push(message.text());
  });
  opened.on("pageerror", (error) => faults.push(String(error)));
  await opened.goto(address);
  return opened;
}

async function charts(options, hash, name, act = async () => undefined) {
  const opened = await page(options, `${agent.origin}/${hash}`);
  await opened.waitForSelector(".footer .cost:not(:empty)", { timeout: 15_000 });
  await act(opened);
  await opened.waitForTimeout(300);
  await opened.screenshot({ path: `${folder}/${name}.png` });
  await opened.context().close();
}

try {
  const start = await page({ colorScheme: "dark" }, `${site.origin}/`);
  await start.waitForSelector(".start-card");
  await start.screenshot({ path: `${folder}/start-dark.png` });
  await charts({ colorScheme: "dark", timezoneId: "Europe/Berlin" }, "", "hour-dark");
  await charts(
    { colorScheme: "dark", timezoneId: "Europe/Berlin" },
    "#r=last-86400",
    "day-dark",
    async (opened) => {
      const plot = await opened.locator(".u-over").first().boundingBox();
      await opened.mouse.move(plot.x + plot.width * 0.4, plot.y + plot.height * 0.5);
    },
  );
  await charts({ colorScheme: "light", timezoneId: "Europe/Berlin" }, "#r=last-86400", "day-light");
  await charts(
    { colorScheme: "light", timezoneId: "Europe/Berlin" },
    `#${new URLSearchParams([
      ["m", 'mode{device="boiler"}'],
      ["m", 'temperature{device="th-3",room="kitchen"}'],
      ["r", "last-86400"],
    ])}`,
    "states-light",
  );
  await charts({ colorScheme: "dark", viewport: { width: 390, height: 800 } }, "#r=last-21600", "phone-dark");
} finally {
  await browser.close();
  await agent.stop();
  await site.stop();
  await vite.close();
}
if (faults.length > 0) {
  process.stderr.write(`${faults.join("\n")}\n`);
  process.exit(1);
}
