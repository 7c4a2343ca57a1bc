/**
 * The token of a lab that asks for one: taken from the address once, or typed; kept by the browser where no script
 * reads it.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useWords } from "../words";
import { type Fault, api, faultOf, send } from "./api";
import { FaultBox } from "./frame";

const MARK = "#token=";

/** Uses a token in the address, and takes it out of it. */
export async function loginByAddress(): Promise<void> {
  if (!location.hash.startsWith(MARK)) return;
  const token = location.hash.slice(MARK.length);
  history.replaceState(null, "", location.pathname + location.search);
  // A wrong one shows when the first answer is refused.
  await send("POST", api("login"), { token }).catch(() => undefined);
}

export function Login({ onDone }: { onDone: () => void }) {
  const t = useWords().lab.login;
  const [token, type] = useState("");
  const [fault, tell] = useState<Fault>();
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  const enter = async (event: Event) => {
    event.preventDefault();
    try {
      await send("POST", api("login"), { token: token.trim() });
      onDone();
    } catch (error) {
      tell(faultOf(error));
    }
  };
  return (
    <form class="lab-edit lab-login" onSubmit={enter}>
      <h1>{t.title}</h1>
      <p class="about">{t.about}</p>
      <label>
        <span>{t.token}</span>
        <input
          type="password"
          autoComplete="current-password"
          ref={first}
          value={token}
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      {fault && <FaultBox fault={fault} />}
      <button type="submit" class="plain lab-yes">
        {t.enter}
      </button>
    </form>
  );
}
