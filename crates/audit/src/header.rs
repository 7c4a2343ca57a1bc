//! What a column is by its header, in English and Chinese, and in the spellings of load tools.
//!
//! The header is cut into words; rules are tried from the most particular to the most general, so that `p99 CPU` is no
//! latency and `requests/sec` no count. A header that leaves room, such as `latency` without mean or percentile, gives a
//! guess that is not sure; findings that rest on it are never `impossible`.
//! Absent on purpose: the cells (`sheet` looks at both).

use crate::kind::Kind;
use crate::number::narrow;
use crate::unit::{Dimension, is_bytes};
use regex::Regex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    pub(crate) kind: Kind,
    /// Unit in the header.
    pub(crate) unit: Option<String>,
    /// Whether the header leaves no room.
    pub(crate) sure: bool,
}

/// Longest header that is looked at.
const CHARS_MAX: usize = 120;

/// Guesses that are kept; beyond it, headers are looked at again.
const KEPT_MAX: usize = 4096;

thread_local! {
    /// Guesses of the present audit: each form that a text may have asks for the same words again.
    static KEPT: RefCell<HashMap<String, Option<Guess>>> = RefCell::default();
}

/// Forgets what was guessed, at the end of an audit.
pub(crate) fn forget() {
    KEPT.with_borrow_mut(HashMap::clear);
}

/// The guess for a header; `None` where nothing in it is known.
pub(crate) fn guess(header: &str) -> Option<Guess> {
    // Most cells of a text are figures, which name nothing; only a percentile may do without a letter.
    if !header.chars().any(|c| c.is_alphabetic() || matches!(c, '%' | '％')) {
        return None;
    }
    if let Some(known) = KEPT.with_borrow(|kept| kept.get(header).cloned()) {
        return known;
    }
    let new = guess_anew(header);
    if header.len() <= 4 * CHARS_MAX {
        KEPT.with_borrow_mut(|kept| {
            if kept.len() < KEPT_MAX {
                kept.insert(header.to_owned(), new.clone());
            }
        });
    }
    new
}

fn guess_anew(header: &str) -> Option<Guess> {
    let words = Words::new(header);
    let (kind, sure) = kind(&words)?;
    let unit = words.unit.filter(|unit| kind.dimension().is_some_and(|d| d.factor(unit).is_some()));
    // A throughput of "requests/min" has its unit in its words.
    let unit = unit.or_else(|| {
        (kind.dimension() == Some(Dimension::Rate) && words.per_minute).then(|| "/min".to_owned())
    });
    Some(Guess { kind, unit, sure })
}

/// A header in pieces.
#[derive(Debug)]
struct Words {
    /// Lower case, `_` as a space, without the unit.
    flat: String,
    /// Its ASCII words.
    ascii: Vec<String>,
    unit: Option<String>,
    is_bytes: bool,
    per_second: bool,
    per_minute: bool,
    percent: bool,
    /// Whether `flat` is ASCII, and so holds no Chinese word.
    is_ascii: bool,
}

static CAMEL: LazyLock<Regex> = LazyLock::new(|| regex(r"([a-z0-9])([A-Z][a-z])"));
static BRACKETS: LazyLock<Regex> = LazyLock::new(|| regex(r"[\(\[\{【]([^\)\]\}】]*)[\)\]\}】]"));
static PER_SECOND: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:/ ?|\bper )(?:s|sec|secs|second|seconds|秒)(?:[^a-z]|$)|每秒"));
static PER_MINUTE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:/ ?|\bper )(?:m|min|minute|分钟?)(?:[^a-z]|$)|每分钟|\b[rqt]pm\b"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern that is tried by tests")
}

impl Words {
    fn new(header: &str) -> Self {
        let header: String = header.chars().take(CHARS_MAX).collect();
        let spaced = narrow(&header).replace(['_', '`', '*', '"'], " ");
        let mut flat = CAMEL.replace_all(&spaced, "$1 $2").to_lowercase();
        let mut unit = None;
        let mut is_size = false;
        let bracketed = if flat.contains(['(', '[', '{', '【']) { flat.clone() } else { String::new() };
        for bracket in BRACKETS.captures_iter(&bracketed) {
            let (whole, inner) = (&bracket[0], bracket[1].trim());
            is_size |= is_bytes(inner);
            let keeps_words = !is_unit(inner) || PER_SECOND.is_match(inner);
            if is_unit(inner) {
                unit = Some(inner.to_owned());
            }
            let kept = if keeps_words { format!(" {inner} ") } else { " ".to_owned() };
            flat = flat.replacen(whole, &kept, 1);
        }
        let may_be_rate = flat.contains(['/', 'p', '每']);
        let per_second = may_be_rate && PER_SECOND.is_match(&flat);
        let per_minute = may_be_rate && PER_MINUTE.is_match(&flat);
        let mut ascii = ascii_words(&flat);
        is_size |= ascii.iter().any(|word| is_bytes(word) && word != "b");
        if unit.is_none() && !per_second && !per_minute {
            unit = trailing_unit(&flat, &mut ascii);
        }
        let percent =
            flat.contains('%') || unit.as_deref() == Some("%") || has_any(&ascii, &["percent", "pct"]);
        if percent && unit.is_none() {
            unit = Some("%".to_owned());
        }
        let is_ascii = flat.is_ascii();
        Self { flat, ascii, unit, is_bytes: is_size, per_second, per_minute, percent, is_ascii }
    }

