/** Ladders, searches, soaks, factors and layers, objectives, and runs against each other. */
import type { Entry } from "./engine";

export const measuresZh: readonly Entry[] = [
  // Answers of ladders and searches.
  ["{who} {highest}; {knee}.", "{who}{highest}；{knee}。"],
  [
    "No rate of {who} is verified under {objective}: {any}.",
    "{who} 在 {objective} 的条件下没有速率通过验证：{any}。",
  ],
  [
    "{who} takes {q} requests per second under {objective}, verified in {count}{limit_at?}.",
    "{who} 在 {objective} 的条件下每秒能承受 {q} 个请求，经 {count}验证{limit_at?}。",
  ],
  [
    "{who} takes {q} requests per second under {objective}, verified in {count}{limit_at?}¦; {any}.",
    "{who} 在 {objective} 的条件下每秒能承受 {q} 个请求，经 {count}验证{limit_at?}；{any}。",
  ],
  ["no trial was run", "没有运行试次"],
  ["none was looked for", "没有寻找"],

  // Why no knee, no highest throughput, no law.
  ["no level has a valid trial: see the reasons of the trials", "没有一级有有效试次：见各试次的原因"],
  ["3 levels needed, had {n}: lengthen the ladder", "需要 3 级，实有 {n} 级：加长阶梯"],
  [
    "throughput may rise further beyond {q}: its last step gained {q2} per doubling; raise the ladder",
    "超过 {q} 后吞吐量可能继续上升：最后一级每加倍增加 {q2}；加高阶梯",
  ],
  [
    "no knee is claimed and throughput is not flat, so it cannot be told whether the ladder reached the end: raise the ladder, or run more blocks",
    "未断定拐点，吞吐量也不平坦，因此无法判断阶梯是否到顶：加高阶梯，或增加区组",
  ],
  [
    "{count} with a value needed, had {n}: lengthen the ladder{or_samples?}",
    "需要 {count}有数值，实有 {n} 个：加长阶梯{or_samples?}",
  ],
  [
    "a bend near {q} shows, but {count} are too few to tell it from noise (AICc prefers a line without one): run more blocks, or more levels",
    "{q} 附近有弯折的迹象，但 {count}太少，无法与噪声区分（AICc 更支持没有弯折的直线）：增加区组或级数",
  ],
  [
    "p95 bends nowhere between {q} and {q2} (ΔBIC {q3}, {q4} needed): raise the ladder, or run more blocks if p95 differs much between trials",
    "p95 在 {q} 与 {q2} 之间没有弯折（ΔBIC {q3}，需要 {q4}）：加高阶梯；若各试次的 p95 相差很大，则增加区组",
  ],
  [
    "throughput rises in proportion to the load up to {q}, the last level: the knee lies beyond; raise the ladder",
    "直到最后一级 {q}，吞吐量都与负载成正比：拐点还在更高处；加高阶梯",
  ],
  [
    "throughput is flat from {q} on, the first level: the knee lies below, or something else than the load limits it; begin the ladder lower",
    "从第一级 {q} 起吞吐量就是平的：拐点在更低处，或限制它的不是负载；让阶梯从更低处开始",
  ],
  [
    "no place between {q} and {q2} stands out as a knee (ΔBIC {q3}, {q4} needed): throughput bends evenly, or trials differ too much; run more blocks, or a wider ladder",
    "{q} 与 {q2} 之间没有突出的拐点（ΔBIC {q3}，需要 {q4}）：吞吐量均匀地弯曲，或各试次相差太大；增加区组，或拉宽阶梯",
  ],
  [
    "the law speaks of concurrency, and this ladder is of rates: give a ladder of connections",
    "该定律针对并发数，而这是速率的阶梯：请给出连接数的阶梯",
  ],
  [
    "the law misses {q} by {q2}, so it does not describe this ladder (a hard limit such as a quota or a pool bends more sharply than any contention): use the knee",
    "该定律在 {q} 处偏差 {q2}，因此不能描述这个阶梯（配额、连接池之类的硬上限比任何竞争都弯得更急）：请看拐点",
  ],
  [
    "the law misses {load} by {q}, so it does not describe this ladder (a hard limit such as a quota or a pool bends more sharply than any contention): use the knee",
    "该定律在 {load}处偏差 {q}，因此不能描述这个阶梯（配额、连接池之类的硬上限比任何竞争都弯得更急）：请看拐点",
  ],
  ["the trial is not of the rate that the search asked for", "该试次的速率不是搜索所要求的"],
  [
    "{n} trials at {q} requests per second could not be judged and counted as failed ({any}): the limit may be that of the instrument or of the trial's length, not the target's",
    "每秒 {q} 个请求的 {n} 个试次无法判断，按未达到计（{any}）：该极限可能是仪器或试次长度的，而不是目标的",
  ],
  [
    "trials at {q} requests per second could not be judged and counted as failed ({any}): the limit may be that of the instrument or of the trial's length, not the target's",
    "每秒 {q} 个请求的试次无法判断，按未达到计（{any}）：该极限可能是仪器或试次长度的，而不是目标的",
  ],
  ["no reason given", "未给出原因"],
  [
    "the highest rate that was allowed, {q} per second, passes: the limit lies beyond; allow more with --max-rate",
    "所允许的最高速率每秒 {q} 也能达到：极限还在更高处；用 --max-rate 放宽",
  ],
  [
    "even {q} requests per second fails, the lowest rate at which a trial of this length can be judged: relax the objective, or lengthen the trials",
    "连每秒 {q} 个请求也未达到，而这是该长度的试次所能判断的最低速率：放宽目标条件，或延长试次",
  ],
  [
    "the search ended before {candidates} were confirmed {n} times (tolerance {q}): give it more --budget, or finish it with `prony run --resume`",
    "搜索在{candidates}确认 {n} 次之前就结束了（容差 {q}）：加大 --budget，或用 `prony run --resume` 完成它",
  ],
  ["the budget is used up", "预算已用完"],
  ["{judged}: its spread is beyond every number", "{judged}：离散程度超出可表示的范围"],
  ["the plan has no cells", "计划中没有单元"],
  ["after {n} blocks nothing can be judged yet: {any}", "{n} 个区组之后还无法判断：{any}"],
  ["after {n} blocks ± {q} ({judged})", "{n} 个区组之后 ± {q}（{judged}）"],
  [
    "after {n} blocks ± {q} ({judged})¦, about {n2} blocks would do",
    "{n} 个区组之后 ± {q}（{judged}），约需 {n2} 个区组",
  ],
  ["{judged}: {any}", "{judged}：{any}"],

  // Objectives.
  ["{condition} ¦holds¦: {any}", "{condition} 成立：{any}"],
  ["{condition} ¦does not hold¦: {any}", "{condition} 不成立：{any}"],
  ["{condition} ¦cannot be told¦: {any}", "{condition} 无法判断：{any}"],
  ["no request was offered: measure longer", "没有计划任何请求：延长测量时间"],
  ["goodput is {q} of what was offered, {q2} needed", "正确应答为计划的 {q}，需要 {q2}"],
  [
    "the backlog rose by {count} over the samples (Spearman {q}, p = {q2})",
    "采样期间积压增加了 {count}（Spearman {q}，p = {q2}）",
  ],
  ["no request was completed or failed: measure longer", "没有请求完成或失败：延长测量时间"],
  ["it was not measured", "没有测量"],
  ["this load has no such time", "该负载没有这种时间"],

  // Factors and layers.
  [
    "the cells are not every combination of the factors, so what one does cannot be told from what another does: run all combinations",
    "单元没有覆盖各因素的所有组合，因此无法区分各因素的作用：运行全部组合",
  ],
  [
    "{n} effects on each metric are more than {n2}: use fewer levels",
    "每个指标有 {n} 项效应，超过 {n2} 项：减少水平数",
  ],
  [
    "a value is 0, which has no logarithm: compare the cells by differences",
    "有一个值为 0，没有对数：请按差值比较各单元",
  ],
  ["no valid trial: look at the reasons of its trials", "没有有效试次：查看各试次的原因"],
  ["no quota", "无配额"],

  // Soaks.
  ["{cell} leaks {counters}: {trends}.", "{cell}：{counters}有泄漏；{trends}。"],
  [
    "It cannot be told whether {cell} leaks: nothing that it holds could be read; let prony start the target on this machine¦.",
    "{cell}：无法判断是否泄漏：它占用的资源一项也无法读取；请让 prony 在本机启动目标。",
  ],
  [
    "It cannot be told whether {cell} leaks: nothing that it holds could be read; let prony start the target on this machine¦; {trends}.",
    "{cell}：无法判断是否泄漏：它占用的资源一项也无法读取；请让 prony 在本机启动目标；{trends}。",
  ],
  [
    "It cannot be told yet whether {cell} leaks {counters}: {trends}.",
    "{cell}：尚不能判断{counters}是否泄漏；{trends}。",
  ],
  ["{cell} does not leak {over}: {trends}.", "{cell}：{over}没有泄漏；{trends}。"],
  [
    "{cell} does not leak {over}: {counters} ¦is¦ steady, horizon {q}¦.",
    "{cell}：{over}没有泄漏；{counters}平稳，时间范围 {q}。",
  ],
  [
    "{cell} does not leak {over}: {counters} ¦are¦ steady, horizon {q}¦.",
    "{cell}：{over}没有泄漏；{counters}平稳，时间范围 {q}。",
  ],
  [
    "{cell} does not leak {over}: {counters} ¦is¦ steady, horizon {q}¦; {trends}.",
    "{cell}：{over}没有泄漏；{counters}平稳，时间范围 {q}；{trends}。",
  ],
  [
    "{cell} does not leak {over}: {counters} ¦are¦ steady, horizon {q}¦; {trends}.",
    "{cell}：{over}没有泄漏；{counters}平稳，时间范围 {q}；{trends}。",
  ],
  [
    "{cell} may leak {counters}, but too slowly for the horizon: {trends}.",
    "{cell}：{counters}可能有泄漏，但在所定时间范围内不会耗尽；{trends}。",
  ],
  ["{cell} does not leak {over}, horizon {q}¦.", "{cell}：{over}没有泄漏；时间范围 {q}。"],
  [
    "{cell} does not leak {over}, horizon {q}¦; {trends}.",
    "{cell}：{over}没有泄漏；时间范围 {q}；{trends}。",
  ],
  ["{counter} {trend_text}", "{counter}{trend_text}"],
  ["{trend_text}", "{trend_text}"],
  [
    "the target was started {n} times, and each start is judged by itself: a leak that needs longer than one of them is not seen",
    "目标启动了 {n} 次，每次单独判断：需要比一次更长的时间才会显现的泄漏看不到",
  ],
  ["{ids} too short to be judged", "{ids} 太短，无法判断"],
  ["segment {n}: {any}", "段 {n}：{any}"],
  [
    "the target is started anew, so this is segment {n} and is judged by itself, over {n2} windows",
    "目标重新启动，因此这是第 {n} 段，在 {n2} 个窗口上单独判断",
  ],
  ["the present segment is there from the begin", "当前段从开始就在"],
  [
    "prony did not start the target, so what it holds cannot be read: name it by `use` or `command`",
    "目标不是由 prony 启动的，无法读取它占用的资源：请用 `use` 或 `command` 指定它",
  ],
  ["the target's limits could not be read: {any}", "无法读取目标的上限：{any}"],
  ["the target could not be read any more; the soak ends here", "目标已无法读取；长时间运行到此结束"],

  // Runs against each other, and histories.
  ["no earlier run has these cells: run a pilot (`--pilot`)", "以前的运行没有这些单元：先试跑（`--pilot`）"],
  [
    "{n} blocks needed to tell a spread, had {n2}: run a pilot (`--pilot`)",
    "需要 {n} 个区组才能得知离散程度，实有 {n2} 个：先试跑（`--pilot`）",
  ],
  ["the spread is no number", "离散程度不是有效的数"],
  [
    "{name} of {count} had samples of another length or number, so the spread may be another now; run a pilot (`--pilot`)",
    "{count}中有 {name} 次的采样长度或数量不同，现在的离散程度可能不同；先试跑（`--pilot`）",
  ],
  [
    "{name} is a run of the experiment {name2}, {name3} of {name4}",
    "{name} 是实验 {name2} 的运行，{name3} 是实验 {name4} 的运行",
  ],
  ["name two runs of one experiment", "请指定同一实验的两次运行"],
  ["{name} has no valid trial, so there is nothing to compare", "{name} 没有有效试次，无可比较"],
  [
    "finish it with `prony run --resume`, or name another run",
    "用 `prony run --resume` 完成它，或指定另一次运行",
  ],
  [
    "the two runs have no cell in common: targets, scenarios, loads or limits all differ",
    "两次运行没有共同的单元：目标、场景、负载或限制各不相同",
  ],
  ["name runs of the same experiment file", "请指定同一实验文件的运行"],
  ["{any}\n  remedy: {any2}", "{any}；办法：{any2}"],
  [
    "the hosts of the two runs differ in what moves every number ({name}): run both on one host, or accept it with --across-hosts",
    "两次运行的主机在会影响所有数字的方面不同（{name}）：请在同一主机上运行，或用 --across-hosts 接受这一差异",
  ],
  [
    "warm-up or samples have other lengths, which moves tails and spreads",
    "预热或采样的长度不同，会影响尾部和离散程度",
  ],
  ["the CPUs of generator and target are others", "发生器与目标所用的 CPU 不同"],
  ["only one of the runs built the targets anew for each trial", "只有一次运行在每个试次前重新构建目标"],
  ["the events within the trials are others", "试次内的事件不同"],
  ["version of {name}: {name2} → {name3}", "{name} 的版本：{name2} → {name3}"],
  [
    "{n} runs needed to tell a change from chance, had {n2}: run it {n3} more times",
    "需要 {n} 次运行才能区分变化与偶然，实有 {n2} 次：再运行 {n3} 次",
  ],
  [
    "{n} series were tested at p ≤ {q}: about {q2} of them show a change by chance alone",
    "以 p ≤ {q} 检验了 {n} 条序列：其中约 {q2} 条会纯属偶然地显示变化",
  ],
  [
    "{n} permutations give no p below {q}, so no change can stand: use more of them",
    "{n} 次置换得不到小于 {q} 的 p，因此没有变化能成立：增加置换次数",
  ],
];

