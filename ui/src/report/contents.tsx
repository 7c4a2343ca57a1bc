/** The table of contents: stays in view, and says where the reader is. */
import { useEffect, useState } from "preact/hooks";
import { useWords } from "../words";
import type { SectionOf } from "./sections";

/** The section that is being read: the last one whose head has passed the upper third of the view. */
function useReading(ids: string[]): string | undefined {
  const [reading, set] = useState<string>();
  useEffect(() => {
    const look = () => {
      const line = innerHeight / 3;
      const passed = ids.filter(
        (id) => (document.getElementById(id)?.getBoundingClientRect().top ?? line + 1) <= line,
      );
      set(passed.at(-1));
    };
    addEventListener("scroll", look, { passive: true });
    look();
    return () => removeEventListener("scroll", look);
  }, [ids.join(" ")]);
  return reading;
}

export function Contents({ sections }: { sections: SectionOf[] }) {
  const words = useWords();
  const reading = useReading(sections.map(({ id }) => id));
  const [isOpen, open] = useState(false);
  return (
    <nav class={isOpen ? "contents open no-print" : "contents no-print"} aria-label={words.page.contents}>
      <button type="button" class="plain" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        <span aria-hidden="true">☰</span> {words.page.contents}
      </button>
      <ol>
        {sections.map(({ id }) => (
          <li key={id}>
            <a
              href={`#${id}`}
              aria-current={reading === id ? "location" : undefined}
              onClick={() => open(false)}
            >
              {words.sections[id]}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
