/** Why a percentile of a trial is refused: `analyze/src/trial/summary.rs`. */
import type { Entry } from "./engine";

export const answersZh: readonly Entry[] = [
  ["{text}.", "{text}。"],

  [
    "needs {n} requests, had {n2}: measure {q} times longer",
    "需要 {n} 个请求，实有 {n2} 个，请把测量时间延长到 {q} 倍",
  ],
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
  ["it is not finite", "不是有限的数"],
];
