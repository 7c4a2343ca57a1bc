/**
 * The live lab's entry: which page the address asks for, in which language.
 *
 * Invariants: all requests go to where the page came from; a page that cannot be had says why, with the remedy.
 */
import "../theme.css";
import "../ui/ui.css";
import "../report/report.css";
import "../charts/charts.css";
import "./lab.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { watchChildren } from "../jsx/guard";
import { remember, remembered, startTheme } from "../theme";
import { startPrinting } from "../ui/lazy";
import { type Lang, LangContext, WORDS, langOf } from "../words";
import { type Address, addressOf } from "./address";
import { api, faultOf, get } from "./api";
import { Compare } from "./compare";
import { Experiments } from "./experiments";
import { Frame, type Way } from "./frame";
import { History } from "./history";
import { Library } from "./library";
import { Live } from "./live";
import { Login, loginByAddress } from "./login";
import { Run } from "./run";

const LANG_KEY = "prony-lang";

const WAYS: Record<Address["page"], Way> = {
  library: "library",
  run: "none",
  live: "none",
  compare: "none",
  experiments: "experiments",
  history: "none",
};

function titleOf(address: Address, lang: Lang): string {
  const t = WORDS[lang].lab;
  switch (address.page) {
    case "library":
      return t.library.title;
    case "run":
    case "live":
      return address.run;
    case "compare":
      return t.compare.title;
    case "experiments":
      return t.experiments.title;
    case "history":
      return t.history.title(address.experiment);
  }
}

function Page({ address, lang, onLang }: { address: Address; lang: Lang; onLang: (lang: Lang) => void }) {
  switch (address.page) {
    case "library":
      return <Library />;
    case "run":
      return <Run run={address.run} lang={lang} onLang={onLang} />;
    case "live":
      return <Live run={address.run} />;
    case "compare":
      return <Compare runs={address.runs} />;
    case "experiments":
      return <Experiments />;
    case "history":
      return <History experiment={address.experiment} />;
  }
}

function App() {
  const [lang, set] = useState<Lang>(() => langOf(remembered(LANG_KEY) ?? navigator.language.slice(0, 2)));
  const [isLocked, lock] = useState<boolean>();
  const address = addressOf(location.search);
  useEffect(() => {
    const look = async () => {
      await loginByAddress();
      // Any other fault is shown by the page that meets it.
      const fault = await get(api("lab")).then(() => undefined, faultOf);
      lock(fault?.status === 401);
    };
    void look();
  }, []);
  const onLang = (next: Lang) => {
    remember(LANG_KEY, next);
    set(next);
  };
  const isBare = address.page === "run" && isLocked === false;
  return (
    <LangContext.Provider value={lang}>
      <Frame
        lang={lang}
        onLang={onLang}
        way={WAYS[address.page]}
        title={titleOf(address, lang)}
        bare={isBare}
      >
        {isLocked === true && <Login onDone={() => lock(false)} />}
        {isLocked === false && <Page address={address} lang={lang} onLang={onLang} />}
      </Frame>
    </LangContext.Provider>
  );
}

startTheme();
startPrinting();
watchChildren(console.error);
render(<App />, document.getElementById("app")!);
