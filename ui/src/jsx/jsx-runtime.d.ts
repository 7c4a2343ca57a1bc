/**
 * Preact's JSX for the compiler, with children that refuse objects (`children.ts`). `tsconfig.json` names this folder as
 * the source of JSX; the page itself is built with Preact's own runtime.
 */
import type { Component, JSX as Preact, Provider } from "preact";
import type { Children } from "./children";

export { Fragment, jsx, jsxs } from "preact/jsx-runtime";

export namespace JSX {
  type Element = Preact.Element;
  type ElementClass = Preact.ElementClass;
  /** A tag, or a component that gives something that can be shown; a provider of Preact gives what it is given. */
  type ElementType =
    | keyof IntrinsicElements
    | ((props: any) => Children)
    | Provider<any>
    | (new (props: any) => Component<any, any>);
  type ElementAttributesProperty = Preact.ElementAttributesProperty;
  interface ElementChildrenAttribute {
    children: Children;
  }
  type IntrinsicAttributes = Preact.IntrinsicAttributes;
  type LibraryManagedAttributes<Of, Props> = Preact.LibraryManagedAttributes<Of, Props>;
  type IntrinsicElements = {
    [Tag in keyof Preact.IntrinsicElements]: Omit<Preact.IntrinsicElements[Tag], "children"> & {
      children?: Children;
    };
  };
}
