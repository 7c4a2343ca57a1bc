//! The words and signs for metrics, verdicts and outcomes, so that every format says the same.
//!
//! Invariant: a sign always stands beside its word; colour alone never carries a meaning.

use crate::terminal::paint::Tone;
use schema::analysis::{BeliefLevel, ClaimVerdict, FindingLevel, Verdict};
use schema::doctor::Severity;
use schema::experiment::LoadModel;
use schema::finding::{Finding, FindingSeverity};
use schema::layers::LayerVerdict;
use schema::load::ThresholdResult;
use schema::metric::Metric;
use schema::soak::SoakClass;
use schema::threshold::ThresholdVerdict;
use schema::trial::TrialOutcome;

/// A word with its sign and its tone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) sign: &'static str,
    pub(crate) text: &'static str,
    pub(crate) tone: Tone,
}

impl Word {
    pub(crate) const fn new(sign: &'static str, text: &'static str, tone: Tone) -> Self {
        Self { sign, text, tone }
    }

    /// The CSS class that colours it.
    pub(crate) const fn class(&self) -> &'static str {
        match self.tone {
            Tone::Strong => "strong",
            Tone::Good => "good",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
            Tone::Quiet => "quiet",
        }
    }

    /// Sign and text.
    pub(crate) fn both(&self) -> String {
        format!("{} {}", self.sign, self.text)
    }
}

/// What a counter does over time.
pub(crate) const fn soak(class: SoakClass) -> Word {
    match class {
        SoakClass::Leak => Word::new("✗", "leak", Tone::Bad),
        SoakClass::Filling => Word::new("✓", "filling up", Tone::Good),
        SoakClass::Steady => Word::new("✓", "steady", Tone::Good),
        SoakClass::CannotTell => Word::new("?", "cannot tell yet", Tone::Warn),
        SoakClass::Rising => Word::new("↑", "rising", Tone::Warn),
        SoakClass::Falling => Word::new("↓", "falling", Tone::Warn),
    }
}

/// How much a finding matters.
pub(crate) const fn finding_severity(severity: FindingSeverity) -> Word {
    match severity {
        FindingSeverity::Low => Word::new("·", "low", Tone::Quiet),
        FindingSeverity::Medium => Word::new("!", "medium", Tone::Warn),
        FindingSeverity::High => Word::new("✗", "high", Tone::Bad),
    }
}

/// How a finding is to be taken.
pub(crate) fn finding(finding: &Finding) -> Word {
    match finding.level {
        FindingLevel::Fact => Word::new("·", "as asked", Tone::Quiet),
        FindingLevel::Finding => finding_severity(finding.severity),
    }
}

/// The verdict of a comparison; what is not about speed is better or worse instead of faster or slower.
pub(crate) const fn verdict(verdict: Verdict, of: Metric) -> Word {
    let speed = matches!(
        of,
        Metric::Throughput
            | Metric::Mean
            | Metric::P50
            | Metric::P90
            | Metric::P95
            | Metric::P99
            | Metric::P999
            | Metric::Max
    );
    match verdict {
        Verdict::Faster => Word::new("▲", if speed { "faster" } else { "better" }, Tone::Good),
        Verdict::Slower => Word::new("▼", if speed { "slower" } else { "worse" }, Tone::Bad),
        Verdict::Equivalent => Word::new("=", "equivalent", Tone::Strong),
        Verdict::Inconclusive => Word::new("?", "inconclusive", Tone::Warn),
        Verdict::Refused => Word::new("–", "refused", Tone::Quiet),
    }
}

/// Whether an effect is shown.
pub(crate) const fn effect(shown: bool) -> Word {
    if shown { Word::new("✓", "shown", Tone::Strong) } else { Word::new("?", "not shown", Tone::Quiet) }
}

/// What is no layer but stands under all of them.
pub(crate) const LAYER_BASE: Word = Word::new("·", "base", Tone::Quiet);
/// A layer that takes time.
pub(crate) const LAYER_COSTS: Word = Word::new("+", "costs", Tone::Strong);
/// A layer that saves time.
pub(crate) const LAYER_SAVES: Word = Word::new("−", "saves", Tone::Good);
/// A layer of which neither can be said.
pub(crate) const LAYER_NOT_SHOWN: Word = Word::new("?", "no cost shown", Tone::Quiet);

