/** Ladders, searches, soaks, factors and layers, objectives, and runs against each other. */
import type { Entry } from "./engine";

export const measuresZh: readonly Entry[] = [
  // Why no knee, no highest throughput, no law.
  ["the trial is not of the rate that the search asked for", "该试次的速率不是搜索所要求的"],
  ["no reason given", "未给出原因"],
  ["the budget is used up", "预算已用完"],
  ["after {n} blocks nothing can be judged yet: {any}", "{n} 个区组之后还无法判断：{any}"],
  ["{any} not decided yet", "{any}尚无定论"],
  ["after {n} blocks ± {q} ({judged})", "{n} 个区组之后 ± {q}（{judged}）"],
  [
    "after {n} blocks ± {q} ({judged})¦, about {n2} blocks would do",
    "{n} 个区组之后 ± {q}（{judged}），约需 {n2} 个区组",
  ],
  ["{judged}: {any}", "{judged}：{any}"],

  // Objectives.
  ["{condition} ¦holds¦: {any}", "{condition} 成立：{any}"],
  ["{condition} ¦does not hold¦: {any}", "{condition} 不成立：{any}"],
  ["{condition} ¦is unknown¦: {any}", "{condition} 无法判断：{any}"],
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
  ["no quota", "无配额"],

  // Soaks.
  ["segment {n}: {any}", "段 {n}：{any}"],
  [
    "the target is restarted, so this is segment {n} and is judged by itself, over {n2} windows",
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
  ["version of {name}: {name2} → {name3}", "{name} 的版本：{name2} → {name3}"],
];

export const measureKindsZh: Record<string, readonly Entry[]> = {
  judged: [
    ["{metric} of {cell}", "{cell} 的{metric}"],
    ["{metric} of {cell} against {cell2}", "{cell} 对比 {cell2} 的{metric}"],
  ],
  condition: [
    ["{key} {sign} {q}", "{key} {sign} {q}"],
    ["{key}", "{key}"],
  ],
  limit_source: [
    ["memory available on the host", "主机可用内存"],
    ["{limit_source}, 2 KiB each", "{limit_source}，每个 2 KiB"],
    ["{name}", "{name}"],
  ],
};