    /// Whether one of the words stands in the header: ASCII as a word, Chinese anywhere.
    fn any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| {
            let is_within = || !word.is_ascii() && self.flat.contains(word);
            self.ascii.iter().any(|own| own == word) || (!self.is_ascii && is_within())
        })
    }

    fn has_time_unit(&self) -> bool {
        self.unit.as_deref().is_some_and(|unit| Dimension::Time.factor(unit).is_some())
    }
}

fn has_any(own: &[String], words: &[&str]) -> bool {
    words.iter().any(|word| own.iter().any(|own| own == word))
}

fn ascii_words(flat: &str) -> Vec<String> {
    flat.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == 'µ' || c == '#'))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a text in brackets is a unit of any dimension.
fn is_unit(text: &str) -> bool {
    let known = [Dimension::Time, Dimension::Share, Dimension::Cpu].iter().any(|d| d.factor(text).is_some());
    let rate = !text.is_empty() && Dimension::Rate.factor(text).is_some();
    known || rate || is_bytes(text)
}

/// A unit at the end of a header, such as `mean_ms` or `平均延迟毫秒`; it is taken off the words.
fn trailing_unit(flat: &str, ascii: &mut Vec<String>) -> Option<String> {
    const CHINESE: [&str; 5] = ["毫秒", "微秒", "纳秒", "分钟", "秒"];
    const ASCII: [&str; 14] = [
        "ns",
        "us",
        "µs",
        "ms",
        "s",
        "sec",
        "secs",
        "seconds",
        "msec",
        "millis",
        "milliseconds",
        "microseconds",
        "min",
        "minutes",
    ];
    let end = flat.trim_end();
    if let Some(unit) = CHINESE.iter().find(|unit| end.ends_with(**unit) && end.len() > unit.len()) {
        return Some((*unit).to_owned());
    }
    let last = ascii.last()?;
    // `min` alone is the smallest, and a header of one word is its name.
    let is_unit = ASCII.contains(&last.as_str()) && (ascii.len() > 1 || end.len() > last.len());
    let is_smallest = last == "min" && !has_any(ascii, &["duration", "time"]);
    if is_unit && !is_smallest && end.ends_with(last.as_str()) { ascii.pop() } else { None }
}

/// Words to a kind and whether it is sure; nothing where they say nothing of it.
type Rule = fn(&Words) -> Option<(Kind, bool)>;

/// The kind, and whether it is sure. The order matters: the particular comes first.
fn kind(words: &Words) -> Option<(Kind, bool)> {
    let rules: [Rule; 12] =
        [unused, offered, processor, errors, rate, quantile, think, spread, load, extremes, totals, general];
    rules.iter().find_map(|rule| rule(words))
}

const LATENCY: [&str; 20] = [
    "latency",
    "latencies",
    "lat",
    "response",
    "rt",
    "resp",
    "delay",
    "rtt",
    "ttfb",
    "responsetime",
    "http",
    "service",
    "延迟",
    "时延",
    "延时",
    "响应",
    "耗时",
    "用时",
    "响应时间",
    "等待",
];

fn unused(words: &Words) -> Option<(Kind, bool)> {
    const SIZES: [&str; 25] = [
        "memory",
        "mem",
        "rss",
        "heap",
        "bandwidth",
        "transfer",
        "transferred",
        "size",
        "bytes",
        "gc",
        "allocs",
        "alloc",
        "goroutines",
        "fds",
        "disk",
        "network",
        "内存",
        "带宽",
        "流量",
        "大小",
        "传输",
        "包体",
        "磁盘",
        "接收",
        "发送",
    ];
    const OTHER: [&str; 10] =
        ["speedup", "improvement", "ratio", "rank", "提升", "倍", "排名", "占比", "对比", "变化"];
    let other =
        words.any(&OTHER) && !words.any(&["error", "errors", "success", "失败", "错误", "成功", "异常"]);
    let connect = words.any(&["connect", "dns", "handshake", "tls", "建连"]);
    (words.is_bytes || words.any(&SIZES) || other || connect).then_some((Kind::Ignored, true))
}

