/** The answer in the headline, refusals, comparisons and claims: `analyze/src/run/{answer,data,cells,ratio,claims}`. */
import type { Entry } from "./engine";

export const answersZh: readonly Entry[] = [
  // The whole answer.
  ["{text}.", "{text}。"],
  ["{text}; {n} more in the tables.", "{text}；另有 {n} 条见各表。"],
  ["No answer: {any}; {any2}.", "没有答案：{any}；{any2}。"],
  [
    "No answer: the plan has no cells; add a target and a load.",
    "没有答案：计划中没有单元；请添加目标和负载。",
  ],
  ["run it again", "请重新运行"],
  ["no trial gives a value", "没有任何试次给出数值"],
  ["it is unbounded", "区间无界"],
  ["it was refused", "不予给出"],

  // One target alone.
  ["no {metric} can be given for {name} at {load}: {any}", "无法给出 {name} 在 {load} 下的{metric}：{any}"],
  ["{said} ({conf} {q} to {q2}, {count})", "{said}（{conf} {q} 至 {q2}，{count}）"],
  ["{said}, without an interval: {any}", "{said}；无区间：{any}"],

  // Pairs.
  [
    "{name} serves {q} times as many {metric} as {name2}{at?} ({conf} {q2} to {q3} times, {count})",
    "{at?} {name} 的{metric}是 {name2} 的 {q} 倍（{conf} {q2} 至 {q3} 倍，{count}）",
  ],
  [
    "{name} serves {q} more {metric} than {name2}{at?} ({conf} {q2} to {q3}, {count})",
    "{at?} {name} 的{metric}比 {name2} 多 {q}（{conf} {q2} 至 {q3}，{count}）",
  ],
  [
    "{name} fails {q} less often than {name2}{at?} ({conf} {q2} to {q3}, {count})",
    "{at?} {name} 的失败次数比 {name2} 少 {q}（{conf} {q2} 至 {q3}，{count}）",
  ],
  [
    "{name} uses {q} less {metric} than {name2}{at?} ({conf} {q2} to {q3}, {count})",
    "{at?} {name} 的{metric}比 {name2} 少 {q}（{conf} {q2} 至 {q3}，{count}）",
  ],
  [
    "{name} allocates {q} less per request than {name2}{at?} ({conf} {q2} to {q3}, {count})",
    "{at?} {name} 每请求的分配量比 {name2} 少 {q}（{conf} {q2} 至 {q3}，{count}）",
  ],
  [
    "{name} has a {q} lower {metric} than {name2}{at?} ({conf} {q2} to {q3}, {count})",
    "{at?} {name} 的{metric}比 {name2} 低 {q}（{conf} {q2} 至 {q3}，{count}）",
  ],
  [
    "{name} has a {way} {metric} than {name2}{at?} ({sure})",
    "{at?} {name} 的{metric}比 {name2} {way}（{sure}）",
  ],
  [
    "{name} has a {way} {metric} than {name2}{at?} ({sure} for {name3} less {name4})",
    "{at?} {name} 的{metric}比 {name2} {way}（{name3} 减 {name4} 的{sure}）",
  ],
  [
    "{name} and {name2} are equal in {metric} within {q}{at?} ({sure})",
    "{at?} {name} 与 {name2} 的{metric}相当，相差不超过 {q}（{sure}）",
  ],
  [
    "no difference shown between {name} and {name2} in {metric}{at?} ({sure})",
    "{at?}未显示 {name} 与 {name2} 在{metric}上有差异（{sure}）",
  ],
  [
    "no answer on {metric} of {name} against {name2}{at?}{so_far?}: {any}",
    "{at?} {name} 与 {name2} 的{metric}对比没有答案{so_far?}：{any}",
  ],

  // Refusals: too few, all equal, zeros, what cannot be read.
  [
    "{n} {needed} needed, had {n2}: run {n3} more block{s?}",
    "需要 {n} {needed}，实有 {n2} 个，请再运行 {n3} 个区组",
  ],
  [
    "{n} pairs of passes needed, had {n2}: run {count} more",
    "需要 {n} 对上下行，实有 {n2} 对，请再运行 {count}",
  ],
  [
    "needs {n} requests, had {n2}: measure {q} times longer",
    "需要 {n} 个请求，实有 {n2} 个，请把测量时间延长到 {q} 倍",
  ],
  ["needs {n} requests, had¦ none: measure longer", "需要 {n} 个请求，实际一个也没有，请延长测量时间"],
  [
    "there is no observation: measure longer, and look at the errors",
    "没有任何观测值，请延长测量时间，并查看错误",
  ],
  [
    "falls among the {n} of {n2} requests that never ended ({q}): raise the time-out or lower the load",
    "落在 {n2} 个请求中从未结束的 {n} 个（{q}）之内，请调大超时时间，或降低负载",
  ],
  [
    "none of {n} requests ended: raise the time-out or lower the load, and look at the target's log",
    "{n} 个请求无一结束，请调大超时时间或降低负载，并查看目标的日志",
  ],
  [
    "{n} of {n2} values are 0, which has no logarithm to make an interval of: measure longer if a value near 0 matters",
    "{n2} 个值中有 {n} 个为 0，而 0 没有对数，无法构造区间；如果接近 0 的值有意义，请延长测量时间",
  ],
  [
    "all {n} trials gave the same value, so their spread cannot be told: read the value as it stands",
    "{n} 个试次的值全部相同，无从得知离散程度，请直接采用该值",
  ],
  [
    "all trials of each run gave the same value, so their spread cannot be told: read the ratio as it stands",
    "每次运行的各试次的值全部相同，无从得知离散程度，请直接采用该比值",
  ],
  [
    "all {n} blocks gave the same {kind_of}, so its spread cannot be told: read the {kind_of2} as it stands",
    "{n} 个区组的{kind_of}全部相同，无从得知离散程度，请直接采用该{kind_of2}",
  ],
  [
    "a value is 0 in {n} of {n2} blocks, so there is no ratio: compare the values themselves, or measure longer",
    "{n2} 个区组中有 {n} 个含有 0 值，无法求比值，请直接比较数值，或延长测量时间",
  ],
  [
    "a value is 0, so there is no ratio: compare the values themselves, or measure longer",
    "有一个值为 0，无法求比值，请直接比较数值，或延长测量时间",
  ],
  [
    "the ratio is beyond every number that can be written: look for the fault in the values",
    "比值超出可表示的范围，请检查这些数值是否有误",
  ],
  [
    "it cannot be read for this target: let prony start the target on this machine",
    "无法读取该目标的这一项：请让 prony 在本机启动目标",
  ],
  [
    "the target's runtime does not tell: name its endpoint under [metrics] in its target.toml",
    "目标的运行时没有提供：请在 target.toml 的 [metrics] 下写明它的端点",
  ],
  [
    "a valid trial has no value: look at its errors and its target.log",
    "有一个有效试次没有数值，请查看它的错误和 target.log",
  ],
  ["it is not finite", "不是有限的数"],

  // Refusals of the statistics themselves.
  ["{n} values needed, had {n2}: measure more often", "需要 {n} 个值，实有 {n2} 个，请增加测量次数"],
  [
    "all {n} values are equal, so their spread cannot be told: measure with a finer resolution",
    "{n} 个值全部相等，无从得知离散程度，请提高测量的分辨率",
  ],
  [
    "{n} values were given with {n2} others, one each is needed: leave out what has no partner",
    "给出的 {n} 个值与另外 {n2} 个值不能一一对应，请去掉没有配对的值",
  ],
  [
    "too many of the {n} values are equal for an interval: measure longer or with a finer resolution",
    "{n} 个值中相等的太多，无法构造区间，请延长测量时间，或提高分辨率",
  ],
  [
    "{n} values are more than the {n2} that this is made for: leave out the oldest, or join neighbours",
    "{n} 个值超过该方法所能处理的 {n2} 个，请去掉最早的，或合并相邻的",
  ],
  [
    "the times of the values do not rise: put them in order, one value a time",
    "各值的时刻没有递增，请按时间排序，每个时刻一个值",
  ],
  [
    "the best cut of {n} values is the latest one allowed, so the start-up may last longer: measure longer",
    "{n} 个值的最佳截断点已是允许的最晚处，启动阶段可能更长，请延长测量时间",
  ],
  [
    "a value is not a finite number: look for the fault in what produced it",
    "有一个值不是有限的数，请检查产生它的环节",
  ],
  ["the levels do not rise: sort them and give each once", "各级没有递增，请排序，每级只给一次"],
  [
    "a value is 0 or negative, which has no logarithm: leave out levels at which nothing was answered",
    "有一个值为 0 或负数，没有对数，请去掉没有应答的级别",
  ],

  // Claims.
  [
    "the plan has no cell {name}: correct the claim's target or load",
    "计划中没有单元 {name}：请改正论断里的目标或负载",
  ],
  [
    "leaks show in hours of load: run the experiment by prony soak",
    "泄漏要在数小时的负载下才会显现：请用 `prony soak` 运行该实验",
  ],
  ["a leak is of no metric: leave the metric out", "泄漏不属于任何指标：请去掉指标"],
  [
    "{name} has no ladder in this run: climb one by prony knee",
    "{name} 在本次运行中没有阶梯：请用 `prony knee` 运行一次",
  ],
  [
    "ratio of {metric} {q} ({conf} {q2} to {q3}, {count}), ¦claimed {sign} {q4}",
    "{metric}之比 {q}（{conf} {q2} 至 {q3}，{count}），论断为 {sign} {q4}",
  ],
  [
    "ratio of {metric} {q} without an interval, ¦claimed {sign} {q2}; {any}",
    "{metric}之比 {q}，无区间，论断为 {sign} {q2}；{any}",
  ],
  [
    "difference in {metric} {q} ({conf} {q2} to {q3}, {count}), ¦claimed {sign} {q4}",
    "{metric}之差 {q}（{conf} {q2} 至 {q3}，{count}），论断为 {sign} {q4}",
  ],
  [
    "difference in {metric} {q} without an interval, ¦claimed {sign} {q2}; {any}",
    "{metric}之差 {q}，无区间，论断为 {sign} {q2}；{any}",
  ],
  [
    "{metric} of {name} {q} ({conf} {q2} to {q3}, {count}), ¦claimed {sign} {q4}",
    "{name} 的{metric}为 {q}（{conf} {q2} 至 {q3}，{count}），论断为 {sign} {q4}",
  ],
  [
    "{metric} of {name} {q} without an interval, ¦claimed {sign} {q2}; {any}",
    "{name} 的{metric}为 {q}，无区间，论断为 {sign} {q2}；{any}",
  ],
  [
    "no knee of {metric} of {name} is claimed: {any}; ¦claimed {sign} {q}",
    "无法断定 {name} 的{metric}拐点：{any}；论断为 {sign} {q}",
  ],
  [
    "no knee of {metric} of {name}¦ ({name2})¦ is claimed: {any}; ¦claimed {sign} {q}",
    "无法断定 {name}（{name2}）的{metric}拐点：{any}；论断为 {sign} {q}",
  ],
  [
    "knee of {metric} of {name} {q} ({conf} {end} to {end2}), ¦claimed {sign} {q2}",
    "{name} 的{metric}拐点在 {q}（{conf} {end} 至 {end2}），论断为 {sign} {q2}",
  ],
  [
    "knee of {metric} of {name}¦ ({name2})¦ {q} ({conf} {end} to {end2}), ¦claimed {sign} {q2}",
    "{name}（{name2}）的{metric}拐点在 {q}（{conf} {end} 至 {end2}），论断为 {sign} {q2}",
  ],
  ["it has no interval", "它没有区间"],
  ["{metric}: {orders}", "{metric}：{orders}"],
  ["{name} against {name2}: {text}", "{name} 对比 {name2}：{text}"],
  ["{name} against {name2}: no value can be written for it", "{name} 对比 {name2}：无法写出数值"],
  [
    "{compared} ({conf} {q} to {q2}, {count}), {margin}",
    "{compared}（{conf} {q} 至 {q2}，{count}），{margin}",
  ],
  ["{compared} without an interval: {any}, {margin}", "{compared}，无区间：{any}，{margin}"],
];

