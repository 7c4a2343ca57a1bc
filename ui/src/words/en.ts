/**
 * The words of the report page in English, in the words of the plain page (`crates/report/src/words.rs` and the
 * `*_view.rs` beside it). Charts and lab have their own files.
 *
 * Invariant: this object is the type of all languages. What takes a number is a function, for languages differ.
 */
import type { ClaimVerdict, FindingCause, Metric, SoakClass, Verdict } from "../schema/analysis";
import { chartsEn } from "./charts.en";
import { labEn } from "./lab.en";

const metrics: Record<Metric, string> = {
  throughput: "Throughput",
  mean: "Mean",
  p50: "p50",
  p90: "p90",
  p95: "p95",
  p99: "p99",
  p999: "p99.9",
  error_rate: "Errors",
  cpu_per_request: "CPU per request",
  memory: "Memory",
  alloc_per_request: "Allocated per request",
};

const verdicts: Record<Verdict, string> = {
  faster: "faster",
  slower: "slower",
  equivalent: "equivalent",
  inconclusive: "inconclusive",
  refused: "refused",
};

const claims: Record<ClaimVerdict, string> = {
  holds: "holds",
  does_not_hold: "does not hold",
  inconclusive: "inconclusive",
  void: "void",
};

const soak: Record<SoakClass, string> = {
  leak: "leak",
  filling: "filling up",
  steady: "steady",
  cannot_tell: "cannot tell yet",
  rising: "rising",
  falling: "falling",
};

const causes: Record<FindingCause, string> = {
  generator_saturated: "load generator saturated",
  steal: "CPU time stolen by the hypervisor",
  clock_drift: "clock drift",
  host_busy: "other processes on the host",
  throttling: "CPU quota",
  cpu_saturated: "CPU saturated",
  run_queue: "waiting for a core",
  memory_limit: "memory limit",
  swap: "swapping",
  gc_pauses: "garbage collection pauses",
  allocation_pressure: "allocation pressure",
  thread_growth: "growing threads",
  memory_growth: "growing memory",
  pool_wait: "waiting for a pool",
  database_saturated: "database saturated",
  cache_slow: "slow cache",
  lock_contention: "lock contention",
  event_loop_blocked: "blocked event loop",
  workers_exhausted: "workers exhausted",
  accept_queue: "full accept queue",
  port_exhaustion: "out of local ports",
  connection_churn: "connection churn",
  retransmission: "lost packets",
  delayed_ack: "delayed acknowledgements",
  bandwidth: "network bandwidth",
  descriptor_limit: "limit of descriptors",
  descriptor_leak: "leaking descriptors",
  cold_code: "still warming up",
  uneven_workers: "uneven workers",
  slow_replica: "a slower machine",
  errors: "failed requests",
  control: "hidden control",
};

export const en = {
  charts: chartsEn,
  lab: labEn,
  metrics,
  verdicts,
  claims,
  soak,
  causes,
};

export type Words = typeof en;
