/**
 * The words of the report page in English, in the words of the plain page (`crates/report/src/words.rs` and the
 * `*_view.rs` beside it). Charts and lab have their own files.
 *
 * Invariant: this object is the type of all languages. What takes a number is a function, for languages differ.
 */
import type { ClaimVerdict, FindingCause, Metric, SoakClass, SoakCounter, Verdict } from "../schema/page";
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
  cpu: "CPU",
  max: "Max",
  gc_count: "GCs",
  gc_rate: "GCs per second",
  gc_pause_p99: "GC pause p99",
  gc_pause_max: "GC pause max",
  memory_slack: "Memory no object takes",
  gc_pause_share: "GC pause share",
  bytes_per_request: "Bytes per request",
  connection_reuse: "Reuse",
  reconnects: "Reconnects",
  connect_failures: "Connect failures",
  time_wait_reuse: "TIME_WAIT reuse",
  retransmissions: "Retransmissions",
  rtt: "RTT",
  downtime: "Downtime",
  requests_lost: "Lost",
  sent_bytes: "Sent",
  received_bytes: "Received",
  sent_per_cpu: "Sent per CPU second",
  received_per_cpu: "Received per CPU second",
  messages_completed: "Messages completed",
  messages_received: "Messages received",
  message_p50: "Message p50",
  message_p99: "Message p99",
  first_message_p50: "First message p50",
  first_message_p99: "First message p99",
  message_gap_p99: "Message gap p99",
  stream_length: "Stream length",
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
  generator_saturated: "a saturated generator",
  steal: "stolen CPU time",
  clock_drift: "a drifting CPU clock",
  host_busy: "other processes on its CPUs",
  throttling: "throttling by the CPU quota",
  cpu_saturated: "a saturated CPU",
  core_full: "a full core",
  run_queue: "threads that wait for a core",
  memory_limit: "its memory limit",
  swap: "swapping",
  gc_pauses: "pauses of garbage collection",
  allocation_pressure: "the CPU cost of garbage collection",
  thread_growth: "threads that only grow in number",
  memory_growth: "memory that only grows",
  pool_wait: "waiting for a pool",
  database_saturated: "a saturated database",
  cache_slow: "a slow cache",
  retry_storm: "a storm of retries",
  downstream_calls: "many calls of another service for each request",
  downstream_wait: "waiting for another service",
  disk_wait: "waiting for a disk",
  lock_contention: "threads that wait at a lock",
  event_loop_blocked: "a blocked event loop",
  workers_exhausted: "too few workers",
  accept_queue: "a full accept queue",
  port_exhaustion: "local ports that ran out",
  connection_churn: "connections that are not kept",
  goaway_churn: "a server that leaves its connections",
  stream_limit: "the server's limit of streams",
  small_window: "a small window on a long path",
  head_of_line: "streams that stand still behind a lost packet",
  retransmission: "lost packets",
  delayed_ack: "delayed acknowledgements",
  bandwidth: "the speed of the network",
  descriptor_limit: "the limit of open descriptors",
  descriptor_leak: "descriptors that are never closed",
  cold_code: "code that was not warm",
  uneven_workers: "uneven workers",
  slow_replica: "trials on a slower machine",
  errors: "failed requests",
  concurrency_limit: "a limit of how many requests are served at a time",
  stalls: "a target that stands still again and again",
  waits_inside: "requests that wait while its CPU is idle",
  control: "a control that differs from itself",
};

/** The name of a metric within a sentence: `throughput`, but `p99` and `CPU per request`. */
const within = (metric: string) => metric.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());

