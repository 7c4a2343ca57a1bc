/** What a pair of cells is called: both targets and their load. */
import type { Comparison } from "../schema/page";
import { Told } from "../ui/told";
import { useWords } from "../words";

export function PairName({ of }: { of: Pick<Comparison, "a_target" | "b_target" | "load"> }) {
  const words = useWords();
  return (
    <>
      <b>{of.a_target}</b> {words.against} <b>{of.b_target}</b>
      {of.load !== "" && (
        <span class="soft">
          {words.comma}
          <Told text={of.load} as="place" />
        </span>
      )}
    </>
  );
}
