/** Tags and note of a run, shown and edited. They are kept beside the runs, never in a run folder. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RunCard } from "../schema/lab-runs";
import { useWords } from "../words";
import { type Fault, api, faultOf, send } from "./api";
import { FaultBox, Tags } from "./frame";

interface Label {
  tags: string[];
  note: string;
}

export function LabelOf({ card, onSaved }: { card: RunCard; onSaved: (label: Label) => void }) {
  const t = useWords().lab.label;
  const [isOpen, open] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  // The button is there again only after the editor has gone.
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen) opener.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const close = () => open(false);
  const hasLabel = card.tags.length > 0 || card.note !== "";
  return (
    <div class="lab-label">
      <Tags tags={card.tags} />
      {card.note !== "" && <p class="lab-note">{card.note}</p>}
      {isOpen ? (
        <Editor
          card={card}
          onDone={(label) => {
            onSaved(label);
            close();
          }}
          onCancel={close}
        />
      ) : (
        <button ref={opener} type="button" class="plain no-print" onClick={() => open(true)}>
          {hasLabel ? t.edit : t.add}
        </button>
      )}
    </div>
  );
}

function Editor({
  card,
  onDone,
  onCancel,
}: {
  card: RunCard;
  onDone: (label: Label) => void;
  onCancel: () => void;
}) {
  const t = useWords().lab.label;
  const [tags, setTags] = useState(card.tags.join(", "));
  const [note, setNote] = useState(card.note);
  const [fault, tell] = useState<Fault>();
  const first = useRef<HTMLInputElement>(null);
  // Before the next key: an effect after painting would lose the first letters of who types at once.
  useLayoutEffect(() => first.current?.focus(), []);
  const save = async (event: Event) => {
    event.preventDefault();
    const said = {
      tags: tags
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
      note,
    };
    try {
      onDone(await send<Label>("PUT", api("runs", card.id, "label"), said));
    } catch (error) {
      tell(faultOf(error));
    }
  };
  return (
    <form class="lab-edit" onSubmit={save} onKeyDown={(event) => event.key === "Escape" && onCancel()}>
      <label>
        <span>{t.tags}</span>
        <input ref={first} value={tags} onInput={(event) => setTags(event.currentTarget.value)} />
      </label>
      <label>
        <span>{t.note}</span>
        <textarea rows={3} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      {fault && <FaultBox fault={fault} />}
      <div class="lab-buttons">
        <button type="submit" class="plain lab-yes">
          {t.save}
        </button>
        <button type="button" class="plain" onClick={onCancel}>
          {t.cancel}
        </button>
      </div>
    </form>
  );
}