export const measureKindsZh: Record<string, readonly Entry[]> = {
  judged: [
    ["{metric} of {cell}", "{cell} 的{metric}"],
    ["{metric} of {cell} against {cell2}", "{cell} 对比 {cell2} 的{metric}"],
  ],
  who: [
    ["{name}", "{name}"],
    ["{name} ({levels})", "{name}（{levels}）"],
  ],
  levels: [
    ["{load}", "{load}"],
    ["{name}", "{name}"],
  ],
  highest: [
    [
      "takes {q} requests per second at most¦ ({conf} {range})",
      "每秒最多能承受 {q} 个请求（{conf} {range}）",
    ],
    [
      "takes {q} requests per second at most¦ (no interval: {any})",
      "每秒最多能承受 {q} 个请求（无区间：{any}）",
    ],
    ["takes {q} requests per second at most", "每秒最多能承受 {q} 个请求"],
    ["has no highest throughput in this ladder: {any}", "在这个阶梯中没有最高吞吐量：{any}"],
    ["was not measured", "没有测量"],
  ],
  knee: [
    ["its throughput bends at {at_load} ({conf} {range})", "吞吐量在 {at_load}处弯折（{conf} {range}）"],
    ["its throughput bends at {at_load}", "吞吐量在 {at_load}处弯折"],
    ["no knee is claimed: {any}", "未断定拐点：{any}"],
    ["no knee was looked for", "没有寻找拐点"],
  ],
  at_load: [
    ["{q} connections", "{q} 个连接"],
    ["{q} requests per second offered", "计划每秒 {q} 个请求"],
  ],
  limit_at: [["; the limit lies at {range} ({conf})", "；极限在 {range}（{conf}）"]],
  objective: [
    ["{condition} and {objective}", "{condition} 且 {objective}"],
    ["{condition}", "{condition}"],
  ],
  condition: [
    ["{key} {sign} {q}", "{key} {sign} {q}"],
    ["{key}", "{key}"],
  ],
  or_samples: [
    [
      ", or the samples (p95 needs 6,000 requests in a trial)",
      "，或延长采样（p95 在一个试次内需要 6,000 个请求）",
    ],
  ],
  candidates: [
    ["its best candidates", "最佳候选"],
    ["any rates", "任何速率"],
  ],
  over: [["over {count} of {q}", "在 {count}（每个 {q}）内"]],
  trends: [
    ["{trend}", "{trend}"],
    ["{trend}; {trends}", "{trend}；{trends}"],
  ],
  trend: [["{counted} {trend_text}", "{counted}{trend_text}"]],
  trend_text: [
    ["{trend_words}", "{trend_words}"],
    ["{trend_words} (judged after the step at window {n})", "{trend_words}（从窗口 {n} 的台阶之后判断）"],
  ],
  trend_words: [
    ["{rise} over {count} and {ending}", "在 {count}内{rise}，{ending}"],
    ["¦no trend¦ over {count} ({p}), at {q} now{seen?}", "在 {count}内没有趋势（{p}），现为 {q}{seen?}"],
    [
      "¦wanders without a line¦ over {count} ({p}), at {q} now{seen?}",
      "在 {count}内有起伏，但不成直线（{p}），现为 {q}{seen?}",
    ],
    [
      "no trend is shown over {count} ({p}), but at the upper end of its slope, {q} an hour, it would reach {soak_limit} within {q2}: run longer, or set a shorter horizon",
      "在 {count}内未显示趋势（{p}），但按斜率的上端，每小时 {q}，会在 {q2} 内达到{soak_limit}：延长运行，或缩短时间范围",
    ],
    [
      "{rise} over {count}, and no limit could be read to hold it against: give the target a limit in the experiment file",
      "在 {count}内{rise}，但没有读到可对照的上限：请在实验文件中给目标设一个上限",
    ],
    [
      "rose in {count} from {q} to {q2} over {count2} and is level since: more steps may come, so run longer",
      "在 {count2}内分 {count}从 {q} 升到 {q2}，此后持平：可能还有台阶，请延长运行",
    ],
    ["{rise} over {count}, from {q} to {q2} ({p})", "在 {count}内{rise}，从 {q} 到 {q2}（{p}）"],
    ["{q} in all of {count}¦{seen?}", "在全部 {count}中都是 {q}{seen?}"],
    ["no trend can be given over {count}: {any}", "无法给出 {count}内的趋势：{any}"],
    [
      "{n} windows of one start are needed, there are {n2}: run longer",
      "同一次启动需要 {n} 个窗口，现有 {n2} 个：延长运行",
    ],
    [
      "fills up over {count} from {q} towards {q2}: 63 % of what is left each {q3}",
      "在 {count}内从 {q} 趋向 {q2}：每 {q3} 填满余下的 63 %",
    ],
    [
      "fills up over {count} from {q} towards {q2}¦, below {soak_limit}¦: 63 % of what is left each {q3}",
      "在 {count}内从 {q} 趋向 {q2}，低于{soak_limit}：每 {q3} 填满余下的 63 %",
    ],
  ],
  rise: [
    ["rises¦ by {q} an hour (interval {q2} to {q3}, {p})", "每小时上升 {q}（区间 {q2} 至 {q3}，{p}）"],
    ["falls¦ by {q} an hour (interval {q2} to {q3}, {p})", "每小时下降 {q}（区间 {q2} 至 {q3}，{p}）"],
  ],
  ending: [
    ["reaches {soak_limit} in {reach}", "将在 {reach} 后达到{soak_limit}"],
    [
      "would reach {soak_limit} in {reach}, but {harmless} explains it about as well as a line: run longer",
      "按此将在 {reach} 后达到{soak_limit}，但{harmless}同样能解释它：延长运行",
    ],
    [
      "reaches {soak_limit} in {reach}, which may or may not be within {q}: run longer",
      "将在 {reach} 后达到{soak_limit}，未必在 {q} 之内：延长运行",
    ],
    [
      "reaches {soak_limit} in {reach}, after the horizon of {q}",
      "将在 {reach} 后达到{soak_limit}，晚于时间范围 {q}",
    ],
  ],
  seen: [["; a leak of {q} an hour would have been seen", "；每小时 {q} 的泄漏本可看到"]],
  reach: [["{q} ({q2} to {q3})", "{q}（{q2} 至 {q3}）"]],
  soak_limit: [
    ["a limit", "某个上限"],
    ["its limit of {q} ({limit_source})", "其上限 {q}（{limit_source}）"],
  ],
  limit_source: [
    ["memory available on the host", "主机可用内存"],
    ["{limit_source}, 2 KiB each", "{limit_source}，每个 2 KiB"],
    ["{name}", "{name}"],
  ],
  harmless: [
    ["something harmless", "某种无害的形状"],
    ["a curve that levels off below the limit", "低于上限并趋平的曲线"],
    ["a step", "一个台阶"],
    ["a slow wave", "缓慢的起伏"],
  ],
};
