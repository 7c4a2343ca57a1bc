/**
 * Whether numbers may be believed: the summary with its notes, gates of trials, steady state, arrivals, the instrument
 * (`analyze/src/run/{belief,steady,control,cross_checks,confinement}`, `analyze/src/trial`, `arrivals`, `instrument`).
 */
import type { Entry } from "./engine";

export const trustZh: readonly Entry[] = [
  // The summary.
  ["These numbers can be believed: {any}.", "这些数字可信：{any}。"],
  ["These numbers can be believed with {count}: {any}¦.", "这些数字可信，但有 {count}：{any}。"],
  [
    "These numbers can be believed with {count}: {any}¦; see the notes¦.",
    "这些数字可信，但有 {count}：{any}；详见下列说明。",
  ],
  ["These numbers must not be used: {any}.", "这些数字不能使用：{any}。"],
  ["These numbers can be believed: {any}; {failed}.", "这些数字可信：{any}；{failed}。"],
  [
    "These numbers can be believed with {count}: {any}; {failed}¦.",
    "这些数字可信，但有 {count}：{any}；{failed}。",
  ],
  [
    "These numbers can be believed with {count}: {any}; {failed}¦; see the notes¦.",
    "这些数字可信，但有 {count}：{any}；{failed}；详见下列说明。",
  ],
  ["These numbers must not be used: {any}; {failed}.", "这些数字不能使用：{any}；{failed}。"],
  ["{failed}", "{failed}"],
  [
    "look at the errors of its trials and mend the target or the scenario; where failing is the question, claim something about `error_rate`",
    "查看其试次的错误，修好目标或场景；若失败本身就是要问的，请对 `error_rate` 作出断言",
  ],
  ["no trial was run to its end", "没有一个试次运行到结束"],
  ["run the experiment again, or `prony run --resume`", "重新运行实验，或用 `prony run --resume` 续跑"],

  // Outcomes and cells.
  ["{n} of {count} ¦is void¦ ({ids})", "{count}中有 {n} 个作废（{ids}）"],
  ["{n} of {count} ¦are void¦ ({ids})", "{count}中有 {n} 个作废（{ids}）"],
  ["{n} of {count} ¦failed¦ ({ids})", "{count}中有 {n} 个失败（{ids}）"],
  ["{n} of {count} ¦is void¦ ({ids})¦: {any}", "{count}中有 {n} 个作废（{ids}）：{any}"],
  ["{n} of {count} ¦are void¦ ({ids})¦: {any}", "{count}中有 {n} 个作废（{ids}）：{any}"],
  ["{n} of {count} ¦failed¦ ({ids})¦: {any}", "{count}中有 {n} 个失败（{ids}）：{any}"],
  ["cure the reasons, then run the experiment again", "消除这些原因，再重新运行实验"],
  [
    "read their target.log, mend the target, then `prony run --resume`",
    "查看它们的 target.log，修好目标，再用 `prony run --resume` 续跑",
  ],
  ["the one trial is valid", "唯一的试次有效"],
  ["all {n} trials are valid", "全部 {n} 个试次有效"],
  [
    "{n} of {count} ¦has¦ fewer than {n2} valid trials, so there is no interval ({cell}: {n4})",
    "{count}中有 {n} 个的有效试次少于 {n2} 个，因此没有区间（{cell}：{n4} 个）",
  ],
  [
    "{n} of {count} ¦have¦ fewer than {n2} valid trials, so there is no interval ({cell}: {n4})",
    "{count}中有 {n} 个的有效试次少于 {n2} 个，因此没有区间（{cell}：{n4} 个）",
  ],
  ["run {n} more block{s?}", "再运行 {n} 个区组"],
  ["the run ended after {n} of {count}", "运行结束时只完成了 {count}中的 {n} 个"],
  ["the run ended after {count}: {any}", "运行在 {count}后结束：{any}"],
  ["finish it with `prony run --resume`", "用 `prony run --resume` 完成它"],
  ["{any}; the wanted ± {q} is not reached", "{any}；未达到所要的 ± {q}"],
  [
    "raise `design.budget` or `blocks`, or ask for less with `design.precision`",
    "提高 `design.budget` 或 `blocks`，或用 `design.precision` 放宽要求",
  ],
  ["{count} of a cell that the plan does not have, left out", "{count}属于计划中没有的单元，已略去"],
  ["check that all trial folders belong to this run", "检查所有试次目录是否都属于本次运行"],
  ["the clock ran backwards in {ids}, left out", "{ids} 中时钟倒退，已略去"],
  [
    "look for damaged files or files of two runs in one folder; run these trials again",
    "检查文件是否损坏，或目录里混有两次运行的文件；重新运行这些试次",
  ],
  [
    "the plan's confidence level or margin cannot be used; {q} and {q2} were taken",
    "计划中的置信水平或界限无法使用；改用了 {q} 和 {q2}",
  ],
  [
    "set `confidence` between 0.5 and 1 and `margin` above 0",
    "`confidence` 应在 0.5 与 1 之间，`margin` 应大于 0",
  ],

  // Conditions.
  [
    "use a machine with more cores, or set `pin` so that target and generator part",
    "使用核数更多的机器，或设置 `pin` 让目标与发生器分开",
  ],
  ["warm-up ran out before the target was steady in {ids}", "{ids} 的预热到时限时目标仍未平稳"],
  [
    "warm-up ran out before the target was steady in {ids}¦: {any}",
    "{ids} 的预热到时限时目标仍未平稳：{any}",
  ],
  ["raise `warmup.at_most`", "提高 `warmup.at_most`"],
  [
    "up to {q} of the CPU time was stolen from this host in {ids}",
    "{ids} 中本机最多有 {q} 的 CPU 时间被宿主机抢占",
  ],
  [
    "other processes used up to {q} of the trial's CPUs in {ids}",
    "{ids} 中，其他进程最多占用了试次所用 CPU 的 {q}",
  ],
  [
    "end them, or give the trial CPUs that nobody else uses (`pin`, isolcpus)",
    "结束它们，或给试次独占的 CPU（`pin`、isolcpus）",
  ],
  ["use a host with dedicated cores", "使用有独占 CPU 核的主机"],
  [
    "a fixed amount of work took up to {q} more or less time after the load than before it in {ids}: the CPU changed its speed",
    "{ids} 中，固定工作量在负载前后的用时最多相差 {q}：CPU 的速度变了",
  ],
  [
    "fix the clock of the cores (`prony doctor`), or use a host with dedicated cores",
    "固定 CPU 核的频率（`prony doctor`），或使用有独占 CPU 核的主机",
  ],
  [
    "{ids} ran on a slower machine: a fixed amount of work took {slower} in the others{slow_effect?}",
    "{ids} 在较慢的机器上运行：固定工作量的用时{slower}{slow_effect?}",
  ],
  [
    "find what slowed it (`prony doctor`: clock of the cores, a CPU quota, a busy neighbour), then run it again",
    "查明是什么拖慢了它（`prony doctor`：CPU 核的频率、CPU 配额、繁忙的邻居），再重新运行",
  ],
  [
    "{restarting} changes the answer: of the variance of {metric} {q} lies between trials, not between their samples ({cell}, standard deviation {q2})",
    "{restarting}会改变答案：{metric}的方差有 {q} 在试次之间，而不在同一试次的各采样之间（{cell}，标准差 {q2}）",
  ],
  [
    "run more blocks rather than longer samples, and look for what differs between starts",
    "应增加区组而不是延长采样，并查明各次启动之间有何不同",
  ],
  [
    "requests per second differ between trials of one cell by {q} at most (standard deviation, {cell})",
    "同一单元各试次之间的每秒请求数最多相差 {q}（标准差，{cell}）",
  ],
  ["quiet the machine, lengthen the samples, or run more blocks", "让机器安静下来、延长采样，或增加区组"],
  ["no drift over {count}", "{count}内没有漂移"],
  [
    "requests per second {verb} by {q} from the first to the last of {count} (Spearman p = {q2}); comparisons within blocks are spared, values of cells are not",
    "从第一个到最后一个区组（共 {count}），每秒请求数{verb}了 {q}（Spearman p = {q2}）；区组内的对比不受影响，各单元的数值则受影响",
  ],
  [
    "look for heat, growing data or neighbours; run again when the machine is quiet",
    "检查是否因为发热、数据增长或邻居；等机器安静时重新运行",
  ],
  [
    "{n} of ¦1 verdict¦ as faster or slower would not stand if all metrics of the pair were asked at once (Holm)",
    "仅有的 1 项“更快”或“更慢”的结论，在同时检验该对的全部指标（Holm 校正）时不再成立",
  ],
  [
    "{n} of ¦{n2} verdicts¦ as faster or slower would not stand if all metrics of the pair were asked at once (Holm)",
    "{n2} 项“更快”或“更慢”的结论中，有 {n} 项在同时检验该对的全部指标（Holm 校正）时不再成立",
  ],
  [
    "rest conclusions on a metric chosen beforehand, or run more blocks",
    "只依据事先选定的指标下结论，或增加区组",
  ],

  // Steady state.
  ["the one trial judged was steady while it was measured", "所判断的唯一试次在测量期间平稳"],
  ["all {n} trials judged were steady while they were measured", "所判断的 {n} 个试次在测量期间全部平稳"],
  [
    "{n} of {count} judged ({q}) {moved}: {ids}; in trial {n2} {moved_by}",
    "所判断的 {count}中有 {n} 个（{q}）{moved}：{ids}；在试次 {n2} 中，{moved_by}",
  ],
  ["raise `warmup.at_least`, so that the samples begin later", "提高 `warmup.at_least`，让采样更晚开始"],
  [
    "look for growing data, memory or heat, and measure longer to see where it ends",
    "检查数据增长、内存或发热，并延长测量时间，看它何时停止",
  ],
  [
    "measure longer, so that the window holds many of its swings, or find what causes them",
    "延长测量时间，使窗口包含多次起伏，或查明起伏的原因",
  ],
  ["measure longer", "延长测量时间"],
  [
    "whether {n} of {count} were steady while measured cannot be told ({ids}): {any}",
    "无法判断 {count}中的 {n} 个在测量期间是否平稳（{ids}）：{any}",
  ],
  ["{n} intervals with answers are needed, had {n2}", "需要 {n} 个有应答的时间段，实有 {n2} 个"],
  [
    "{n} intervals with answers are needed, had {n2}: measure for at least {q} s",
    "需要 {n} 个有应答的时间段，实有 {n2} 个：至少测量 {q} s",
  ],
  ["measure for at least {q} s", "至少测量 {q} s"],
  ["its load changes by plan", "它的负载按计划变化"],
  [
    "its load changes by plan: use a constant rate, or connections",
    "它的负载按计划变化：改用恒定速率，或按连接数加载",
  ],
  ["events of the plan disturb it on purpose", "计划中的事件有意扰动它"],
  [
    "events of the plan disturb it on purpose: measure without them",
    "计划中的事件有意扰动它：请在没有事件时测量",
  ],
  ["it is longer than {n} intervals: use shorter samples", "它超过 {n} 个时间段：请缩短采样"],
  ["use a constant rate, or connections", "改用恒定速率，或按连接数加载"],
  ["measure without them", "请在没有事件时测量"],
  ["use shorter samples", "请缩短采样"],

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

  // The hidden control.
  [
    "{name} differs from {name2}, which it repeats: {sure_in}, p = {q} after Holm's correction over all metrics. This is no property of a target; differences between targets that are no larger may be of the same kind",
    "{name} 与它所重复的 {name2} 不同：{sure_in}，对全部指标作 Holm 校正后 p = {q}。这不是目标的性质；目标之间不比它更大的差异也可能由此而来",
  ],
  [
    "look at the order of trials and for what one trial leaves behind for the next (ports, page cache, heat); run again with another seed",
    "检查试次的次序，以及前一个试次给后一个留下了什么（端口、页缓存、热量）；换一个种子重新运行",
  ],
  [
    "the hidden control is not equal to itself: {name} against {name2}, {sure_in}",
    "隐藏对照与它自身不相等：{name} 对比 {name2}，{sure_in}",
  ],
  ["trust only differences that are clearly larger; see the findings", "只相信明显更大的差异；见诊断"],
  [
    "the hidden control shows no difference ({cell} run twice: {sure_in})",
    "隐藏对照未显示差异（{cell} 运行两遍：{sure_in}）",
  ],
  ["the hidden control ({cell} run twice) cannot be judged", "无法判断隐藏对照（{cell} 运行两遍）"],
  ["run at least five blocks with valid trials", "至少运行五个有有效试次的区组"],

  // Confinement and counts.
  [
    "see docs/guides/confinement.md for what each limit needs, or take it out of the experiment",
    "各项限制的前提见 docs/guides/confinement.md；也可以从实验中去掉该限制",
  ],
  ["{count} at the memory limit of a target in {ids}", "{ids} 中，目标达到内存上限，{count}"],
  ["raise limits.memory, or have the target use less", "提高 limits.memory，或让目标少用内存"],
  [
    "CPU per request of {name} is constant below its knee, within {q} over {count}",
    "{name} 的每请求 CPU 时间在拐点之前保持不变，{count}之间相差不超过 {q}",
  ],
  [
    "CPU per request of {name} is not constant below its knee: {q} at {load}, {q2} at {load2}",
    "{name} 的每请求 CPU 时间在拐点之前并不恒定：{load}时为 {q}，{load2}时为 {q2}",
  ],
  [
    "compare its CPU at equal loads only; look for work that requests do not cause (timers, collection) where it is high at low load, and for costs of connections where it grows",
    "只在相同负载下比较它的 CPU；若低负载时偏高，检查与请求无关的工作（定时器、垃圾回收）；若随负载增长，检查连接的开销",
  ],
  [
    "the target's own counts could not be held against the client's in {ids}: {any}",
    "{ids} 中，目标自己的计数无法与客户端的对照：{any}",
  ],
  [
    "mend the target's endpoint, or `[metrics]` of its manifest or of the experiment",
    "修好目标的端点，或清单、实验中的 `[metrics]`",
  ],
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
    "{load} with {count}: the instrument itself is {q} late there (p99), more than the {q2} that are always allowed; trials are void unless the target's p99 response time is above {q3}",
    "{count}、{load}：仪器自身此时迟到 {q}（p99），超过始终允许的 {q2}；除非目标的 p99 响应时间高于 {q3}，试次都会作废",
  ],
  [
    "use more workers, each on a CPU of its own, a quieter machine, or a lower rate",
    "用更多各占一个 CPU 的工作线程、更安静的机器，或更低的速率",
  ],
  [
    "whether the instrument can give what is asked for is not known: it was calibrated at a bad time ({any})",
    "不知道仪器能否满足要求：校准时主机繁忙（{any}）",
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
  slower: [
    ["{q} times as long as", "为其他试次的 {q} 倍"],
    ["{q} longer than", "比其他试次多 {q}"],
  ],
  slow_effect: [
    [
      ", and ¦it¦ answered {q} fewer requests per second than the other trials of the same cell: that is the machine, not the target",
      "，且比同一单元的其他试次每秒少应答 {q} 的请求：这是机器的问题，不是目标的",
    ],
    [
      ", and ¦they¦ answered {q} fewer requests per second than the other trials of the same cell: that is the machine, not the target",
      "，且比同一单元的其他试次每秒少应答 {q} 的请求：这是机器的问题，不是目标的",
    ],
  ],
  restarting: [
    ["restarting the target", "重启目标"],
    ["building the target anew", "重新构建目标"],
  ],
  moved: [
    ["still got better while measured (warm-up)", "在测量期间仍在变好（预热未完）"],
    ["got worse while measured (slow-down)", "在测量期间变差（变慢）"],
    ["moved to and fro while measured (unsteady)", "在测量期间来回波动（不平稳）"],
  ],
  moved_by: [
    ["{metric} left its level and came back", "{metric}偏离原有水平后又恢复"],
    ["{metric} {verb} by {q}", "{metric}{verb}了 {q}"],
  ],
  wanted: [
    ["at most one garbage collection in {n} s", "{n} s 内最多一次垃圾回收"],
    ["the target's CPU within {q} over {n} s", "目标的 CPU 在 {n} s 内波动不超过 {q}"],
  ],
  sure_in: [["{metric} ratio {q}, {conf} {q2} to {q3}", "{metric}比值 {q}，{conf} {q2} 至 {q3}"]],
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
