/** One run: its report, as `report.html` shows it, with its label and its files above. */
import { useCallback } from "preact/hooks";
import { bytes } from "../format";
import { Report } from "../report/report";
import type { RunDetail } from "../schema/lab-run";
import type { PageFile } from "../schema/page";
import { Fold } from "../ui/parts";
import { Told } from "../ui/told";
import { type Lang, useWords } from "../words";
import { to, wall } from "./address";
import { api, get } from "./api";
import { Shown, StateMark } from "./frame";
import { LabelOf } from "./label";
import { useLoaded } from "./state";

export function Run({ run, lang, onLang }: { run: string; lang: Lang; onLang: (lang: Lang) => void }) {
  const detail = useLoaded<RunDetail>(`detail ${run}`, (signal) => get(api("runs", run), signal));
  const page = useLoaded<PageFile>(`page ${run}`, (signal) => get(api("runs", run, "page"), signal));
  return (
    <>
      <div class="lab lab-above no-print">
        <Shown of={detail}>{(found) => <Above detail={found} onSaved={detail.again} />}</Shown>
      </div>
      {page.value ? (
        <Report page={page.value} lang={lang} onLang={onLang} />
      ) : (
        <main class="lab" id="content">
          <Shown of={page}>{() => null}</Shown>
        </main>
      )}
    </>
  );
}

function Above({ detail, onSaved }: { detail: RunDetail; onSaved: () => void }) {
  const t = useWords().lab;
  const { card, files } = detail;
  const file = useCallback((name: string) => api("runs", card.id, "files", name), [card.id]);
  return (
    <section class="lab-strip" aria-label={card.id}>
      <p class="lab-facts">
        <StateMark state={card.state} />
        <span>{t.of(card.trials_done, card.trials_planned)}</span>
        <time dateTime={card.started_wall}>{wall(card.started_wall)}</time>
        <code>{card.id}</code>
        <a href={to.history(card.name)}>{t.run.history}</a>
        {card.state === "running" && <a href={to.live(card.id)}>{t.run.live}</a>}
      </p>
      {card.state === "running" && <p class="refusal">{t.run.notYet}</p>}
      {card.cause && (
        <p class="lab-cause">
          <Told text={card.cause} />
        </p>
      )}
      <LabelOf card={card} onSaved={onSaved} />
      <Fold title={t.run.files}>
        {() => (
          <ul class="lab-files">
            {files.map(({ name, size_bytes }) => (
              <li key={name}>
                <a href={file(name)} download={`${card.id}-${name}`}>
                  {name}
                </a>{" "}
                <span class="soft">{bytes(size_bytes)}</span>
              </li>
            ))}
            <li>
              <a href={file(t.run.experimentFile)} download={`${card.id}-${t.run.experimentFile}`}>
                {t.run.experimentFile}
              </a>
            </li>
          </ul>
        )}
      </Fold>
    </section>
  );
}
