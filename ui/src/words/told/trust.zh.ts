/**
 * Whether numbers may be believed: the summary with its notes, gates of trials, steady state, arrivals, the instrument
 * (`analyze/src/run/{belief,steady,control,cross_checks,confinement}`, `analyze/src/trial`, `arrivals`, `instrument`).
 */
import type { Entry } from "./engine";

export const trustZh: readonly Entry[] = [
  // The summary.
  ["These numbers can be believed: {any}.", "这些数字可信：{any}。"],
  ["These numbers can be believed with {count}: {any}¦.", "这些数字可信，但有 {count}：{any}。"],
  ["These numbers can be believed: {any}; {failed}.", "这些数字可信：{any}；{failed}。"],
  [
    "These numbers can be believed with {count}: {any}; {failed}¦.",
    "这些数字可信，但有 {count}：{any}；{failed}。",
  ],
  ["{failed}", "{failed}"],

  // Outcomes and cells.
  ["{n} of {count} ¦is void¦ ({ids})", "{count}中有 {n} 个作废（{ids}）"],
  ["{n} of {count} ¦are void¦ ({ids})", "{count}中有 {n} 个作废（{ids}）"],
  ["{n} of {count} ¦failed¦ ({ids})", "{count}中有 {n} 个失败（{ids}）"],
  ["{n} of {count} ¦is void¦ ({ids})¦: {any}", "{count}中有 {n} 个作废（{ids}）：{any}"],
  ["{n} of {count} ¦are void¦ ({ids})¦: {any}", "{count}中有 {n} 个作废（{ids}）：{any}"],
  ["{n} of {count} ¦failed¦ ({ids})¦: {any}", "{count}中有 {n} 个失败（{ids}）：{any}"],
  ["run {n} more block{s?}", "再运行 {n} 个区组"],
  ["finish it with `prony run --resume`", "用 `prony run --resume` 完成它"],

  // Conditions.
  [
    "end them, or give the trial CPUs that nobody else uses (`pin`, isolcpus)",
    "结束它们，或给试次独占的 CPU（`pin`、isolcpus）",
  ],
  ["use a host with dedicated cores", "使用有独占 CPU 核的主机"],

  // Steady state.
  ["measure longer", "延长测量时间"],
  ["{n} intervals with answers are needed, had {n2}", "需要 {n} 个有应答的时间段，实有 {n2} 个"],
  [
    "{n} intervals with answers are needed, had {n2}: measure for at least {q} s",
    "需要 {n} 个有应答的时间段，实有 {n2} 个：至少测量 {q} s",
  ],
  ["measure for at least {q} s", "至少测量 {q} s"],
  ["its load changes by plan", "它的负载按计划变化"],

  // What warm-up still waits for.
  ["{n} intervals in a row with answers, had {n2}", "需要连续 {n} 个有应答的时间段，实有 {n2} 个"],
  ["{metric} changed by {q} in the last {n} intervals", "{metric}在最近 {n} 个时间段内变化了 {q}"],
  ["{metric} settled only {n} intervals ago", "{metric}刚稳定了 {n} 个时间段"],
  ["{metric} still moves: {q} over {n} intervals", "{metric}仍在变化：{n} 个时间段内 {q}"],
  ["{wanted}: the target's runtime counters cannot be read", "{wanted}：无法读取目标运行时的计数器"],
  ["{wanted}: its CPU time cannot be read", "{wanted}：无法读取它的 CPU 时间"],
  ["{wanted}: known for {n} s only", "{wanted}：目前只知道 {n} s"],
  ["{wanted}: had {n}", "{wanted}：实有 {n} 次"],
  ["{wanted}: varies by {q}", "{wanted}：波动 {q}"],

  // Confinement and counts.
  [
    "not all that the target counts was held against the client: {any}",
    "目标的计数未能全部与客户端对照：{any}",
  ],

  // Gates of a trial.
  [
    "the target ended before the load did: read target.log for its last words",
    "目标在负载结束前就退出了：查看 target.log 的末尾",
  ],
  ["the target ran until the end", "目标一直运行到结束"],
  [
    "no request was answered rightly, most failed as `{key}`: look at the error examples",
    "没有一个请求得到正确应答，大多失败于 `{key}`：查看错误示例",
  ],
  [
    "no request was answered rightly: lengthen the sample or raise the time-out",
    "没有一个请求得到正确应答：延长采样，或调大超时时间",
  ],
  ["{count} answered rightly", "{count}得到正确应答"],
  ["each of {count} has exactly one outcome", "{count}各有且只有一个结果"],
  [
    "{n} of {count} have no outcome or a double one, and {n2} failures have no class or a double one: report this as a fault of prony",
    "{count}中有 {n} 个没有结果或有两个结果，{n2} 个失败没有类别或有两个类别：这是 prony 的缺陷，请报告",
  ],
  [
    "all requests together were in the system for {q} by their number over time and {q2} by their own times, {q3} apart, {q4} allowed",
    "全部请求在系统中的总时间，按在途数量随时间累计为 {q}，按各自的时间累计为 {q2}，相差 {q3}，允许 {q4}",
  ],
  [
    "{text}: requests or time are miscounted; do not use the numbers, report this as a fault of prony",
    "{text}：请求或时间计数有误；请勿使用这些数字，这是 prony 的缺陷，请报告",
  ],
  ["{n} of {count} open when the load began", "负载开始时，{count}中已建立 {n} 个"],
  [
    "{text}: ask for fewer, or raise the limits on descriptors, ports and backlog (`prony doctor`)",
    "{text}：减少连接数，或提高描述符、端口与积压队列的上限（`prony doctor`）",
  ],
  ["other processes used up to {q} of the trial's CPUs", "其他进程最多占用了试次所用 CPU 的 {q}"],
  [
    "{text}: end them, or give the trial CPUs that nobody else uses (`pin`, isolcpus)",
    "{text}：结束它们，或给试次独占的 CPU（`pin`、isolcpus）",
  ],
  ["the busiest worker of the generator was busy {q} of the time", "发生器最忙的工作线程有 {q} 的时间在忙"],
  [
    "the busiest worker was busy {q} of the time: the generator was the limit, these numbers measure prony and not the target; give it more cores (`workers`) or lower the load",
    "最忙的工作线程有 {q} 的时间在忙：瓶颈是发生器，这些数字测的是 prony 而不是目标；给它更多核（`workers`），或降低负载",
  ],
  ["the generator itself was up to {q} late (p99), {q2} allowed", "发生器自身最多迟到 {q}（p99），允许 {q2}"],
  [
    "{text}: give it a core of its own (`pin`), more workers, or a lower rate",
    "{text}：给它独占的核（`pin`）、更多工作线程，或降低速率",
  ],
  ["achieved {q} of {q2} requests per second offered ({q3})", "计划每秒 {q2} 个请求，实际 {q} 个（{q3}）"],
  [
    "{text} though the target was not saturated: look for lost answers, time-outs, ports and descriptors (`prony doctor`)",
    "{text}，而目标并未饱和：检查丢失的应答、超时、端口和描述符（`prony doctor`）",
  ],
  [
    "Little's law: {q} requests in the system against throughput x response time = {q2}{held?}, {q3} apart, {q4} allowed",
    "利特尔定律：系统中有 {q} 个请求，而吞吐量 × 响应时间 = {q2}{held?}，相差 {q3}，允许 {q4}",
  ],
  ["{q} of this host's CPU time was stolen by its hypervisor", "本机有 {q} 的 CPU 时间被虚拟机监控程序抢占"],
  [
    "{text}: use a host with dedicated cores, or run when its neighbours are quiet",
    "{text}：使用有独占 CPU 核的主机，或在邻居安静时运行",
  ],
  [
    "a fixed amount of work took {q} ¦less¦ time after the load than before it, {q2} allowed",
    "固定工作量在负载之后的用时比之前少 {q}，允许 {q2}",
  ],
  [
    "a fixed amount of work took {q} ¦more¦ time after the load than before it, {q2} allowed",
    "固定工作量在负载之后的用时比之前多 {q}，允许 {q2}",
  ],
  [
    "{text}: other processes had the CPU for a part of it; end them, then look again",
    "{text}：期间其他进程占用了 CPU；结束它们，再重新查看",
  ],
  [
    "{text}: the CPU changed its speed; fix its clock (`prony doctor`), or use a host with dedicated cores",
    "{text}：CPU 的速度变了；固定它的频率（`prony doctor`），或使用有独占 CPU 核的主机",
  ],
  [
    "{key} cannot be computed, a number in it is not finite: report this as a fault of prony",
    "无法计算 {key}，其中有一个数不是有限的：这是 prony 的缺陷，请报告",
  ],

  // Arrivals.
  ["99 % written within {q} of the intended time, {q2} allowed", "99 % 在计划时刻后 {q} 内发出，允许 {q2}"],
  [
    "the gaps of {n} requests follow their law: D = {q}, {q2} allowed, rate {q3} of the intended",
    "{n} 个请求的间隔符合其分布：D = {q}，允许 {q2}，速率为计划的 {q3}",
  ],
  ["{n} requests kept their intended times: {any}", "{n} 个请求遵守了计划时刻：{any}"],
  [
    "the gaps of {n} requests follow their law up to the lag that is allowed: {any}",
    "{n} 个请求的间隔在允许的滞后内符合其分布：{any}",
  ],
  [
    "the intended times of {n} requests are not those that were asked for: report this as a fault of prony",
    "{n} 个请求的计划时刻与要求不符：这是 prony 的缺陷，请报告",
  ],
  [
    "{q} of the intended rate was sent in {n} requests, within {q2} allowed; {any}",
    "{n} 个请求中只发出计划速率的 {q}，允许偏差 {q2}；{any}",
  ],
  [
    "the gaps of {n} requests are not those of their law: D = {q}, {q2} allowed; {any}",
    "{n} 个请求的间隔不符合其分布：D = {q}，允许 {q2}；{any}",
  ],
  [
    "neighbouring gaps of {n} requests depend on each other: {q} from the law's rank correlation, {q2} allowed; {any}",
    "{n} 个请求的相邻间隔彼此相关：与该分布的秩相关相差 {q}，允许 {q2}；{any}",
  ],
  ["{n} requests did not keep their intended times: {any}", "{n} 个请求未遵守计划时刻：{any}"],
  [
    "give the generator a core of its own (`pin`), more workers, more connections, or a lower rate",
    "给发生器独占的核（`pin`）、更多工作线程、更多连接，或降低速率",
  ],

  // The target's own counts.
  [
    "the target counted {count}, the client had {n} answers{unanswered?}: {q} apart, {q2} allowed, the borders of the samples included",
    "目标计数为 {count}，客户端得到 {n} 个应答{unanswered?}：相差 {q}，允许 {q2}（已计入采样边界）",
  ],
  [
    "{text}: find who else asks the target, or what its counter counts besides (labels in `[metrics]`)",
    "{text}：查明还有谁在请求目标，或它的计数器还计入了什么（`[metrics]` 中的标签）",
  ],
  [
    "{text}: find what answers in the target's place (a cache, a proxy, another process that counts for itself), or what its counter leaves out; else report this as a fault of prony",
    "{text}：查明是什么替目标作了应答（缓存、代理、自行计数的另一个进程），或它的计数器漏掉了什么；否则这是 prony 的缺陷，请报告",
  ],
  [
    "95 % of the requests took the target {its} by its own clock, and {q} as the client saw it: {q2} apart, {q3} allowed",
    "95 % 的请求按目标自己的时钟用时 {its}，在客户端看来为 {q}：相差 {q2}，允许 {q3}",
  ],
  [
    "{text}: no request takes the target longer than its client; look at the unit and the labels of its histogram in `[metrics]`, else report this as a fault of prony",
    "{text}：请求在目标处的用时不可能比在客户端更长；检查 `[metrics]` 中直方图的单位和标签，否则这是 prony 的缺陷，请报告",
  ],
  [
    "{text}: time passes where the target's clock does not see it, in the network, in the queues of its sockets or in the generator; use fewer connections or a lower rate, or allow more (`[checks]` p95)",
    "{text}：时间花在目标的时钟看不到的地方：网络、套接字队列或发生器；减少连接或降低速率，或放宽允许值（`[checks]` 的 p95）",
  ],

  // The instrument's own limits, and prony's way of being disturbed.
  [
    "{load} with {count}: the instrument gives at most {q} per second there, {how_much}",
    "{count}、{load}：仪器此时每秒最多 {q}，{how_much}",
  ],
  [
    "use {n} workers, each on a CPU of its own, or more machines, or ask for at most {q} per second",
    "用 {n} 个各占一个 CPU 的工作线程，或更多机器，或把要求降到每秒最多 {q}",
  ],
  [
    "use more workers, each on a CPU of its own, a quieter machine, or a lower rate",
    "用更多各占一个 CPU 的工作线程、更安静的机器，或更低的速率",
  ],
  ["run `prony calibrate` again while the host is quiet", "等主机安静时重新运行 `prony calibrate`"],
  [
    "the host was busy: {busy_with} while these limits were measured, so they may be too low",
    "主机当时繁忙：测量这些上限时{busy_with}，因此它们可能偏低",
  ],
  [
    "the host was not quiet: 1 % of the runs of a fixed amount of work took {q} times the median or more, so these limits may be too low",
    "主机当时不安静：固定工作量有 1 % 的次数用时达到中位数的 {q} 倍以上，因此这些上限可能偏低",
  ],
  ["{changed} was {name} and is {name2}", "{changed}原为 {name}，现为 {name2}"],
  [
    "prony could not be confined to its CPUs ({any}); it may disturb the target",
    "prony 无法限定在它的 CPU 上（{any}）；它可能干扰目标",
  ],
  [
    "{name} is now {name2}, was {name3} when the run began: trials before and after differ in it",
    "{name} 现为 {name2}，运行开始时为 {name3}：前后的试次在这一点上不同",
  ],
  // How a planned adaptive run ended.
  [
    "the budget of {q} has no room for another block: {count} took {q2}",
    "预算 {q} 容不下又一个区组：{count}已用 {q2}",
  ],
  ["the precision of ± {q} is reached", "已达到 ± {q} 的精度"],
  ["{n} blocks are the most that were asked for", "最多只要求 {n} 个区组"],
];

