/** One experiment over its runs: a chart a cell with its change points, and what was another before each run. */
import { useMemo, useState } from "preact/hooks";
import { HistoryChart } from "../charts/history";
import { change, count, pValue } from "../format";
import type { HistoryFile, HistorySeries } from "../schema/history";
import { nameColumn, numberColumn } from "../ui/columns";
import { type Column, DataTable } from "../ui/table";
import { Told } from "../ui/told";
import { type Words, useWords } from "../words";
import { to, wall } from "./address";
import { api, get } from "./api";
import { Shown } from "./frame";
import { useLoaded } from "./state";
import { english } from "../words/said/text";

/** A chart of more cells than this is read by nobody; the others are chosen. */
const CELLS_DRAWN = 12;

export function History({ experiment }: { experiment: string }) {
  const t = useWords().lab.history;
  const loaded = useLoaded<HistoryFile>(`history ${experiment}`, (signal) =>
    get(api("experiments", experiment, "history"), signal),
  );
  return (
    <>
      <h1>{t.title(experiment)}</h1>
      <p class="about">{t.about}</p>
      <Shown of={loaded}>{(file) => <Over file={file} />}</Shown>
    </>
  );
}

function Over({ file }: { file: HistoryFile }) {
  const words = useWords();
  const t = words.lab.history;
  const metrics = useMemo(() => [...new Set(file.series.map(({ metric }) => metric))], [file]);
  const [metric, choose] = useState(metrics.includes("p99") ? "p99" : (metrics[0] ?? "throughput"));
  const shown = file.series.filter((series) => series.metric === metric);
  return (
    <>
      <label class="choose">
        <span>{t.metric}</span>
        <select value={metric} onChange={(event) => choose(event.currentTarget.value as typeof metric)}>
          {metrics.map((of) => (
            <option key={of} value={of}>
              {words.metrics[of]}
            </option>
          ))}
        </select>
      </label>
      {(file.notes ?? []).map((note) => (
        <p class="refusal" key={english(note)}>
          <Told text={note} />
        </p>
      ))}
      {shown.slice(0, CELLS_DRAWN).map((series) => (
        <One key={series.cell} series={series} file={file} />
      ))}
      <Runs file={file} />
    </>
  );
}

function One({ series, file }: { series: HistorySeries; file: HistoryFile }) {
  const words = useWords();
  const t = words.lab.history;
  return (
    <figure>
      <figcaption>
        <Told text={series.cell} as="cell" />
      </figcaption>
      {series.points.length < 2 ? (
        <p class="soft">{t.few}</p>
      ) : (
        <HistoryChart runs={file.runs} series={series} />
      )}
      {series.refused && (
        <p class="refusal">
          <Told text={series.refused} />
        </p>
      )}
      {series.changes.map((found) => (
        <p key={found.first_run}>
          <span class={`mark ${found.is_worse ? "bad" : "good"}`}>
            <span class="sign" aria-hidden="true">
              {found.is_worse ? "✗" : "✓"}
            </span>
            <span>
              {change(found.ratio)} {found.is_worse ? t.worse : t.better}
            </span>
          </span>{" "}
          {t.first} <a href={to.run(found.first_run)}>{found.first_run}</a>{" "}
          <span class="soft">p = {pValue(found.p_value)}</span>
        </p>
      ))}
      {series.changes.length === 0 && !series.refused && <p class="soft">{t.noChange}</p>}
    </figure>
  );
}

function Runs({ file }: { file: HistoryFile }) {
  const words = useWords();
  const t = words.lab.history;
  return (
    <DataTable
      caption={t.caption}
      file={[file.experiment, "runs"]}
      rows={[...file.runs].reverse()}
      below={(row) => row.changed ?? []}
      columns={columns(words)}
    />
  );
}

const columns = (words: Words): Column<HistoryFile["runs"][number]>[] => [
  {
    head: words.lab.started,
    key: "started_wall",
    cell: (row) => wall(row.started_wall),
    raw: (row) => row.started_wall,
  },
  nameColumn(
    words.lab.history.runs,
    "run",
    (row) => <a href={to.run(row.id)}>{row.id}</a>,
    (row) => row.id,
  ),
  numberColumn(words.trials, "trials_valid", count, (row) => row.trials_valid),
];
