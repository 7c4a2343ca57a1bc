/**
 * The frame of every section, and what sections are given.
 */
import type { Children } from "../jsx/children";
import type { PageFile } from "../schema/page";

export interface SectionProps {
  page: PageFile;
}

/** Heading, one sentence of what is shown, and the content. */
export function Section({
  id,
  title,
  about,
  children,
}: {
  id: string;
  title: string;
  about?: Children;
  children: Children;
}) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
      <h2 id={`${id}-title`}>{title}</h2>
      {about && <p class="about">{about}</p>}
      {children}
    </section>
  );
}

/** A chart with what is above and below it. */
export function Figure({
  title,
  about,
  children,
}: {
  title?: Children;
  about?: Children;
  children: Children;
}) {
  return (
    <figure>
      {title && <figcaption>{title}</figcaption>}
      {children}
      {about && <p class="about">{about}</p>}
    </figure>
  );
}
