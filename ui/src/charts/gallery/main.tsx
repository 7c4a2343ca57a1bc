/**
 * The gallery: every chart with small data, for those who work on them. `node scripts/gallery.mjs` takes pictures.
 * `?theme=dark&lang=zh` choose; not shipped.
 */
import type { Children } from "../../jsx/children";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "../../theme.css";
import { setTheme, startTheme } from "../../theme";
import { LangContext, langOf, useWords } from "../../words";
import type { CellPlan, Detail } from "../data";
import compareJson from "../fixtures/compare.json";
import gcJson from "../fixtures/gc.json";
import kneeJson from "../fixtures/knee.json";
import * as C from "../index";
import type { Analysis } from "../data";
import * as made from "./made";

interface Fixture {
  analysis: Analysis;
  cells: CellPlan[];
  details: Detail[];
}

const gc = gcJson as unknown as Fixture;
const compare = compareJson as unknown as Fixture;
const knee = kneeJson as unknown as Fixture;

function Part({ name, children }: { name: string; children: Children }) {
  return (
    <section id={name}>
      <h2>{name}</h2>
      {children}
    </section>
  );
}

function Live() {
  const [values, set] = useState<number[]>([]);
  useEffect(() => {
    const timer = setInterval(
      () => set((old) => [...old.slice(-59), 100 + 20 * made.noise(Date.now())]),
      250,
    );
    return () => clearInterval(timer);
  }, []);
  return <C.Sparkline values={values} label="live" width={240} height={40} />;
}

function Gallery() {
  const words = useWords();
  const index = C.targetIndex(compare.analysis.cells);
  const curves = compare.analysis.cells
    .filter((cell) => cell.load.startsWith("8 "))
    .map((cell) => ({ name: cell.target, index: index(cell.target), curve: cell.curve }));
  const [trial] = gc.analysis.trials;
  const [detail] = gc.details;
  const events = [{ t_ns: 9.3e9, name: "restart <b>now</b>" }] as Detail["events"];
  const trialDetail = detail && { ...detail, events };
  const memory = gc.analysis.cells[0]?.memory_view;
  const wild = made.madeTrial(3, "void");
  const wildDetail = {
    id: 3,
    cell: "c1",
    t_ns: wild.series.map((point) => point.t_ns),
    counters: [],
    events: [{ t_ns: 37.2e9, name: "kill the database" }],
    log_tail: [],
  } as unknown as Detail;
  return (
    <main>
      <h1>{words.charts.chart}</h1>
      <Part name="forest">
        <C.ForestChart comparisons={made.comparisons} margin={0.02} />
      </Part>
      <Part name="forest-run">
        <C.ForestChart comparisons={compare.analysis.comparisons} margin={compare.analysis.margin} />
      </Part>
      <Part name="shift">
        <C.ShiftChart shift={made.shift} a="go/gin" b="go/echo" />
      </Part>
      <Part name="strips">
        <C.StripsChart
          analysis={{
            cells: compare.analysis.cells,
            trials: compare.analysis.trials.map((one) => (one.id === 7 ? { ...one, outcome: "void" } : one)),
          }}
          metric="throughput"
        />
      </Part>
      <Part name="strips-mean">
        <C.StripsChart analysis={compare.analysis} metric="mean" />
      </Part>
      <Part name="ladder">
        {C.laddersOf(knee.analysis).map((data) => (
          <C.LadderChart key={data.axis} data={data} />
        ))}
      </Part>
      <Part name="ladder-cells">
        {C.ladderOfCells(compare.analysis, compare.cells, "p90").map((data) => (
          <C.LadderChart key={data.axis} data={data} />
        ))}
      </Part>
      <Part name="search">
        <C.SearchChart search={made.search} />
      </Part>
      <Part name="percentiles">
        <C.PercentilesChart curves={curves} />
      </Part>
      <Part name="cdf">
        <C.CdfChart curves={curves} />
      </Part>
      <Part name="heat">
        {trial && detail?.heat && <C.HeatChart heat={detail.heat} trial={trial} detail={detail} />}
        {trial && detail?.pauses && (
          <C.HeatChart heat={detail.pauses} trial={trial} detail={detail} of="pauses" />
        )}
      </Part>
      <Part name="timeline">
        {trial && (
          <C.TrialOverTime
            trial={trial}
            detail={trialDetail}
            initial={["target.process/utime_ns", "go.runtime/gc_pause_ns", "target.process/rss_bytes"]}
          />
        )}
      </Part>
      <Part name="timeline-void">
        <C.TimelineChart trial={wild} detail={wildDetail} />
      </Part>
      <Part name="overview">
        <C.OverviewChart
          cell={{ label: "go/gin" }}
          trials={[made.madeTrial(1), made.madeTrial(2), wild]}
          index={0}
        />
      </Part>
      <Part name="flame">
        <C.Flame profile={made.profiles[0]} />
      </Part>
      <Part name="flame-difference">
        <C.Flame profile={made.profiles[0]} before={made.profiles[1]} />
      </Part>
      <Part name="waterfall">
        <C.WaterfallChart metric={made.layers} />
      </Part>
      <Part name="parts">
        <C.PartsChart
          parts={[
            { part: "pacer_lag", mean_ns: 12_000, from_ns: 0, to_ns: 12_000 },
            { part: "wait_stream", mean_ns: 843_000, from_ns: 12_000, to_ns: 855_000 },
            { part: "first_byte", mean_ns: 1_410_000, from_ns: 855_000, to_ns: 2_265_000 },
            { part: "transfer", mean_ns: 96_000, from_ns: 2_265_000, to_ns: 2_361_000 },
          ]}
        />
      </Part>
      <Part name="memory">{memory && <C.MemoryChart view={memory} />}</Part>
      <Part name="soak">
        {made.soak.map((trend) => (
          <C.SoakChart key={trend.counter} trend={trend} />
        ))}
      </Part>
      <Part name="history">
        <C.HistoryChart runs={made.historyRuns} series={made.historySeries} />
        <C.Sparkline
          values={made.historySeries.points.map((point) => point.value)}
          label="throughput"
          from="least"
          marks={[
            { at: 9, bad: false },
            { at: 16, bad: true },
          ]}
        />
      </Part>
      <Part name="live">
        <Live />
      </Part>
    </main>
  );
}

const asked = new URLSearchParams(location.search);
startTheme();
setTheme(asked.get("theme") === "dark" ? "dark" : "light");
const style = document.createElement("style");
style.textContent =
  "main{max-width:1200px;margin:0 auto;padding:1rem}section{margin:2.5rem 0}h2{margin-bottom:.75rem}";
document.head.append(style);
render(
  <LangContext.Provider value={langOf(asked.get("lang"))}>
    <Gallery />
  </LangContext.Provider>,
  document.getElementById("app")!,
);
