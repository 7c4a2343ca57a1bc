/** A sentence between tags does not compile: the compiler finds an error where each of these lines expects one. */
import { describe, expect, it } from "vitest";
import type { Said } from "../words/said/text";
import type { Children } from "./children";
import { watchChildren } from "./guard";

const said: Said = { id: "list.comma", text: "a, b" };

const Part = ({ children }: { children: Children }) => <p>{children}</p>;

describe("what may stand between tags", () => {
  it("is text, numbers and elements, and no sentence with an id", () => {
    const shown = [
      <p key={1}>
        a {1} {null} {[<b key={1}>b</b>, "c"]}
      </p>,
      // @ts-expect-error a sentence is shown by Told
      <p key={2}>{said}</p>,
      // @ts-expect-error nor in a list
      <p key={3}>{[said]}</p>,
      // @ts-expect-error nor beside text
      <p key={4}>a {said}</p>,
      // @ts-expect-error nor within a component
      <Part key={5}>{said}</Part>,
    ];
    expect(shown).toHaveLength(5);
  });
  it("is reported where the compiler does not look: in a bare fragment", () => {
    const heard: string[] = [];
    watchChildren((text) => heard.push(text));
    const shown = [
      <>{said}</>,
      <>a {[said]}</>,
      <>
        <b>{said.text}</b> 1
      </>,
    ];
    expect(shown).toHaveLength(3);
    expect(heard.map((text) => text.split(": ")[1])).toEqual(["a, b", "a, b"]);
  });
});
