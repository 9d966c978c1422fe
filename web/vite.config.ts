// The build: a static site that works from any folder of any server.

import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  worker: { format: "es" },
  build: {
    target: "es2022",
    // Small files must stay files: a data: URL is no 'self' for the policy in index.html.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // Other work may share the machine: a slow test is no failed test.
  test: { include: ["src/**/*.test.ts"], testTimeout: 30_000 },
});
