/**
 * The sections of the page in the order of reading, and which of them a run has.
 *
 * Invariant: a section without data is left out, in the page and in the contents alike.
 */
import type { Children } from "../jsx/children";
import type { PageFile } from "../schema/page";
import type { Words } from "../words";
import { Agents, hasAgents } from "./agents";
import { Belief } from "./belief";
import { Capacity, hasCapacity } from "./capacity";
import { Claims, Thresholds } from "./claims";
import { Comparison } from "./comparison";
import { Data } from "./data";
import { Decision, hasDecision } from "./decision";
import { Effects } from "./effects";
import { Environment } from "./environment";
import { Events } from "./events";
import { Findings } from "./findings";
import type { SectionProps } from "./frame";
import { Latency, groupsOf } from "./latency";
import { Layers } from "./layers";
import { Memory, hasMemory } from "./memory";
import { Messages, hasMessages } from "./messages";
import { Profiles } from "./profiles";
import { Reproduce } from "./reproduce";
import { Requests, hasRequests } from "./requests";
import { Soak } from "./soak";
import { Time, hasTime } from "./time";

export interface SectionOf {
  id: keyof Words["sections"];
  has: (props: SectionProps) => boolean;
  body: (props: SectionProps) => Children;
  /** Height to keep free before it is made, in CSS pixels; a guess. */
  height: number;
}

const always = () => true;
const some = (of: unknown[] | null | undefined) => (of ?? []).length > 0;

const SECTIONS: SectionOf[] = [
  { id: "belief", has: always, body: Belief, height: 500 },
  { id: "claims", has: ({ page }) => some(page.analysis.claims), body: Claims, height: 300 },
  {
    id: "thresholds",
    has: ({ page }) => some(page.analysis.thresholds),
    body: Thresholds,
    height: 250,
  },
  { id: "soak", has: ({ page }) => Boolean(page.analysis.soak), body: Soak, height: 1400 },
  { id: "comparison", has: ({ page }) => some(page.analysis.comparisons), body: Comparison, height: 800 },
  { id: "factors", has: ({ page }) => Boolean(page.analysis.effects), body: Effects, height: 600 },
  { id: "capacity", has: hasCapacity, body: Capacity, height: 1400 },
  { id: "latency", has: ({ page }) => groupsOf(page.analysis.cells).length > 0, body: Latency, height: 1000 },
  { id: "messages", has: hasMessages, body: Messages, height: 300 },
  { id: "requests", has: hasRequests, body: Requests, height: 200 },
  { id: "time", has: hasTime, body: Time, height: 1600 },
  { id: "events", has: ({ page }) => some(page.analysis.events), body: Events, height: 300 },
  {
    id: "findings",
    has: ({ page }) => some(page.analysis.findings) || some(page.analysis.why),
    body: Findings,
    height: 800,
  },
  {
    id: "profiles",
    has: ({ page }) => some(page.profiles) || some(page.profiles_refused),
    body: Profiles,
    height: 700,
  },
  { id: "layers", has: ({ page }) => some(page.analysis.layers), body: Layers, height: 1200 },
  { id: "memory", has: hasMemory, body: Memory, height: 700 },
  { id: "decision", has: hasDecision, body: Decision, height: 300 },
  { id: "agents", has: hasAgents, body: Agents, height: 400 },
  { id: "environment", has: always, body: Environment, height: 700 },
  { id: "reproduce", has: always, body: Reproduce, height: 500 },
  { id: "data", has: always, body: Data, height: 1200 },
];

export const sectionsOf = (page: PageFile): SectionOf[] => SECTIONS.filter(({ has }) => has({ page }));
