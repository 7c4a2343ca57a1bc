/**
 * Pictures of every chart in `gallery.html`, in both themes and at two widths, into `shots/gallery`; with `--serve`
 * only the server, to look at it by hand. Ends with an error where the page logs one.
 *
 * Absent on purpose: comparing pictures. They are for eyes.
 */
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";
import { CHROMIUM, MISSING, launch } from "./chromium.mjs";

const ui = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const only = process.argv.slice(2).filter((name) => !name.startsWith("--"));

const server = await createServer({
  root: ui,
  configFile: false,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { host: "127.0.0.1", port: 0 },
});
await server.listen();
const url = `${server.resolvedUrls.local[0]}gallery.html`;
if (process.argv.includes("--serve")) {
  console.log(url);
} else if (!CHROMIUM) {
  console.log(`no pictures: ${MISSING}`);
  await server.close();
} else {
  await pictures();
  await server.close();
}

async function pictures() {
  const to = join(ui, "shots/gallery");
  mkdirSync(to, { recursive: true });
  const browser = await launch();
  let failures = 0;
  const views = [
    ["light", 1280, "en"],
    ["dark", 1280, "en"],
    ["light", 360, "en"],
    ["dark", 360, "zh"],
  ];
  for (const [theme, width, lang] of views) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const failed = (text) => {
      failures += 1;
      console.error(`${theme} ${width}: ${text}`);
    };
    page.on("pageerror", (error) => failed(error.stack ?? error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") failed(message.text());
    });
    await page.goto(`${url}?theme=${theme}&lang=${lang}`, { waitUntil: "load" });
    await page.waitForSelector("section#live svg");
    // Asking for the options draws every chart.
    const drawn = await page.evaluate(() =>
      [...document.querySelectorAll("[data-chart]")].map((element) => [
        element.dataset.chart,
        element.__pronyOption ? (element.__pronyOption().series?.length ?? 0) : -1,
      ]),
    );
    for (const [name, series] of drawn) if (series === 0) failed(`${name} has no series`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) failed(`the page is ${wide} pixels wide`);
    for (const section of await page.$$("section")) {
      const id = await section.getAttribute("id");
      if (only.length && !only.includes(id)) continue;
      await section.screenshot({ path: join(to, `${id}-${theme}-${width}.png`) });
    }
    await page.close();
  }
  await browser.close();
  console.log(`${failures} failures; pictures in ${to}`);
  process.exitCode = failures ? 1 : 0;
}