export const answerKindsZh: Record<string, readonly Entry[]> = {
  said: [
    ["{name} serves {q} requests per second at {load}", "{name} 在 {load} 下每秒处理 {q} 个请求"],
    ["{name} has a {metric} of {q} at {load}", "{name} 在 {load} 下的{metric}为 {q}"],
  ],
  sure: [
    ["ratio {q}, {conf} {q2} to {q3}, {count}", "比值 {q}，{conf} {q2} 至 {q3}，{count}"],
    ["difference {q}, {conf} {q2} to {q3}, {count}", "差值 {q}，{conf} {q2} 至 {q3}，{count}"],
  ],
  needed: [
    ["trials", "个试次"],
    ["valid trials", "个有效试次"],
    ["trials with a value", "个有数值的试次"],
    ["trials in each run", "个试次（每次运行）"],
    ["blocks", "个区组"],
    ["blocks with valid values", "个有有效数值的区组"],
    ["blocks with a valid trial of both", "个双方均有有效试次的区组"],
    ["blocks with a valid trial of every cell", "个每个单元均有有效试次的区组"],
  ],
  kind_of: [
    ["ratio", "比值"],
    ["difference", "差值"],
  ],
  orders: [
    ["{order}", "{order}"],
    ["{order}; {orders}", "{order}；{orders}"],
  ],
  order: [
    [
      "{name} against {name2} {kind_of} {q} ({conf} {q2} to {q3}, {p} after Holm)",
      "{name} 对比 {name2}，{kind_of} {q}（{conf} {q2} 至 {q3}，Holm 校正后 {p}）",
    ],
  ],
  compared: [
    ["ratio of {metric} {q}", "{metric}之比 {q}"],
    ["difference in {metric} {q}", "{metric}之差 {q}"],
    ["no {metric} to compare", "没有可比较的{metric}"],
  ],
  margin: [
    ["margin {q} ({q2} to {q3})", "界限 {q}（{q2} 至 {q3}）"],
    ["margin {q}", "界限 {q}"],
  ],
};
