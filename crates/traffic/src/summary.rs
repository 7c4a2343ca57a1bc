//! A model and its verdict as text for a terminal. No arithmetic beyond shares and units; every number is the model's.
//!
//! Invariant: what comes from a log is cleaned before it is shown.

use crate::error::cleaned;
use crate::fit::Law;
use crate::model::{FamilyFit, GapData, Model};
use crate::verdict::Verdict;
use std::fmt::Write as _;
use units::Nanos;
use units::format::picture::size;
use units::format::sentence::long;

/// Routes that are shown.
const ROUTES_SHOWN: usize = 20;
/// Columns of the picture of the rate.
const COLUMNS: usize = 60;
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const BARS_ASCII: [char; 9] = [' ', '.', '.', ':', '-', '=', '+', '*', '#'];

/// The summary. `utf8` says whether the terminal can show bars.
#[must_use]
pub fn text(model: &Model, verdict: &Verdict, utf8: bool) -> String {
    let mut text = String::new();
    files(&mut text, model);
    mix(&mut text, model);
    rate(&mut text, model, utf8);
    sessions(&mut text, model);
    gaps(&mut text, model);
    dispersion(&mut text, model, verdict);
    let _ = writeln!(text, "\nverdict\n  {verdict}");
    if !model.notes.is_empty() {
        let _ = writeln!(text, "\nnotes");
    }
    for note in &model.notes {
        let _ = writeln!(text, "  - {note}");
    }
    text
}

pub(crate) fn files(text: &mut String, model: &Model) {
    for file in &model.files {
        let name = cleaned(file.file.display().to_string().as_bytes());
        let _ = write!(text, "{name}: {:?} format, {} requests", file.format, file.records);
        if file.without_request > 0 {
            let _ = write!(text, ", {} lines without a request", file.without_request);
        }
        if file.bad > 0 {
            let _ = write!(text, ", {} bad lines", file.bad);
        }
        let _ = writeln!(text);
        for bad in &file.bad_first {
            let _ = writeln!(text, "  line {}: {}", bad.line, bad.text);
        }
    }
}

pub(crate) fn mix(text: &mut String, model: &Model) {
    let _ = writeln!(text, "\nmix\n  share  requests  method   mean size  status     route");
    let row = |share: f64, count: u64, method: &str, bytes: Option<f64>, status: &str, path: &str| {
        let bytes = bytes.map_or_else(|| "-".to_owned(), size);
        format!("  {:>5.2}%  {count:>8}  {method:<7}  {bytes:>9}  {status:<9}  {path}\n", share * 100.0)
    };
    for route in model.routes.iter().take(ROUTES_SHOWN) {
        let status: Vec<String> = route.status.iter().take(2).map(|(code, _)| code.to_string()).collect();
        let (method, path) = (cleaned(route.method.as_bytes()), cleaned(route.path.as_bytes()));
        *text += &row(route.share, route.count, &method, route.bytes_mean, &status.join(","), &path);
    }
    let shown: u64 = model.routes.iter().take(ROUTES_SHOWN).map(|route| route.count).sum();
    let rest = model.requests - shown;
    if rest > 0 {
        let more = model.routes.len().saturating_sub(ROUTES_SHOWN) + usize::from(model.other > 0);
        let words = format!(
            "({more} more: {} requests of routes counted singly, {} of rarer ones)",
            rest - model.other,
            model.other
        );
        *text += &row(rest as f64 / model.requests as f64, rest, "", None, "", &words);
    }
    let classes: Vec<String> = model
        .status_classes
        .iter()
        .zip(["1xx", "2xx", "3xx", "4xx", "5xx", "others"])
        .filter(|(count, _)| **count > 0)
        .map(|(count, class)| format!("{class} {:.2}%", *count as f64 / model.requests as f64 * 100.0))
        .collect();
    let classes = if classes.is_empty() { "status not logged".to_owned() } else { classes.join(", ") };
    let _ = writeln!(text, "  answers: {classes}");
}