/// Whether a layer costs anything.
pub(crate) const fn layer(verdict: LayerVerdict) -> Word {
    match verdict {
        LayerVerdict::Costs => LAYER_COSTS,
        LayerVerdict::Saves => LAYER_SAVES,
        LayerVerdict::NotShown => LAYER_NOT_SHOWN,
        LayerVerdict::Refused => Word::new("–", "refused", Tone::Quiet),
    }
}

/// The answer to a claim.
pub(crate) const fn claim(verdict: ClaimVerdict) -> Word {
    match verdict {
        ClaimVerdict::Holds => Word::new("✓", "holds", Tone::Good),
        ClaimVerdict::DoesNotHold => Word::new("✗", "does not hold", Tone::Bad),
        ClaimVerdict::Inconclusive => Word::new("?", "inconclusive", Tone::Warn),
        ClaimVerdict::Void => Word::new("–", "void", Tone::Quiet),
    }
}

/// Whether a run kept a threshold.
pub(crate) const fn health(verdict: ThresholdVerdict) -> Word {
    match verdict {
        ThresholdVerdict::Kept => Word::new("✓", "kept", Tone::Good),
        ThresholdVerdict::Crossed => Word::new("✗", "crossed", Tone::Bad),
        ThresholdVerdict::Unknown => Word::new("?", "unknown", Tone::Bad),
    }
}

/// The answer to "can these numbers be believed?".
pub(crate) const fn belief(level: BeliefLevel) -> Word {
    match level {
        BeliefLevel::Yes => Word::new("✓", "Yes", Tone::Good),
        BeliefLevel::WithReservations => Word::new("!", "With reservations", Tone::Warn),
        BeliefLevel::No => Word::new("✗", "No", Tone::Bad),
    }
}

/// How a trial ended.
pub(crate) const fn outcome(outcome: TrialOutcome) -> Word {
    match outcome {
        TrialOutcome::Valid => Word::new("✓", "valid", Tone::Good),
        TrialOutcome::Void => Word::new("!", "void", Tone::Warn),
        TrialOutcome::Failed => Word::new("✗", "failed", Tone::Bad),
    }
}

/// Whether a load kept a threshold.
pub(crate) const fn threshold(threshold: &ThresholdResult) -> Word {
    match (threshold.failed, threshold.decided) {
        (false, _) => Word::new("✓", "kept", Tone::Good),
        (true, true) => Word::new("✗", "crossed", Tone::Bad),
        (true, false) => Word::new("✗", "undecided, counts as crossed", Tone::Bad),
    }
}

/// How much a fact about the host matters.
pub(crate) const fn severity(severity: Severity) -> Word {
    match severity {
        Severity::Ok => Word::new("✓", "ok", Tone::Good),
        Severity::Note => Word::new("·", "note", Tone::Quiet),
        Severity::Warning => Word::new("!", "warning", Tone::Warn),
        Severity::Problem => Word::new("✗", "problem", Tone::Bad),
    }
}

/// The load model.
pub(crate) const fn model(model: LoadModel) -> &'static str {
    match model {
        LoadModel::Closed => "closed",
        LoadModel::Open => "open",
    }
}

/// The sign of footnote `number`: superscript digits.
pub(crate) fn footnote(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// Stands before a percentile whose interval is wide.
const WIDE: &str = "~";

/// Collects distinct remarks and numbers them from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footnotes {
    /// The remarks in the order of their numbers.
    pub(crate) texts: Vec<String>,
    /// Percentiles with their wide intervals, which have one remark together.
    wide: Vec<String>,
}

impl Footnotes {
    /// The sign of the remark, which is added where it is new.
    pub(crate) fn sign(&mut self, text: &str) -> String {
        let index = self.texts.iter().position(|known| known == text).unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        footnote(index + 1)
    }

    /// The sign of a percentile whose interval is wide, which the remark of all of these states.
    pub(crate) fn wide(&mut self, interval: String) -> &'static str {
        if !self.wide.contains(&interval) {
            self.wide.push(interval);
        }
        WIDE
    }

    /// Signs and remarks.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (String, String)> {
        let numbered = self.texts.iter().enumerate().map(|(index, text)| (footnote(index + 1), text.clone()));
        let intervals = format!("95 % intervals that span more than 25 %: {}", self.wide.join("; "));
        numbered.chain((!self.wide.is_empty()).then(|| (WIDE.to_owned(), intervals)))
    }
}
