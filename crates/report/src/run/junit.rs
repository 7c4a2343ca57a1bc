//! Claims and thresholds as JUnit XML, which CI systems show as tests: one test case each.
//!
//! A claim that holds is a passed test, one that does not hold a failure. An inconclusive claim is skipped: nothing speaks
//! against it, more blocks would decide, and prony itself ends with exit code 0 then. A void claim is an error: its test
//! never took place, because valid trials lack, and a build that goes green without it would hide that for ever. A threshold
//! that was kept is passed, one that was crossed a failure, and one that nobody watched an error.
//! Invariant: whatever a name, a statement or an evidence holds, the file is well-formed XML 1.0: control characters
//! are taken out (`clean`), the rest is escaped by the library.

use crate::{ReportError, clean, words};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use schema::analysis::{AnalysisFile, ClaimResult, ClaimVerdict};
use schema::run::RunFile;
use schema::threshold::{ThresholdAnswer, ThresholdVerdict};

/// One test case.
struct Case {
    text: String,
    evidence: String,
    kind: String,
    /// The element of its outcome; none of one that is passed.
    outcome: Option<&'static str>,
    word: &'static str,
}

impl From<&ClaimResult> for Case {
    fn from(claim: &ClaimResult) -> Self {
        Self {
            text: clean::line(&claim.text),
            evidence: clean::line(&claim.evidence),
            kind: clean::line(&claim.kind),
            outcome: match claim.verdict {
                ClaimVerdict::Holds => None,
                ClaimVerdict::DoesNotHold => Some("failure"),
                ClaimVerdict::Inconclusive => Some("skipped"),
                ClaimVerdict::Void => Some("error"),
            },
            word: words::claim(claim.verdict).text,
        }
    }
}

impl From<&ThresholdAnswer> for Case {
    fn from(threshold: &ThresholdAnswer) -> Self {
        Self {
            text: clean::line(&threshold.text),
            evidence: clean::line(&threshold.evidence),
            kind: "limit".to_owned(),
            outcome: match threshold.verdict {
                ThresholdVerdict::Kept => None,
                ThresholdVerdict::Crossed => Some("failure"),
                ThresholdVerdict::Unknown => Some("error"),
            },
            word: words::health(threshold.verdict).text,
        }
    }
}

/// The claims and thresholds of the run in the form that Jenkins, GitLab, GitHub actions and others read.
///
/// # Errors
/// [`ReportError::Xml`] where the writer fails.
pub fn junit(run: &RunFile, analysis: &AnalysisFile) -> Result<String, ReportError> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let claims = analysis.claims.iter().map(Case::from);
    let cases: Vec<Case> = claims.chain(analysis.thresholds.iter().map(Case::from)).collect();
    let count = |outcome| cases.iter().filter(|case| case.outcome == Some(outcome)).count().to_string();
    let counts = [
        ("tests", cases.len().to_string()),
        ("failures", count("failure")),
        ("errors", count("error")),
        ("skipped", count("skipped")),
    ];
    let mut suites = BytesStart::new("testsuites");
    suites.push_attribute(("name", "prony"));
    let mut suite = BytesStart::new("testsuite");
    let (name, started) = (clean::line(&run.plan.name), clean::line(&run.started_wall));
    suite.push_attribute(("name", name.as_str()));
    suite.push_attribute(("timestamp", started.as_str()));
    for (key, number) in &counts {
        suites.push_attribute((*key, number.as_str()));
        suite.push_attribute((*key, number.as_str()));
    }
    writer.write_event(Event::Start(suites))?;
    writer.write_event(Event::Start(suite))?;
    properties(&mut writer, run, analysis)?;
    for one in &cases {
        case(&mut writer, &name, one)?;
    }
    writer.write_event(Event::End(BytesEnd::new("testsuite")))?;
    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n")
}

/// Where the numbers come from, and whether they may be believed.
fn properties(
    writer: &mut Writer<Vec<u8>>,
    run: &RunFile,
    analysis: &AnalysisFile,
) -> Result<(), ReportError> {
    writer.write_event(Event::Start(BytesStart::new("properties")))?;
    let belief = clean::line(&analysis.belief.summary);
    for (name, value) in [("run", clean::line(&run.id)), ("belief", belief)] {
        let mut property = BytesStart::new("property");
        property.push_attribute(("name", name));
        property.push_attribute(("value", value.as_str()));
        writer.write_event(Event::Empty(property))?;
    }
    writer.write_event(Event::End(BytesEnd::new("properties")))?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, class: &str, of: &Case) -> Result<(), ReportError> {
    let mut case = BytesStart::new("testcase");
    case.push_attribute(("classname", class));
    case.push_attribute(("name", of.text.as_str()));
    writer.write_event(Event::Start(case))?;
    if let Some(outcome) = of.outcome {
        let message = format!("{}: {}", of.word, of.evidence);
        let mut element = BytesStart::new(outcome);
        element.push_attribute(("message", message.as_str()));
        element.push_attribute(("type", of.kind.as_str()));
        writer.write_event(Event::Empty(element))?;
    }
    writer.write_event(Event::Start(BytesStart::new("system-out")))?;
    writer.write_event(Event::Text(BytesText::new(&of.evidence)))?;
    writer.write_event(Event::End(BytesEnd::new("system-out")))?;
    writer.write_event(Event::End(BytesEnd::new("testcase")))?;
    Ok(())
}