fn rate(text: &mut String, model: &Model, utf8: bool) {
    let _ = writeln!(
        text,
        "\nrate\n  {} requests in {}: {:.3}/s on average, {} {}",
        model.requests,
        long(model.span_s),
        model.rate_per_s(),
        model.stretches.len(),
        if model.stretches.len() == 1 { "rate throughout" } else { "stretches of different rates" },
    );
    // The last minute may be cut short.
    let whole =
        if model.minutes.len() > 1 { &model.minutes[..model.minutes.len() - 1] } else { &model.minutes };
    let each = whole.len().div_ceil(COLUMNS).max(1);
    let each = if each > 30 { each.div_ceil(60) * 60 } else { each };
    let columns: Vec<f64> = whole
        .chunks(each)
        .map(|chunk| chunk.iter().sum::<u64>() as f64 / chunk.len() as f64 / 60.0)
        .collect();
    let peak = columns.iter().copied().fold(0.0, f64::max);
    let bars = if utf8 { BARS } else { BARS_ASCII };
    let bar = |value: &f64| bars[((value / peak.max(f64::MIN_POSITIVE) * 8.0).round() as usize).min(8)];
    let line: String = columns.iter().map(bar).collect();
    let _ =
        writeln!(text, "  |{line}|\n  a column is {}; the highest is {peak:.3}/s", long(each as u64 * 60));
    if let Some((minute, count)) =
        whole.iter().enumerate().max_by_key(|(minute, count)| (**count, usize::MAX - minute))
    {
        let _ = writeln!(
            text,
            "  busiest minute: {count} requests, {} after the begin",
            long(minute as u64 * 60)
        );
    }
    if let (Some(mean_ns), Some(concurrency)) = (model.request_mean_ns, model.concurrency) {
        let _ = writeln!(
            text,
            "  mean time taken {:.3} ms, so {concurrency:.3} requests in the server on average (Little's law)",
            mean_ns / 1e6
        );
    }
}

fn sessions(text: &mut String, model: &Model) {
    let _ = writeln!(
        text,
        "\nsessions by client\n  pause     sessions  requests mean/p50/p95     length mean/p50/p95"
    );
    for s in &model.sessions {
        let used = if s.gap_min == 30 { "  (used)" } else { "" };
        let requests = format!("{:.2} / {} / {}", s.requests_mean, s.requests_p50, s.requests_p95);
        let length = format!(
            "{} / {} / {}",
            long(s.duration_mean_s as u64),
            long(s.duration_p50_s),
            long(s.duration_p95_s)
        );
        let _ = writeln!(text, "  {:>2} min  {:>10}  {requests:<24}  {length}{used}", s.gap_min, s.count);
        if s.followed < 1.0 {
            let _ = writeln!(
                text,
                "          (1 of {:.0} clients followed, numbers scaled up)",
                1.0 / s.followed
            );
        }
    }
}

fn gaps(text: &mut String, model: &Model) {
    let data = match model.gaps.data {
        GapData::Exact => "gaps as logged",
        GapData::Intervals => "gaps known to whole ticks, likelihood of intervals",
        GapData::Counts => "counts in windows of 1 s, because gaps are shorter than the clock tells",
    };
    let _ = writeln!(
        text,
        "\ngaps between arrivals, in mean gaps of their time ({} {data}; clock {})\n  law          parameters                   AIC        distance  p",
        model.gaps.n,
        Nanos(model.resolution_ns)
    );
    for family in &model.gaps.families {
        let _ = writeln!(text, "  {:<11}  {}", family.family.name(), fit_text(family));
    }
}

pub(crate) fn fit_text(family: &FamilyFit) -> String {
    let Some(fit) = &family.fit else {
        return format!("not fitted: {}", family.refusal.as_deref().unwrap_or("no reason"));
    };
    let parameters = match fit.law {
        Law::Exponential { mean } => format!("mean {mean:.6}"),
        Law::Weibull { shape, scale } | Law::Gamma { shape, scale } => {
            format!("shape {shape:.6}, scale {scale:.6}")
        }
        Law::Lognormal { mu, sigma } => format!("mu {mu:.6}, sigma {sigma:.6}"),
    };
    let goodness =
        family.goodness.map_or_else(|| "-".to_owned(), |g| format!("{:.4}    {:.3}", g.distance, g.p));
    format!("{parameters:<28} {:<10.1} {goodness}", fit.aic)
}

fn dispersion(text: &mut String, model: &Model, verdict: &Verdict) {
    let _ = writeln!(
        text,
        "\ndispersion of counts (variance over mean; 1 is Poisson at one rate)\n  window   log        best fit"
    );
    for d in &model.dispersion {
        let fitted = verdict.scales.iter().find(|scale| scale.scale_ns == d.scale_ns);
        let fitted = fitted.map_or_else(String::new, |scale| {
            format!("{:.4} ({:.0}% off)", scale.fitted, scale.off() * 100.0)
        });
        let log = match (d.index, &d.refusal) {
            (Some(index), _) => format!("{index:.4}"),
            (None, why) => format!("- ({})", why.as_deref().unwrap_or_default()),
        };
        let _ = writeln!(text, "  {:<7}  {log:<9}  {fitted}", Nanos(d.scale_ns).to_string());
    }
}
