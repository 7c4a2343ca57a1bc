/** Memory, garbage collection and p99 over time, of one trial of each cell. */
import { MemoryChart } from "../charts";
import { bytes, percent, plain } from "../format";
import type { CellSummary, MemoryView } from "../schema/page";
import { Choose, useFew } from "../ui/parts";
import { sentence } from "../ui/sentence";
import { Told, useTold } from "../ui/told";
import { type Words, useWords } from "../words";
import { Figure, Section, type SectionProps } from "./frame";

const CHARTS_AT_ONCE = 2;

export const hasMemory = ({ page }: SectionProps): boolean => viewed(page.analysis.cells).length > 0;

const viewed = (cells: CellSummary[]) =>
  cells.flatMap((cell) =>
    cell.memory_view && cell.memory_view.ends_ns.length > 1 ? [{ cell, view: cell.memory_view }] : [],
  );

export function Memory({ page }: SectionProps) {
  const words = useWords();
  const told = useTold();
  const all = viewed(page.analysis.cells);
  const { shown, isFew, at, choose } = useFew(all, CHARTS_AT_ONCE);
  return (
    <Section id="memory" title={words.sections.memory} about={words.memory.about}>
      {!isFew && (
        <Choose
          label={words.cell}
          value={at}
          choose={choose}
          options={all.map(({ cell }) => told(cell.label, "cell"))}
        />
      )}
      {shown.map(({ cell, view }) => (
        <Figure
          key={cell.cell}
          title={
            <>
              <Told text={cell.label} as="cell" /> <span class="soft">{words.trialNumber(view.trial)}</span>
            </>
          }
          about={text(view, words)}
        >
          <MemoryChart view={view} />
        </Figure>
      ))}
    </Section>
  );
}

/** What the runtime reports on allocation and collection; nothing where it reports nothing. */
function text(view: MemoryView, words: Words): string | undefined {
  const t = words.memory;
  const parts = [
    view.alloc_per_request_bytes == null ? "" : t.allocates(bytes(view.alloc_per_request_bytes)),
    view.alloc_per_request_objects == null ? "" : t.objects(plain(view.alloc_per_request_objects)),
    view.collections_per_s == null ? "" : t.collections(plain(view.collections_per_s)),
    view.pause_share == null ? "" : t.pauses(percent(view.pause_share)),
    view.gc_cpu_share == null ? "" : t.cpu(percent(view.gc_cpu_share)),
  ].filter((part) => part !== "");
  return parts.length === 0 ? undefined : sentence(parts.join(words.semicolon));
}