const RATES: [&str; 12] =
    ["rps", "qps", "tps", "rpm", "qpm", "tpm", "throughput", "ops", "rate", "吞吐", "reqs", "requests"];

fn offered(words: &Words) -> Option<(Kind, bool)> {
    let wanted = words.any(&[
        "offered",
        "intended",
        "arrival",
        "arrivals",
        "scheduled",
        "目标",
        "期望",
        "预期",
        "施压",
    ]);
    let target = words.any(&["target", "wanted", "requested"]);
    let is_rate = words.per_second || words.any(&RATES);
    (is_rate && (wanted || target)).then_some((Kind::Offered, true))
}

fn processor(words: &Words) -> Option<(Kind, bool)> {
    const GENERATOR: [&str; 9] =
        ["client", "generator", "loader", "wrk", "jmeter", "k6", "压测机", "施压机", "客户端"];
    let is_cpu = words.any(&["cpu", "cpus", "处理器"]);
    let is_count = words.any(&["cores", "core", "cpus", "vcpu", "vcpus", "核数", "核心", "核"]);
    if is_cpu
        && (words.any(&["request", "req", "time", "p99", "p95", "max", "峰值", "最大"])
            || words.has_time_unit())
    {
        return Some((Kind::Ignored, true));
    }
    if is_count && !words.percent {
        return Some((Kind::Cores, true));
    }
    let kind = if words.any(&GENERATOR) { Kind::GeneratorCpu } else { Kind::Cpu };
    is_cpu.then_some((kind, true))
}

fn errors(words: &Words) -> Option<(Kind, bool)> {
    const FAILED: [&str; 20] = [
        "error", "errors", "err", "errs", "fail", "fails", "failed", "failure", "failures", "ko", "timeouts",
        "timeout", "non2xx", "5xx", "错误", "失败", "异常", "超时", "报错", "出错",
    ];
    const RIGHT: [&str; 7] = ["success", "availability", "successes", "succeeded", "ok", "成功", "可用"];
    let is_share = words.percent || words.any(&["rate", "ratio", "percentage", "share", "率", "比例"]);
    if words.any(&FAILED) {
        return Some(match (words.per_second, is_share) {
            (true, _) => (Kind::Ignored, true),
            (false, true) => (Kind::ErrorShare, true),
            (false, false) => (Kind::Errors, true),
        });
    }
    words.any(&RIGHT).then_some((if is_share { Kind::SuccessShare } else { Kind::Ignored }, true))
}

fn rate(words: &Words) -> Option<(Kind, bool)> {
    const NAMES: [&str; 12] =
        ["rps", "qps", "tps", "rpm", "qpm", "tpm", "throughput", "ops", "吞吐", "每秒", "事务率", "请求速率"];
    const NOUNS: [&str; 22] = [
        "request",
        "requests",
        "req",
        "reqs",
        "transactions",
        "transaction",
        "trans",
        "txn",
        "queries",
        "operations",
        "calls",
        "hits",
        "responses",
        "messages",
        "rate",
        "#",
        "iterations",
        "请求",
        "事务",
        "次",
        "处理",
        "个",
    ];
    let is_rate = words.any(&NAMES) || ((words.per_second || words.per_minute) && words.any(&NOUNS));
    if !is_rate && words.per_second && words.ascii.iter().all(|word| word == "s" || word == "sec") {
        return Some((Kind::Throughput, false));
    }
    if !is_rate {
        return (words.ascii == ["rate"]).then_some((Kind::Throughput, false));
    }
    // Its spread or its percentile is that of a series, not of the run.
    let is_least = words.any(&["min"]) && !words.per_minute;
    let is_spread = words.any(&["stdev", "stddev", "std", "sd", "标准差", "最小"]);
    let is_part = is_least || is_spread || percentile(words).is_some();
    let is_peak = words.any(&["max", "peak", "best", "最大", "最高", "峰值"]);
    Some(if is_part { (Kind::Ignored, true) } else { (Kind::Throughput, !is_peak) })
}

static P: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|[^a-z0-9])(?:t?p|pct)[- ]?\(?(\d{1,2}\.\d{1,4}|\d{1,6})\)?(?:[^0-9.]|$)"));
static TH: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|[^0-9.])(\d{1,3}(?:\.\d{1,4})?) ?(?:th|st|nd|rd)(?:[^a-z]|$)"));
static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?:^|[^0-9.])(\d{1,3}(?:\.\d{1,4})?) ?%? ?(?:百?分位|线|line|percentile|pctl|pctile|quantile)")
});
static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?:百?分位[数点值]?|percentile|pctl|quantile) ?(\d{1,3}(?:\.\d{1,4})?)(?:[^0-9.]|$)")
});
static PERCENT: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|[^0-9.])(\d{1,3}(?:\.\d{1,4})?) ?%"));

