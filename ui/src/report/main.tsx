/**
 * The report page: reads the data that the binary put into the file and draws it.
 *
 * Invariants: no request leaves this page; data that cannot be read is said to be so, with its remedy.
 */
import "../theme.css";
import { render } from "preact";
import { useState } from "preact/hooks";
import type { PageFile } from "../schema/page";
import { watchChildren } from "../jsx/guard";
import { remember, remembered, startTheme } from "../theme";
import { cleanAll } from "../ui/clean";
import { startPrinting } from "../ui/lazy";
import { type Lang, WORDS, langOf } from "../words";
import { Report } from "./report";

const LANG_KEY = "prony-lang";

/** The data between the marks, or why there is none. */
function readPage(): PageFile | string {
  const text = document.getElementById("prony-page")?.textContent ?? "";
  try {
    const page = JSON.parse(text) as PageFile;
    if (page.schema !== "prony.page/3")
      return `its format is ${JSON.stringify(page.schema)}, not "prony.page/3"`;
    return cleanAll(page);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function App({ page }: { page: PageFile }) {
  const [lang, set] = useState<Lang>(() => langOf(remembered(LANG_KEY) ?? page.lang));
  const onLang = (next: Lang) => {
    remember(LANG_KEY, next);
    set(next);
  };
  return <Report page={page} lang={lang} onLang={onLang} />;
}

function Damaged({ why }: { why: string }) {
  const words = WORDS.en.page;
  return (
    <main class="damaged">
      <h1>{words.damagedTitle}</h1>
      <p>{words.damaged(why)}</p>
    </main>
  );
}

startTheme();
startPrinting();
watchChildren(console.error);
const page = readPage();
const app = document.getElementById("app")!;
render(typeof page === "string" ? <Damaged why={page} /> : <App page={page} />, app);
