/** Phrases that stand within sentences: metrics, loads, counts, lists. `{kind}` in a template means one of these. */
import type { Entry } from "./engine";

/** What is counted, with its measure word; the plural may be there or not. */
const COUNTED: Record<string, string> = {
  trial: "个试次",
  "fresh trial": "个新试次",
  "valid trial": "个有效试次",
  block: "个区组",
  request: "个请求",
  connection: "个连接",
  reservation: "项保留意见",
  verdict: "项结论",
  window: "个窗口",
  step: "级台阶",
  load: "种负载",
  cause: "项原因",
  "other cell": "个其他单元",
  cell: "个单元",
  level: "个级别",
  kill: "次强制终止",
  interval: "个时间段",
  run: "次运行",
  worker: "个工作线程",
  value: "个值",
  CPU: "个 CPU",
  service: "个服务",
  process: "个进程",
  file: "个文件",
  viewer: "个观看者",
};

const counted = Object.entries(COUNTED).flatMap(([noun, of]): Entry[] => [
  [`{q} ${noun}`, `{q} ${of}`],
  [`{q} ${noun}¦${noun.endsWith("s") ? "es" : "s"}`, `{q} ${of}`],
]);

/** What is numbered: `trial 3`, `trials 3, 7 and 9`, `trials 1, 2, 3, 4, 5 and 7 more`. */
const numbered = [
  ["trial", "试次"],
  ["segment", "段"],
].flatMap(([noun, of]): Entry[] => [
  [`${noun} {n}`, `${of} {n}`],
  [`${noun}¦s {numbers} and {n} more`, `${of} {numbers} 及另外 {n} 个`],
  [`${noun}¦s {numbers} and {n}`, `${of} {numbers}、{n}`],
  [`no ¦${noun}`, `无${of}`],
]);

export const kindsZh: Record<string, readonly Entry[]> = {
  s: [["s", ""]],
  count: counted,
  ids: numbered,
  numbers: [
    ["{n}, {numbers}", "{n}、{numbers}"],
    ["{n}", "{n}"],
  ],
  metric: [
    ["requests per second", "每秒请求数"],
    ["mean response time", "平均响应时间"],
    ["median response time", "响应时间中位数"],
    ["p90 response time", "p90 响应时间"],
    ["p95 response time", "p95 响应时间"],
    ["p99 response time", "p99 响应时间"],
    ["p99.9 response time", "p99.9 响应时间"],
    ["error rate", "错误率"],
    ["CPU time per request", "每请求 CPU 时间"],
    ["memory", "内存"],
    ["memory allocated per request", "每请求分配的内存"],
  ],
  counter: [
    ["memory", "内存"],
    ["descriptors", "描述符"],
    ["threads", "线程"],
    ["goroutines", "goroutine"],
    ["heap", "堆"],
    ["connections", "连接"],
    ["throughput", "吞吐量"],
    ["median response time", "响应时间中位数"],
    ["p99 response time", "p99 响应时间"],
  ],
  load: [
    ["{n} connection{s?}", "{n} 个连接"],
    ["{n} connection{s?} that think {think}", "{n} 个连接（思考时间 {think}）"],
    ["{n} connection{s?}, think time {think}", "{n} 个连接，思考时间 {think}"],
    ["{rate}{law?}{shape?} over {n} connection{s?}", "{rate}（{n} 个连接{law?}{shape?}）"],
    ["{q}/s on {n} connection{s?}", "{q}/s，{n} 个连接"],
    ["{q}/s {key} on {n} connection{s?}", "{q}/s（形状 {key}），{n} 个连接"],
    ["{load} with {limits}", "{load}，{limits}"],
    ["{load} ({name})", "{load}（{name}）"],
    ["{load}, trace {q}", "{load}，追踪 {q}"],
    ["{load}, trace {key}", "{load}，追踪 {key}"],
  ],
  rate: [
    ["an unknown rate", "速率未知"],
    ["{q} requests per second", "每秒 {q} 个请求"],
  ],
  law: [[" ({arrivals} arrivals)", "，{arrivals}到达"]],
  shape: [[" with the shape {name}", "，形状 {name}"]],
  arrivals: [
    ["evenly spaced", "等间隔"],
    ["uniform jitter", "均匀抖动"],
    ["uniform jitter over {q} of the slot", "均匀抖动（间隔的 {q}）"],
    ["Poisson", "泊松"],
    ["Weibull, shape {q}", "韦布尔（形状 {q}）"],
    ["lognormal, cv {q}", "对数正态（变异系数 {q}）"],
    ["gamma, shape {q}", "伽马（形状 {q}）"],
    ["MMPP, {key} for {key2}", "MMPP（{key}，各 {key2}）"],
    ["{n} recorded times", "按 {n} 个记录时刻"],
    ["{n} recorded times, {q} times as fast", "按 {n} 个记录时刻（{q} 倍速）"],
  ],
  think: [
    ["{q}", "{q}"],
    ["{q} exponential", "{q}，指数分布"],
    ["{q} normal, cv {q2}", "{q}，正态分布，变异系数 {q2}"],
    ["{q} lognormal, cv {q2}", "{q}，对数正态分布，变异系数 {q2}"],
  ],
  limits: [
    ["{q} CPU{s?}", "{q} 个 CPU"],
    ["{q}", "内存 {q}"],
    ["swap", "允许交换"],
    ["no swap", "不用交换区"],
    ["{q} of locked memory", "锁定内存 {q}"],
    ["isolated network{net_rate?}{net_loss?}", "隔离网络{net_rate?}{net_loss?}"],
    ["{key} = {name}", "{key} = {name}"],
    ["{limits}, {limits2}", "{limits}，{limits2}"],
  ],
  net_rate: [[" at {q}", "（{q}）"]],
  net_loss: [[" losing {q} of packets", "（丢包 {q}）"]],
  /** Labels of cells: the target's name, then its load. What is neither stays as it was named. */
  cell: [
    ["{name}, {load}", "{name}，{load}"],
    ["{name}, {limits}, {load}", "{name}，{limits}，{load}"],
    ["{name}, {name2}, {load}", "{name}，{name2}，{load}"],
    ["{name}", "{name}"],
  ],
  sign: [
    [">=", "≥"],
    ["<=", "≤"],
    [">", ">"],
    ["<", "<"],
  ],
};