export const trustKindsZh: Record<string, readonly Entry[]> = {
  failed: [
    ["{q} of the requests failed {failed_in}", "{failed_in}有 {q} 的请求失败"],
    [
      "{q} of the requests failed {failed_in}: times and rate are of the right answers only",
      "{failed_in}有 {q} 的请求失败：时间和速率只来自正确的应答",
    ],
    [
      "{q} of the requests failed ({n} of {count}{failed_class?})",
      "有 {q} 的请求失败（{count}中的 {n} 个{failed_class?}）",
    ],
    [
      "{q} of the requests failed ({n} of {count}{failed_class?})¦: times and rate are of the right answers only",
      "有 {q} 的请求失败（{count}中的 {n} 个{failed_class?}）：时间和速率只来自正确的应答",
    ],
    [
      "{q} of the requests failed ({n} of {count}{failed_class?})¦: times and rate are of the right answers only and hide what users saw; mend the target or the scenario, or accept the failures (`--errors-ok`, or `--fail` with your own limit)",
      "有 {q} 的请求失败（{count}中的 {n} 个{failed_class?}）：时间和速率只来自正确的应答，掩盖了用户所见；修好目标或场景，或接受这些失败（`--errors-ok`，或用 `--fail` 自定上限）",
    ],
  ],
  failed_in: [
    ["({cell})", "（{cell}）"],
    ["in the worst of {n} cells that had failures ({cell})", "（{n} 个有失败的单元中最差的：{cell}）"],
  ],
  failed_class: [[", most as `{key}`", "，大多为 `{key}`"]],
  busy_with: [
    ["other processes used {q} of its CPUs", "其他进程占用了其 CPU 的 {q}"],
    ["its hypervisor gave {q} of its CPU time to others", "虚拟机监控程序把 {q} 的 CPU 时间给了别人"],
  ],
  wanted: [
    ["at most one garbage collection in {n} s", "{n} s 内最多一次垃圾回收"],
    ["the target's CPU within {q} over {n} s", "目标的 CPU 在 {n} s 内波动不超过 {q}"],
  ],
  held: [[" and {q} connections", "，另有 {q} 个连接"]],
  unanswered: [[" and {n} without one", "，另有 {n} 个没有应答"]],
  its: [
    ["{q} to {q2}", "{q} 至 {q2}"],
    ["more than {q}", "超过 {q}"],
  ],
  how_much: [
    ["{q} times that is asked for", "而要求是它的 {q} 倍"],
    ["that leaves {q} times of reserve where {q2} are needed", "余量只有 {q} 倍，而需要 {q2} 倍"],
  ],
  changed: [
    ["prony", "prony "],
    ["the kernel", "内核"],
    ["the number of usable CPUs", "可用 CPU 数"],
  ],
};
