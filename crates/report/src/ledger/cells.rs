//! The cells of a row of the ledger, the same for every format.

use super::lang::Lang;
use crate::clean;
use crate::format;
use schema::analysis::Interval;
use schema::counter_metric::ClaimMetric;
use schema::ledger::{LedgerArticle, LedgerDifference, LedgerFile, LedgerMeasure, LedgerRow, LedgerVerdict};
use schema::published::Span;
use schema::study::StudyThing;

/// Texts in the order of [`Lang::head`].
pub(super) fn row(row: &LedgerRow, lang: Lang) -> [String; 8] {
    let run = row.run.as_deref().unwrap_or_default();
    let short = if row.short { lang.pick(" (short)", "（缩短）") } else { "" };
    [
        row.number.to_string(),
        clean::line(lang.of(&row.text)),
        clean::line(&row.printed),
        row.measured.iter().map(|measure| measured(measure, lang)).collect::<Vec<_>>().join("; "),
        lang.verdict(row.verdict).to_owned(),
        match (run.is_empty(), &row.experiment) {
            (true, Some(experiment)) => format!("({})", clean::line(experiment)),
            _ => format!("{}{short}", clean::line(run)),
        },
        row.differs.iter().map(|one| difference(one, lang)).collect::<Vec<_>>().join("; "),
        note(row, lang),
    ]
}

/// `ratio 1.12 (1.10 … 1.14)`, with the answer of a part where there are several.
fn measured(measure: &LedgerMeasure, lang: Lang) -> String {
    let name = measure.metric.as_ref().map_or_else(String::new, ClaimMetric::title);
    let Some(value) = measure.value else {
        return format!("{name} {}", lang.verdict(measure.verdict)).trim().to_owned();
    };
    let interval = measure.interval.map(|Span { low, high }| Interval { low, high });
    let (value, interval) = match measure.unit {
        Some(unit) => (format::value(unit, value), interval.map(|one| format::interval(unit, &one))),
        None => (
            format!("{} {}", lang.pick("ratio", "比值"), format::ratio(value)),
            interval.map(|one| format::ratio_interval(&one)),
        ),
    };
    match interval {
        Some(interval) => format!("{name} {value} ({interval})"),
        None => format!("{name} {value}"),
    }
}

fn difference(one: &LedgerDifference, lang: Lang) -> String {
    let (what, published) = (lang.condition(one.what), clean::line(&one.published));
    if one.here.is_empty() {
        format!("{what}: {published}")
    } else {
        format!("{what}: {published} → {}", clean::line(&one.here))
    }
}

fn note(row: &LedgerRow, lang: Lang) -> String {
    let reason = row.reason.map(|reason| lang.reason(reason).to_owned());
    let audit = row.audit.as_ref().map(|audit| {
        format!("{}: {}; {}", clean::line(&audit.rule), clean::line(&audit.law), clean::line(&audit.bound))
    });
    let words = row.note.as_ref().map(|note| clean::line(lang.of(note)));
    [reason, words, audit].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `170 of 189 things that the articles use are real`; `None` where the studies list none.
pub(super) fn things(ledger: &LedgerFile, lang: Lang) -> Option<String> {
    let LedgerFile { real, things, .. } = ledger;
    (*things > 0).then(|| match lang {
        Lang::En => format!("{real} of {things} real: what the articles use and prony does"),
        Lang::Zh => format!("文章用到的 {things} 项中，prony 已实现 {real} 项"),
    })
}

/// What an article uses and prony does not do, each with its reason.
pub(super) fn absent(article: &LedgerArticle, lang: Lang) -> Vec<String> {
    let line = |thing: &StudyThing| {
        let reason = lang.reason(thing.reason?);
        let note = thing.note.as_ref().map(|note| clean::line(lang.of(note))).unwrap_or_default();
        Some(format!("{}: {reason}; {note}", clean::line(lang.of(&thing.text))))
    };
    article.things.iter().filter_map(line).collect()
}

/// `115 claims, 62 decided: 20 reproduced, …`.
pub(super) fn counts(ledger: &LedgerFile, lang: Lang) -> String {
    let all: u32 = ledger.counts.values().sum();
    let parts: Vec<String> = LedgerVerdict::ALL
        .into_iter()
        .filter_map(|verdict| {
            let count = ledger.counts.get(&verdict)?;
            Some(format!("{count} {}", lang.verdict(verdict)))
        })
        .collect();
    match lang {
        Lang::En => format!("{all} claims, {} decided: {}", ledger.decided, parts.join(", ")),
        Lang::Zh => format!("共 {all} 条论断，已判定 {} 条：{}", ledger.decided, parts.join("，")),
    }
}