/// The percentile that a header names.
fn percentile(words: &Words) -> Option<f64> {
    let flat = words.flat.as_str();
    if !flat.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some(found) = P.captures(flat) {
        return compact(&found[1]);
    }
    let found = [&TH, &BEHIND, &BEFORE, &PERCENT].iter().find_map(|pattern| pattern.captures(flat));
    let percent: f64 = found?[1].parse().ok()?;
    (percent <= 100.0).then_some(percent)
}

/// `99.9`, and `999` for 99.9 as in p999.
fn compact(digits: &str) -> Option<f64> {
    let value: f64 = digits.parse().ok()?;
    if digits.contains('.') || digits.len() <= 2 || digits == "100" {
        return Some(value);
    }
    Some(value / 10_f64.powi(i32::try_from(digits.len()).ok()? - 2))
}

fn quantile(words: &Words) -> Option<(Kind, bool)> {
    if let Some(percent) = percentile(words) {
        return Kind::percentile(percent).map(|kind| (kind, true));
    }
    let is_median = words.any(&["median", "med", "中位", "中值"]);
    is_median.then_some((Kind::Quantile(500_000), true))
}

fn think(words: &Words) -> Option<(Kind, bool)> {
    words.any(&["think", "thinktime", "思考"]).then_some((Kind::Think, true))
}

fn spread(words: &Words) -> Option<(Kind, bool)> {
    const SPREADS: [&str; 9] =
        ["stdev", "stddev", "std", "sd", "stdv", "deviation", "标准差", "标准偏差", "σ"];
    words.any(&SPREADS).then_some((Kind::StdDev, false))
}

fn load(words: &Words) -> Option<(Kind, bool)> {
    const NAMES: [&str; 25] = [
        "connections",
        "connection",
        "conns",
        "conn",
        "concurrency",
        "concurrent",
        "clients",
        "client",
        "users",
        "user",
        "vus",
        "vu",
        "vuser",
        "vusers",
        "c",
        "parallel",
        "parallelism",
        "inflight",
        "sessions",
        "并发",
        "连接",
        "用户",
        "客户端",
        "在线",
        "vus数",
    ];
    if words.any(&["pipeline", "pipelining", "streams", "multiplex", "管道", "流水线"]) {
        return Some((Kind::Pipeline, true));
    }
    if words.any(&NAMES) {
        // `connection time (ms)` is a latency of no interest here.
        return Some((if words.has_time_unit() { Kind::Ignored } else { Kind::Connections }, true));
    }
    words.any(&["threads", "thread", "线程", "协程"]).then_some((Kind::Threads, true))
}

fn extremes(words: &Words) -> Option<(Kind, bool)> {
    if words.any(&["max", "maximum", "slowest", "longest", "worst", "最大", "最慢", "最长", "最高"]) {
        return Some((Kind::Max, true));
    }
    if words.any(&["min", "minimum", "fastest", "shortest", "最小", "最快", "最短", "最低"]) {
        return Some((Kind::Min, true));
    }
    words.any(&["mean", "avg", "average", "ave", "平均", "均值"]).then_some((Kind::Mean, true))
}

fn totals(words: &Words) -> Option<(Kind, bool)> {
    const LENGTHS: [&str; 11] = [
        "duration",
        "runtime",
        "elapsed",
        "时长",
        "持续",
        "总耗时",
        "总时间",
        "测试时间",
        "压测时间",
        "运行时间",
        "总用时",
    ];
    const COUNTS: [&str; 17] = [
        "requests",
        "reqs",
        "samples",
        "sample",
        "count",
        "calls",
        "completed",
        "hits",
        "transactions",
        "总数",
        "请求数",
        "请求量",
        "请求总",
        "总请求",
        "样本",
        "次数",
        "样本数",
    ];
    let is_total_time = words.any(&["total", "test", "taken"]) && words.any(&["time"]);
    // `request duration` is a latency.
    let is_latency = words.any(&LATENCY) || words.any(&["request", "req"]);
    if (words.any(&LENGTHS) && !is_latency) || is_total_time || words.any(&["总耗时", "总用时"]) {
        return Some((Kind::Duration, true));
    }
    words.any(&COUNTS).then_some((Kind::Requests, true))
}

fn general(words: &Words) -> Option<(Kind, bool)> {
    if words.any(&LATENCY) || (words.any(&["duration"]) && words.has_time_unit()) {
        return Some((Kind::Mean, false));
    }
    if words.any(&["time", "timestamp", "second", "seconds", "t", "时间", "时刻", "秒"]) {
        return Some((Kind::Time, false));
    }
    let repeats = ["run", "iteration", "repeat", "repetition", "round", "trial", "轮", "第几", "序号"];
    words.any(&repeats).then_some((Kind::Repeat, true))
}

#[cfg(test)]
mod tests;
