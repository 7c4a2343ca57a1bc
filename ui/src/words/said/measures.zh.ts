/** Ladders, searches, soaks, factors and layers, and runs against each other: `capacity`, `soak`, `effects`, `layers`, `across`. */
import type { Texts } from "./ids";

export const measuresZh = {
  "across.advice.blocks_needed_tell_spread":
    "需要 {least} 个区组才能得知离散程度，实有 {blocks} 个：先试跑（`--pilot`）",
  "across.advice.had_samples_another_length":
    "{runs}中有 {other} 次的采样长度或数量不同，现在的离散程度可能不同；先试跑（`--pilot`）",
  "across.advice.no_earlier_run_has": "以前的运行没有这些单元：先试跑（`--pilot`）",
  "across.advice.spread_no_number": "离散程度不是有效的数",
  "across.compare.all_trials_each_run": "每次运行的各试次的值全部相同，无从得知离散程度，请直接采用该比值",
  "across.compare.cpus_generator_target_others": "发生器与目标所用的 CPU 不同",
  "across.compare.events_within_trials_others": "试次内的事件不同",
  "across.compare.fact": "{title:title}：{a} → {b}",
  "across.compare.hosts_two_runs_differ":
    "两次运行的主机在会影响所有数字的方面不同（{titles}）：请在同一主机上运行，或用 --across-hosts 接受这一差异",
  "across.compare.only_one_runs_built": "只有一次运行在每个试次前重新构建目标",
  "across.compare.value_there_no_ratio": "有一个值为 0，无法求比值，请直接比较数值，或延长测量时间",
  "across.compare.version": "{name} 的版本：{a} → {b}",
  "across.compare.warm_up_samples_have": "预热或采样的长度不同，会影响尾部和离散程度",
  "across.history.last_runs_left":
    "{cell} 的{metric}：自运行 {run} 起比之前变化 {change}；在毫无变化时，这种累积和图平均每 {length} 次运行才误报一次：再运行三次以确定变化的时间",
  "across.history.permutations_give_no_p":
    "{permutations} 次置换得不到小于 {least} 的 p，因此没有变化能成立：增加置换次数",
  "across.history.runs_needed_tell_change":
    "需要 {least} 次运行才能区分变化与偶然，实有 {had} 次：再运行 {missing} 次",
  "across.history.series_tested_p_about":
    "以 p ≤ {significance} 检验了 {tested} 条序列：其中约 {expected} 条会纯属偶然地显示变化",
  "capacity.highest.levels_needed_had_lengthen": "需要 3 级，实有 {levels} 级：加长阶梯",
  "capacity.highest.no_knee_claimed_throughput":
    "未断定拐点，吞吐量也不平坦，因此无法判断阶梯是否到顶：加高阶梯，或增加区组",
  "capacity.highest.no_level_has_valid": "没有一级有有效试次：见各试次的原因",
  "capacity.highest.throughput_may_rise_further":
    "超过 {load} 后吞吐量可能继续上升：最后一级每加倍增加 {gained}；加高阶梯",
  "capacity.hysteresis.pairs_passes_needed_had": "需要 {least} 对上下行，实有 {had} 对，请再运行 {blocks}",
  "capacity.knee.bend_near_shows_but":
    "{at} 附近有弯折的迹象，但 {trials}太少，无法与噪声区分（AICc 更支持没有弯折的直线）：增加区组或级数",
  "capacity.knee.no_place_between_stands":
    "{from} 与 {to} 之间没有突出的拐点（ΔBIC {delta_bic}，需要 {least}）：吞吐量均匀地弯曲，或各试次相差太大；增加区组，或拉宽阶梯",
  "capacity.knee.p95_bends_nowhere_between":
    "p95 在 {from} 与 {to} 之间没有弯折（ΔBIC {delta_bic}，需要 {least}）：加高阶梯；若各试次的 p95 相差很大，则增加区组",
  "capacity.knee.samples_p95_needs_requests": "，或延长采样（p95 在一个试次内需要 6,000 个请求）",
  "capacity.knee.throughput_flat_from_first":
    "从第一级 {from} 起吞吐量就是平的：拐点在更低处，或限制它的不是负载；让阶梯从更低处开始",
  "capacity.knee.throughput_rises_proportion_load":
    "直到最后一级 {to}，吞吐量都与负载成正比：拐点还在更高处；加高阶梯",
  "capacity.knee.value_needed_had_lengthen": "需要 {least}有数值，实有 {had} 个：加长阶梯{also}",
  "capacity.law.law_misses_does_not":
    "该定律在 {n} 处偏差 {missed}，因此不能描述这个阶梯（配额、连接池之类的硬上限比任何竞争都弯得更急）：请看拐点",
  "capacity.law.law_speaks_concurrency_this": "该定律针对并发数，而这是速率的阶梯：请给出连接数的阶梯",
  "capacity.law.no_level_has_valid": "没有一级有有效试次：见各试次的原因",
  "capacity.search.any_rates": "任何速率",
  "capacity.search.best_candidates": "最佳候选",
  "capacity.search.even_requests_per_second":
    "连每秒 {lowest} 个请求也未达到，而这是该长度的试次所能判断的最低速率：放宽目标条件，或延长试次",
  "capacity.search.highest_rate_allowed_per":
    "所允许的最高速率每秒 {highest} 也能达到：极限还在更高处；用 --max-rate 放宽",
  "capacity.search.no_reason_given": "未给出原因",
  "capacity.search.search_ended_before_confirmed":
    "搜索在{rates}确认 {confirmations} 次之前就结束了（容差 {tolerance}）：加大 --budget，或用 `prony run --resume` 完成它",
  "capacity.search.trials_requests_per_second":
    "每秒 {rate} 个请求的试次无法判断，按未达到计（{reason}）：该极限可能是仪器或试次长度的，而不是目标的",
  "capacity.words.beyond_every_rate_tried": "超出试过的所有速率",
  "capacity.words.but": "；{reason}",
  "capacity.words.connections": "{at} 个连接",
  "capacity.words.end_ladder": "阶梯的尽头",
  "capacity.words.has_no_highest_throughput": "在这个阶梯中没有最高吞吐量：{reason}",
  "capacity.words.interval": "（{interval} {range}）",
  "capacity.words.ladder": "{who} {highest}；{knee}。",
  "capacity.words.limit_lies": "；极限在 {range}（{interval}）",
  "capacity.words.no_interval": "（无区间：{reason}）",
  "capacity.words.no_knee_claimed": "未断定拐点：{reason}",
  "capacity.words.no_knee_looked": "没有寻找拐点",
  "capacity.words.no_rate_verified_under": "{who} 在 {objective} 的条件下没有速率通过验证：{reason}。",
  "capacity.words.no_trial_run": "没有运行试次",
  "capacity.words.none_looked": "没有寻找",
  "capacity.words.not_measured": "没有测量",
  "capacity.words.range": "{low} 至 {high}",
  "capacity.words.requests_per_second_offered": "计划每秒 {at} 个请求",
  "capacity.words.takes_at_most": "每秒最多能承受 {per_s} 个请求{interval}",
  "capacity.words.takes_requests_per_second":
    "{who} 在 {objective} 的条件下每秒能承受 {rate} 个请求，经 {trials}验证{limit}{but}。",
  "capacity.words.throughput_bends": "吞吐量在 {load}处弯折{interval}",
  "effects.cells_not_every_combination":
    "单元没有覆盖各因素的所有组合，因此无法区分各因素的作用：运行全部组合",
  "effects.effects_each_metric_more": "每个指标有 {count} 项效应，超过 {effects_max} 项：减少水平数",
  "effects.value_which_has_no": "有一个值为 0，没有对数：请按差值比较各单元",
  "layers.no_valid_trial_look": "没有有效试次：查看各试次的原因",
  "soak.answer.cannot_told_whether_leaks":
    "{cell:cell}：无法判断是否泄漏：它占用的资源一项也无法读取；请让 prony 在本机启动目标",
  "soak.answer.cannot_told_yet_whether": "{cell:cell}：尚不能判断{names}是否泄漏；{evidence}",
  "soak.answer.does_not_leak": "{cell:cell}：{over}没有泄漏；{evidence}",
  "soak.answer.does_not_leak_horizon": "{cell:cell}：{over}没有泄漏；时间范围 {horizon}",
  "soak.answer.does_not_leak_steady": "{cell:cell}：{over}没有泄漏；{names}平稳，时间范围 {horizon}",
  "soak.answer.leaks": "{cell:cell}：{names}有泄漏；{evidence}",
  "soak.answer.may_leak_but_too": "{cell:cell}：{names}可能有泄漏，但在所定时间范围内不会耗尽；{evidence}",
  "soak.answer.nothing": "无",
  "soak.answer.of_counter": "{counter}{does}",
  "soak.answer.over": "在 {windows}（每个 {window}）内",
  "soak.answer.segment": "段 {trial}：{ended}",
  "soak.answer.target_started_times_each":
    "目标启动了 {segments} 次，每次单独判断：需要比一次更长的时间才会显现的泄漏看不到",
  "soak.answer.too_short_judged": "{segments} 太短，无法判断",
  "soak.answer.whole": "{all}。",
  "soak.words.below": "，低于{limit}",
  "soak.words.constant": "在全部 {windows}中都是 {value}{seen}",
  "soak.words.curve_levels_off_below": "低于上限并趋平的曲线",
  "soak.words.falls": "下降",
  "soak.words.fills_up_over_from":
    "在 {windows}内从 {start} 趋向 {plateau}{below}：每 {time_constant} 填满余下的 63 %",
  "soak.words.hour_interval": "每小时{verb} {per_h}（区间 {near} 至 {far}，{p}）",
  "soak.words.its_limit": "其上限 {limit}（{source:limit_source}）",
  "soak.words.judged_after_step_window": "{text}（从窗口 {step} 的台阶之后判断）",
  "soak.words.leak_hour_would_have": "；每小时 {rise} 的泄漏本可看到",
  "soak.words.limit": "某个上限",
  "soak.words.no_trend": "无趋势",
  "soak.words.no_trend_can_given": "无法给出 {windows}内的趋势：{why}",
  "soak.words.no_trend_shown_over":
    "在 {windows}内未显示趋势（{p}），但按斜率的上端，每小时 {high}，会在 {horizon} 内达到{limit}：延长运行，或缩短时间范围",
  "soak.words.number": "{what}数",
  "soak.words.over": "在 {windows}内{rise}，{end}",
  "soak.words.over_from": "在 {windows}内{rise}，从 {first} 到 {last}（{p}）",
  "soak.words.over_no_limit_could":
    "在 {windows}内{rise}，但没有读到可对照的上限：请在实验文件中给目标设一个上限",
  "soak.words.over_now": "在 {windows}内{none}（{p}），现为 {now}{seen}",
  "soak.words.reaches": "将在 {time} 后达到{limit}",
  "soak.words.reaches_after_horizon": "将在 {time} 后达到{limit}，晚于时间范围 {horizon}",
  "soak.words.reaches_which_may_may": "将在 {time} 后达到{limit}，未必在 {horizon} 之内：延长运行",
  "soak.words.rises": "上升",
  "soak.words.rose_from_over_level":
    "在 {windows}内分 {steps}从 {first} 升到 {last}，此后持平：可能还有台阶，请延长运行",
  "soak.words.slow_wave": "缓慢的起伏",
  "soak.words.something_harmless": "某种无害的形状",
  "soak.words.step": "一个台阶",
  "soak.words.time": "{per_h}（{high} 至 {low}）",
  "soak.words.wanders_without_line": "有起伏，但不成直线",
  "soak.words.windows_one_start_needed": "同一次启动需要 {least} 个窗口，现有 {windows} 个：延长运行",
  "soak.words.would_reach_but_explains": "按此将在 {time} 后达到{limit}，但{shape}同样能解释它：延长运行",
  "capacity.search.another_rate": "该试次的速率不是搜索所要求的",
  "objective.backlog": "采样期间积压增加了 {requests}（Spearman {rho}，p = {p}）",
  "objective.fails": "{condition} 不成立：{found}",
  "objective.goodput": "正确应答为计划的 {share}，需要 {needed}",
  "objective.holds": "{condition} 成立：{found}",
  "objective.nothing_offered": "没有计划任何请求：延长测量时间",
  "objective.unknown": "{condition} 无法判断：{found}",
  "threshold.at_least": "至少 {value}",
  "threshold.between": "在 {low} 与 {high} 之间，按秩的 95 %",
  "threshold.from": "不低于 {low}，按秩的 95 %",
  "threshold.straddled": "无法判定：{value}（{between}），请延长测量时间",
  "threshold.up_to": "不高于 {high}，按秩的 95 %",
  "threshold.with_interval": "{value}（{between}）",
  "threshold.bound": "无法判定：{value}，{why}",
  "threshold.never_ended": "{requests}从未结束，位于其上",
  "threshold.no_request": "没有请求完成或失败：延长测量时间",
  "threshold.no_such_time": "该负载没有这种时间",
  "threshold.not_finite": "不是有限的数",
  "threshold.not_measured": "没有测量",
  "threshold.undecided": "无法判定：{why}",
} as const satisfies Texts;
