/** What it takes to do it again: the command, the seed, the experiment file, and every setting of the plan. */
import { useMemo } from "preact/hooks";
import { chosenPercent, duration, setting } from "../format";
import type { PageFile } from "../schema/page";
import { Copied, Fold } from "../ui/parts";
import { DataTable, Facts } from "../ui/table";
import { type Tell, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Section, type SectionProps } from "./frame";
import { commandLine, settingsOf } from "./model";

export function Reproduce({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const t = words.reproduce;
  const { run } = page;
  const settings = useMemo(() => settingsOf(run.plan), [run]);
  return (
    <Section id="reproduce" title={words.sections.reproduce} about={t.about(run.plan.seed)}>
      <Copied text={commandLine(run.command)} label={t.command} />
      <Facts rows={facts(page, words, told)} />
      <Fold title={t.experiment}>
        {() => <Copied text={run.experiment_text} label={t.experiment} long />}
      </Fold>
      <Fold title={t.settings(settings.length)}>
        {() => (
          <DataTable
            caption={t.settings(settings.length)}
            file={[run.id, "settings"]}
            columns={[
              {
                head: t.setting,
                key: "setting",
                kind: "name",
                cell: ([path]) => <code>{path}</code>,
                raw: ([path]) => path,
              },
              {
                head: words.value,
                key: "value",
                kind: "text",
                cell: ([, of]) => <code>{String(of)}</code>,
                raw: ([, of]) => of,
              },
            ]}
            rows={settings}
            dense
          />
        )}
      </Fold>
    </Section>
  );
}

function facts(page: PageFile, words: Words, told: Tell): [string, string][] {
  const t = words.reproduce;
  const { plan, instrument, id } = page.run;
  const cpus = (list: number[] | null | undefined) => list?.join(", ") ?? t.notConfined;
  const pins = [
    t.generatorCpus(cpus(plan.pin.generator)),
    t.targetCpus(cpus(plan.pin.target)),
    plan.pin.weakness ? told(plan.pin.weakness) : "",
  ];
  return [
    [t.run, id],
    [t.design, t.blocksOfCells(plan.blocks, plan.cells.length)],
    [t.seed, String(plan.seed)],
    [t.warmup, t.fromTo(setting(plan.phases.warmup_at_least_ns), setting(plan.phases.warmup_at_most_ns))],
    [
      t.samples,
      t.samplesOf(plan.phases.samples, setting(plan.phases.sample_ns), setting(plan.phases.drain_ns)),
    ],
    [t.margin, `±${chosenPercent(plan.margin)}${words.comma}${chosenPercent(plan.confidence)}`],
    [t.cpus, pins.filter((pin) => pin !== "").join(words.semicolon)],
    [
      t.instrument,
      t.instrumentOf(
        duration(instrument.clock_step_ns),
        duration(instrument.clock_read_ns),
        duration(instrument.wake_late_p50_ns),
        duration(instrument.wake_late_p99_ns),
      ),
    ],
    [t.prony, page.prony],
  ];
}