/** `1 block`, `5 blocks`. */
const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? "" : "s"}`;

const soakCounters: Record<SoakCounter, string> = {
  memory: "memory",
  descriptors: "descriptors",
  threads: "threads",
  goroutines: "goroutines",
  heap: "heap",
  connections: "connections",
  throughput: "throughput",
  p50: "p50",
  p99: "p99",
  cpu_per_request: "CPU per request",
  full_gcs: "full GCs per hour",
};

/** The heads of the decision table, where a metric's own name does not say what is best. */
const best: Partial<Record<Metric, string>> = {
  throughput: "Most requests per second",
  p50: "Lowest p50",
  p99: "Lowest p99",
  error_rate: "Fewest errors",
  cpu_per_request: "Least CPU per request",
  memory: "Least memory",
};

export const en = {
  charts: chartsEn,
  lab: labEn,
  metrics,
  verdicts,
  claims: { ...claims, about: "Each statement of the experiment, answered by its whole interval." },
  health: {
    about:
      "Limits of health, held against every valid trial, and in a soak against every window. One that crosses is enough.",
    kept: "kept",
    crossed: "crossed",
    unknown: "unknown",
  },
  healthOf: {
    kept: (n: number) => `${n} kept`,
    crossed: (n: number) => `${n} crossed`,
    unknown: (n: number) => `${n} unknown`,
  },
  claimsOf: {
    holds: (n: number) => (n === 1 ? "1 holds" : `${n} hold`),
    does_not_hold: (n: number) => (n === 1 ? "1 does not hold" : `${n} do not hold`),
    inconclusive: (n: number) => `${n} inconclusive`,
    void: (n: number) => `${n} void`,
  },
  soak,
  causes,

  belief: {
    yes: "Yes",
    with_reservations: "With reservations",
    no: "No",
    kept: (n: number) => `${counted(n, "check")} found nothing against the numbers`,
    remedy: "What to do",
  },
  outcomes: { valid: "valid", void: "void", failed: "failed" },
  severities: { ok: "ok", note: "note", warning: "warning", problem: "problem" },
  findingSeverities: { low: "low severity", medium: "medium severity", high: "high severity" },
  asAsked: "as asked",
  better: "better",
  worse: "worse",
  shown: "shown",
  notShown: "not shown",

  comma: ", ",
  semicolon: "; ",
  colon: ": ",
  and: " and ",
  none: "none",
  unknown: "unknown",
  against: "against",
  metric: "Metric",
  change: "Change",
  interval: "Interval",
  verdict: "Verdict",
  value: "Value",
  why: "Why",
  pHolm: "p (Holm)",
  pFamily: "p (family)",
  blocks: "Blocks",
  ratio: "ratio",
  cell: "Cell",
  load: "Load",
  trial: "Trial",
  trials: "Trials",
  noInterval: "no interval",
  details: "Details",
  noReason: "no reason given",
  refused: "refused",
  refusedAlone: "Refused",
  csv: "CSV",
  copy: "Copy",
  copyDone: "Copied",
  showAll: (n: string) => `Show all ${n} rows`,
  trialsOf: (run: number, planned: number) => `${run} of ${counted(planned, "planned trial")} run`,
  trialOf: (id: number, block: number) => `Trial ${id}, block ${block}`,
  trialNumber: (id: number) => `trial ${id}`,

  page: {
    report: "Report",
    contents: "Contents",
    skip: "Skip to the content",
    language: "Language",
    theme: "Theme",
    themes: { auto: "As the system", light: "Light", dark: "Dark" },
    print: "Print",
    printSummary: "Print summary",
    shortened: "A summary: long lists are cut. The whole report has all of them.",
    help: "Keys",
    close: "Close",
    keys: {
      next: "Next section",
      previous: "Previous section",
      top: "To the top",
      theme: "Light or dark",
      language: "English or Chinese",
      print: "Print",
      printSummary: "Print the summary, two pages",
      help: "This list",
      chart: "In a chart: from value to value",
    },
    footer: (run: string) =>
      `Run folder ${run}. The trials are in results.csv, the analysis is in analysis.json; this file holds both.`,
    damagedTitle: "This page has no data",
    damaged: (why: string) =>
      `Its data cannot be read: ${why}. Make the page again: prony report RUN --format html`,
  },

  glance: { belief: "Can this be believed?", worst: "What stands out" },

  sections: {
    belief: "Can this be believed?",
    claims: "Claims",
    thresholds: "Thresholds",
    comparison: "Comparison",
    factors: "Factors",
    capacity: "Load, throughput, latency, errors",
    latency: "Response times",
    messages: "Messages on streams",
    requests: "Slowest requests and first failures",
    time: "Over time",
    events: "Events",
    soak: "Soak",
    findings: "Findings",
    profiles: "Profiles",
    layers: "Layers",
    memory: "Memory",
    decision: "Which option under which load",
    agents: "Agents of the fleet",
    environment: "Environment",
    reproduce: "How to reproduce",
    data: "Trials and data",
  },

  instrument: {
    title: "Instrument",
    notCalibrated: "Not calibrated: run prony calibrate, so that its own limit is known.",
    derived: " (derived from CPU time)",
    max: (rate: string, connections: string, workers: string, driver: string) =>
      `At most ${rate} on ${connections} connections with ${workers} workers (${driver})`,
    lag: (lag: string, rate: string) => `lag p99 ${lag} at ${rate}`,
    calibrated: (day: string) => `calibrated ${day}`,
    disturbed: (what: string) => `the host was not quiet then (${what}): calibrate again when it is`,
    stale: (what: string) => `stale, ${what}: run prony calibrate again`,
  },

  comparison: {
    about: (confidence: string, margin: string) =>
      `Change of the first target against the second, with its ${confidence} interval over blocks. A change that lies within ${margin} with its whole interval counts as equivalent.`,
    key: "The key metrics of each pair",
    refused: "No answer is given for:",
    moreReasons: (n: number) => `${counted(n, "further reason")} in the table of all metrics`,
    inPair: (a: string, b: string, more: number) =>
      more === 0 ? `${a} against ${b}` : `${a} against ${b}, and ${counted(more, "further pair")}`,
    differ: "different loads",
    all: "All metrics, with the rank check and p values",
    allCaption: "Every metric of each pair, with its checks",
    band: (margin: string) =>
      `The band is the margin of ${margin}. The sign beside each interval is its verdict.`,
    notDrawn: (drawn: number, all: number) =>
      `Drawn are the first ${drawn} of ${all} pairs; the table has all.`,
    ranks: "Rank check (Hodges–Lehmann)",
    means: "Ratio of means (Fieller)",
    bootstrap: "Bootstrap",
    butNot: (ends: string) => `, but not ${ends}`,
  },

  shift: {
    title: "The whole curve of response times",
    about: (confidence: string) =>
      `How much longer the first target takes than the second at each quantile: the mean ratio over blocks. The ${confidence} band is made for all quantiles at once, so wherever it excludes zero the targets differ, whichever quantile you came to look at. Filled signs mark these quantiles.`,
    pair: "Pair",
    table: "Every quantile with its band",
    quantile: "Quantile",
    band: "Band",
  },

  effects: {
    about:
      "What a level changes against the first level of its factor, over all levels of the others; and for two factors, how much the change of the one depends on the level of the other. By t over blocks on log values; p after Holm's correction over all effects on all metrics.",
    caption: "Main effects and interactions",
    effect: "Effect",
  },

  capacity: {
    about:
      "Centre over the valid trials of each level, with its interval. X·(R + Z) is the concurrency that throughput and response time imply; the bound is what the CPUs, and users that never wait, allow (operational laws). The bend is the second difference of throughput, both logarithmic.",
    levels: (name: string) => `Every level of ${name}`,
    hysteresis: "Up against down",
    steps: "Every trial of the search",
    connections: "Connections",
    offered: "Offered",
    cpus: "CPUs busy",
    bound: "Bound",
    bend: "Bend",
    upDown: "Up against down",
    pairs: "Pairs",
    purpose: "For",
    purposes: { bracket: "bracket", bisect: "bisection", confirm: "confirmation" },
    passed: (is: boolean | null): string => (is === null ? "not judged" : is ? "met" : "not met"),
    highest: "Highest throughput",
    at: (load: string) => `at ${load}`,
    fromTo: (from: string, to: string) => `from ${from} to ${to}`,
    connectionsOf: (n: string) => `${n} connection${n === "1" ? "" : "s"}`,
    kneeOf: (metric: string) => `Knee of ${within(metric)}`,
    slopes: (before: string, after: string) => `slopes ${before} and ${after}`,
    sharpest: (at: string) => `sharpest bend ${at}`,
    firstLevels: "the first levels",
    lastLevels: "the last levels",
    lawOf: "Law of throughput",
    law: "Scalability law",
    peak: "… its peak",
    noPeak: "none: no trial shows a decline",
    predicts: "… predicts",
    contention: "contention",
    coherence: "coherence (upkeep between requests)",
    alone: "alone, a second",
    misfit: (share: string) => `largest misfit ${share}`,
    beyond: "beyond the ladder: a prediction",
    beyondShort: "beyond the ladder",
    objective: "Objective",
    verified: "Verified rate",
    turns: "Where it turns",
    reservation: "Reservation",
    confirmed: (n: number, after: number) =>
      `${n} of ${n} passed, ${after} of them right after a rate that failed`,
  },

  latency: {
    about:
      "From the intended begin of a request to the end of its answer, so that waiting in line counts. Merged over the valid trials of each cell.",
    percentiles: "Percentiles",
    percentilesAbout:
      "Both axes are logarithmic: each step to the right is ten times rarer. A line ends where its requests are too few for more; one that comes from below begins at a minimum far under the rest.",
    standOut: "Also in colour",
    ofChoice: (n: number) => `– (${n} loads are grey)`,
    standOutAbout:
      "In colour: of the loads with a line the lightest, the heaviest and those nearest the answer. The others are grey; the tooltip and the table have them all.",
    table: "Percentiles of every load",
    cdf: "Distribution",
    partsAbout:
      "Means over all answered requests of the valid trials, from the intended moment on. Unlike percentiles they add up: each bar begins where the one before it ends.",
    strips: "Every trial",
    stripsAbout:
      "Each mark is a trial; the bar is the centre with its interval over trials. A ring marks a trial far from the others of its cell; it counts all the same.",
  },

  time: {
    about: "The discarded warm-up is shaded, events are lines. A void trial is marked as void.",
    all: "All trials of a cell",
    allAbout: "Each line is a trial; void ones are grey.",
    one: "One trial",
    endpoints: "Each request over time",
    endpointsAbout:
      "One line a request of the scenario, by the second. Of a long trial's joined seconds the highest value is shown.",
    heat: "Response times over time",
    heatAbout: "The colours are those of the scale above, which is logarithmic, as is the response time.",
    pauses: "Garbage collection pauses over time",
    pausesAbout:
      "How often the collector stopped the target, by length. Go counts its pauses by length; of other runtimes those between two readings count at their mean.",
    log: "The last lines of the target's log",
  },

  events: {
    about:
      "Medians over the trials: the second before and the worst second after each event, requests that failed because of it, how long probes beside the load found no answer, and when a whole second was as good as before.",
    caption: "Each event with what it did in each cell",
    event: "Event",
    throughputBefore: "Throughput before",
    p99Before: "p99 before",
    atWorst: "at worst",
    lost: "Requests lost",
    lostAtMost: (lost: string, most: string) => (lost === most ? lost : `${lost} (at most ${most})`),
    noAnswer: "No answer for",
    recovered: "Recovered after",
    atOnce: "at once",
    notIn: (never: number, of: number) => `not in ${never} of ${counted(of, "trial")}`,
    notDone: (why: string) => `could not be carried out: ${why}`,
  },

  soaks: {
    about:
      "Of each window the lowest reading counts. A leak needs a rising trend (Mann–Kendall with Hamed and Rao's correction, p < 0.01), a slope whose lower end reaches the limit within the horizon (Theil–Sen), and a line that beats a curve that levels off (ΔBIC > 6). Trends never cross a restart of the target.",
    windows: (whole: string, planned: string, length: string) =>
      `${whole} of ${planned} windows of ${length}`,
    horizon: (length: string) => `horizon ${length}`,
    segments: (n: number) => counted(n, "segment"),
    caption: "Each counter with its class and its trend",
    drawn: "Dashed is the trend that was judged, dotted are the two ends of its slope.",
    counters: soakCounters,
    counter: "Counter",
    first: "First",
    last: "Last",
    anHour: "An hour",
    exhausted: "Exhausted in",
    limit: "Limit",
    never: "never",
  },

  findings: {
    about:
      "Worst first. “Because” stands only where the cause was changed and the numbers moved as predicted; else a finding is consistent with what was read.",
    none: "Nothing was found that holds a target back.",
    byCell: "Cell by cell, with what was ruled out",
    fact: "the experiment asked for it",
    certainty: {
      consistent_with: "consistent with what was read",
      because: "because: it was changed, and the numbers moved",
    },
    follows: (cause: string) => `follows from ${cause}`,
    evidence: "Evidence",
    limit: "Limit",
    limitOf: (limit: string) => `limit ${limit}`,
    from: "Where it was read",
    tied: "Tied to what users see:",
    ties: {
      accounts: (share: string) => `its time is ${share} of the response time`,
      bound: (share: string) => `the resource is used up, ${share} of it`,
      direct: (share: string) => `it stopped or failed the target itself, for a share of ${share}`,
      growth: (p: string) => `it rises in every trial (p = ${p})`,
      time: (counter: string, watched: string, rho: string, q: string) =>
        `${counter} moves with ${watched} second by second (rank correlation ${rho}, q = ${q})`,
      watched: { p99: "p99", p50: "the median", failures: "failures" },
    },
    toKnow: "To find out:",
    tried: "Tried:",
    predicted: (metric: string, factor: string, isMore: boolean) =>
      `(predicted: ${within(metric)} ${isMore ? "above" : "below"} ${factor} times what it was)`,
    command: "Command of the intervention",
    trials: (n: number) => `${counted(n, "trial")} looked at`,
    voidOnly: ", all void",
    ruledOut: "Looked at and ruled out",
    unread: "Could not be looked at",
  },

  profiles: {
    about: "Taken after the trials, under a load of their own.",
    profile: "Profile",
    against: "Difference to",
    total: (amount: string) => `${amount} in all`,
    units: {
      cpu_ns: "of CPU time",
      elapsed_ns: "elapsed",
      blocked_ns: "blocked",
      bytes: "",
      objects: "objects",
      samples: "samples",
      goroutines: "goroutines",
    },
    top: "The functions with the most of their own",
    function: "Function",
    own: "Own",
    withCallees: "With what it calls",
  },

  layers: {
    about:
      "What each level takes more than the level before it, all else equal: mean of the differences by block, with its interval by t. The answer is after Holm's correction over all layers in all metrics; a layer whose interval holds 0 has no cost shown. CPU time is the layer's own; response time under a closed load has the waiting in it that the slower server makes.",
    verdicts: { costs: "costs", saves: "saves", not_shown: "no cost shown", refused: "refused" },
    at: (factor: string, at: string) => `${factor} at ${at}`,
    where: "Where",
    caption: "What each layer costs, by metric",
    layer: "Layer",
    cost: "Cost",
    base: "base",
    all: (n: number) => `all ${n} layers`,
  },

  agents: {
    about:
      "The agents that make the load together. Drift, lateness, stolen CPU and spread are those of the worst trial; response times are those of the trial in the middle. Each agent is held against the gates of its trials by itself. Differences between the agents' response times void nothing, because agents stand at different places in the network.",
    caption: (trials: number) =>
      trials > 0 ? `What each agent did in ${counted(trials, "trial")}` : "The agents as the run began",
    agent: "Agent",
    host: "Host",
    share: "Share",
    offset: "Clock ahead",
    bound: "Within",
    apart: "Drift",
    delivered: "Delivered",
    lag: "Late p99",
    steal: "CPU stolen",
    reconnects: "Reconnects",
    gates: "Gates",
    kept: (gates: number) => `all ${gates} kept`,
    notKept: (gate: string, failed: number, trials: number) =>
      `${gate} not kept in ${failed} of ${counted(trials, "trial")}`,
    gateNames: {
      fleet_share: "share",
      fleet_clock: "clock",
      fleet_lag: "lateness",
      fleet_steal: "stolen CPU",
    } as Record<string, string>,
    p50Spread: "Spread of medians",
    p99Spread: "Spread of p99",
  },
  messages: {
    about:
      "The ledger of messages, beside that of the streams that carry them: scheduled = completed + failed + censored, summed over the valid trials. Times are those of the trial in the middle; percentiles are never averaged.",
    caption: "Messages of each cell: their ledger and their times",
    unanswered: "Unanswered",
  },
  requests: {
    about:
      "Of all valid trials of a cell: the eight slowest requests by response time, and the first eight failures. With traces, sampled requests have lists of their own.",
    caption: "The slowest requests and the first failures",
    lists: {
      slowest: "Slowest",
      slowest_sampled: "Slowest sampled",
      failures: "First failures",
      failures_sampled: "First sampled failures",
    },
    request: "Request",
    number: "Number",
    response: "Response",
    waited: "Waited",
    ended: "Ended",
    sampled: "Sampled",
    trace: "Trace id",
    yes: "yes",
    no: "no",
    spansAbout:
      "Where their time went, by the target's spans. “Itself” lies in none of the spans within; shares are of the response time, and those of spans that run at the same time may add up to more than 100 %.",
    spansOf: (name: string, request: string, trial: string, response: string, outside: string) =>
      `${name} #${request} of trial ${trial}: ${response}, ${outside} of it outside of all spans`,
    span: "Span",
    service: "Service",
    lasted: "Lasted",
    itself: "Itself",
    share: "Share",
    more: (spans: number) => `and ${counted(spans, "more span")}`,
  },
  memory: {
    about:
      "The valid trial with the middle throughput of each cell. Panels over each other share one time axis, so that a rise of p99 can be held against collections and growth; what the target does not tell has no panel.",
    allocates: (bytes: string) => `allocates ${bytes} for each request`,
    objects: (n: string) => `${n} objects for each request`,
    collections: (n: string) => `${n} collections per second`,
    pauses: (share: string) => `pauses take ${share} of the time`,
    cpu: (share: string) => `${share} of its CPU time is collection`,
  },

  ranking: {
    by: (metric: string) => `Ranked by ${metric.toLowerCase()}`,
    inOrder: "In the order of the plan",
  },
  decision: {
    about:
      "Read off the comparisons of this run, and of nothing else. An option stands alone only where it was shown to be better than each other one under that load; how much better is under Comparison.",
    caption: "One row for each load under which options were compared",
    workload: "Load",
    best,
    notCompared: "not compared",
    or: " or ",
    among: "no difference shown between them",
    equivalent: "equivalent",
    noDifference: "no difference shown",
    untold: "unknown",
  },

  environment: {
    about: "The host as it was found before the first trial, what matters most first.",
    loud: "What may move the numbers",
    quiet: (n: number) => `${counted(n, "further fact")} about the host`,
    all: "Further facts",
    state: "State",
    fact: "Fact",
    found: "Found",
    effect: "Effect",
    tuned: "Changed for this run",
    insteadOf: (now: string, old: string) => `${now} instead of ${old}`,
    versions: "Versions",
    versionOf: "Of",
    version: "Version",
    services: "Services",
    difference: (a: string, b: string) => `Difference: ${a} against ${b}`,
    differences: "Facts that differ",
    same: (same: number, not: number) =>
      `${counted(same, "fact")} the same in both, ${not === 0 ? "none differs" : not === 1 ? "1 differs" : `${not} differ`}`,
    weights: {
      decisive: "These move the numbers: comparing the two measures them too",
      possible: "These can move the numbers of some loads",
      unknown: "These are not known on one side",
    },
  },

  reproduce: {
    about: (seed: number) =>
      `Seed ${seed}: the order of trials, arrivals and everything else that is random follow from it.`,
    command: "The command that began the run",
    experiment: "Experiment file",
    settings: (n: number) => `All ${n} settings of the plan`,
    setting: "Setting",
    run: "Run folder",
    design: "Design",
    blocksOfCells: (blocks: number, cells: number) =>
      `${counted(blocks, "block")} of ${counted(cells, "cell")} in random order`,
    seed: "Seed",
    warmup: "Warm-up",
    fromTo: (from: string, to: string) => (from === to ? from : `${from} to ${to}`),
    samples: "Samples",
    samplesOf: (n: number, length: string, drain: string) =>
      `${n} × ${length} in each trial, then ${drain} drain`,
    margin: "Margin and confidence",
    cpus: "CPU sets",
    generatorCpus: (list: string) => `generator ${list}`,
    targetCpus: (list: string) => `target ${list}`,
    notConfined: "not confined",
    instrument: "Instrument",
    instrumentOf: (step: string, read: string, p50: string, p99: string) =>
      `clock step ${step}, one reading ${read}; a timed wait of 100 µs wakes ${p50} late (p50), ${p99} (p99)`,
    prony: "prony",
  },

  data: {
    about:
      "Centre over the valid trials of each cell with its interval, and every trial. Every scheduled request is completed, failed or censored.",
    cells: "Cells",
    trials: "Every trial",
    levels: "Where the spread comes from",
    levelsAbout:
      "Standard deviation between the samples of one trial and between trials, as shares of the mean (Kalibera and Jones). Where most variance lies between trials, restarting changes the answer: more blocks narrow the interval, longer trials do not.",
    limits: "What targets were confined to",
    limit: "Limits",
    quota: "Quota",
    neverThrottled: "never throttled",
    throttled: (share: string, time: string) => `throttled in ${share} of periods, ${time}`,
    coldStart: "Cold start",
    usual: "As load tools print it",
    usualAbout:
      "Centres over the valid trials without their intervals, and what is never compared: the longest response of all trials, the CPU time of the target over what it may use, and the same in the busiest interval.",
    max: "Max",
    cpu: "CPU",
    cpuPeak: "CPU peak",
    outcomes: (valid: number, isVoid: number, failed: number) =>
      [`${valid} valid`, isVoid > 0 ? `${isVoid} void` : "", failed > 0 ? `${failed} failed` : ""]
        .filter((text) => text !== "")
        .join(", "),
    block: "Block",
    outcome: "Outcome",
    window: "Window",
    scheduled: "Scheduled",
    completed: "= completed",
    failed: "+ failed",
    censored: "+ censored",
    steady: { flat: "steady", warm_up: "warm-up", slow_down: "slow-down", unsteady: "unsteady" },
    cannotBeTold: "unknown",
    trialsSamples: "Trials × samples",
    betweenSamples: "Between samples",
    betweenTrials: "Between trials",
    clipped: "none beyond the samples'",
    trialShare: "Variance between trials",
    samplesBest: "Best samples in a trial",
  },
};

export type Words = typeof en;
