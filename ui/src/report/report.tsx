/**
 * The report as a component: the page of one file shows it, and so does the lab.
 *
 * Invariants: `page` is cleaned (`ui/clean`) before it gets here; sections far from the view are not yet made, but
 * all of them are on paper.
 */
import "../ui/ui.css";
import "./report.css";
import { useCallback, useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { PageFile } from "../schema/page";
import { Lazy } from "../ui/lazy";
import { NamesContext } from "../ui/told";
import { type Lang, LangContext, WORDS, useWords } from "../words";
import { Contents } from "./contents";
import { Controls, Help, useKeys } from "./controls";
import { Masthead } from "./masthead";
import { type SectionOf, sectionsOf } from "./sections";

interface ReportProps {
  page: PageFile;
  lang: Lang;
  onLang: (lang: Lang) => void;
}

export function Report({ page, lang, onLang }: ReportProps) {
  const sections = useMemo(() => sectionsOf(page), [page]);
  const names = useMemo(() => page.analysis.cells.map(({ target }) => target), [page]);
  const [isHelp, help] = useState(false);
  const onHelp = useCallback(() => help(true), []);
  useKeys({ ids: sections.map(({ id }) => id), lang, onLang, onHelp });
  useLayoutEffect(() => {
    document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
    document.title = `${page.analysis.question} – prony`;
  }, [lang, page]);
  return (
    <LangContext.Provider value={lang}>
      <NamesContext.Provider value={names}>
        <a class="skip" href="#content">
          {WORDS[lang].page.skip}
        </a>
        <div class="report">
          <Contents sections={sections} />
          <main id="content" tabIndex={-1}>
            <Controls lang={lang} onLang={onLang} onHelp={onHelp} />
            <Masthead page={page} />
            {sections.map((section, index) => (
              <Part key={section.id} section={section} page={page} isFirst={index < 2} />
            ))}
            <p class="shortened">{WORDS[lang].page.shortened}</p>
            <Foot page={page} />
          </main>
        </div>
      </NamesContext.Provider>
      <Help isOpen={isHelp} close={() => help(false)} />
    </LangContext.Provider>
  );
}

function Foot({ page }: { page: PageFile }) {
  return (
    <footer>
      <p>{useWords().page.footer(page.run.id)}</p>
    </footer>
  );
}

/** A section that is made when it comes near; until then its heading holds its place and its address. */
function Part({ section, page, isFirst }: { section: SectionOf; page: PageFile; isFirst: boolean }) {
  const words = useWords();
  const Body = section.body;
  if (isFirst) return <Body page={page} />;
  return (
    <Lazy
      height={section.height}
      before={
        <section id={section.id} tabIndex={-1} aria-labelledby={`${section.id}-title`}>
          <h2 id={`${section.id}-title`}>{words.sections[section.id]}</h2>
        </section>
      }
    >
      {() => <Body page={page} />}
    </Lazy>
  );
}
