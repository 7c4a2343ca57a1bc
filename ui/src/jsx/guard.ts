/**
 * Says on the console where a sentence with an id stands between tags: Preact would show nothing for it. The compiler
 * refuses this but in bare fragments (`children.ts`); the tests in the browser fail on any word of the console.
 */
import { Fragment, type VNode, options } from "preact";

/** Looks at every element from now on. */
export function watchChildren(say: (text: string) => void): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    const lost = isShown(vnode) ? texts(vnode.props.children) : [];
    for (const text of lost) say(`a sentence stands between tags and is not shown, use Told: ${text}`);
    before?.(vnode);
  };
}

/** Whether Preact itself shows the children; a component may take whatever it wants. */
const isShown = ({ type }: VNode) => typeof type === "string" || type === Fragment;

function texts(children: unknown): string[] {
  if (Array.isArray(children)) return children.flatMap(texts);
  const isSentence = typeof children === "object" && children !== null && "text" in children;
  return isSentence ? [String(children.text)] : [];
}
