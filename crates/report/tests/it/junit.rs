//! Claims as JUnit XML, read back by a parser.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use report::junit;
use schema::analysis::ClaimVerdict;
use schema::metric::Metric;
use schema::plan::ClaimComparison;
use schema::threshold::{ThresholdAnswer, ThresholdVerdict};

/// One element: its name, its attributes, and the text right inside it.
#[derive(Debug, PartialEq)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.expect("a whole attribute");
            let value = attribute
                .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                .expect("escapes that mean something");
            (String::from_utf8(attribute.key.as_ref().to_vec()).unwrap(), value.into_owned())
        });
        let name = String::from_utf8(start.name().as_ref().to_vec()).unwrap();
        Self { name, attributes: attributes.collect(), text: String::new() }
    }

    fn attribute(&self, name: &str) -> &str {
        &self.attributes.iter().find(|(key, _)| key == name).expect("the attribute is there").1
    }
}

/// All elements in order; every end must fit its start.
fn elements(xml: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(xml);
    let (mut elements, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => {
                open.push(elements.len());
                elements.push(Element::of(&start));
            }
            Event::Empty(start) => elements.push(Element::of(&start)),
            Event::End(_) => drop(open.pop().expect("something is open")),
            Event::Text(text) => {
                if let Some(inside) = open.last() {
                    elements[*inside].text += &text.decode().expect("text");
                }
            }
            Event::GeneralRef(entity) => {
                let known = quick_xml::escape::resolve_xml_entity(&entity.decode().unwrap());
                let inside = *open.last().expect("inside an element");
                elements[inside].text += known.expect("one of the five entities of XML");
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "all elements are closed");
    elements
}

#[test]
fn each_claim_is_a_test_case_with_its_outcome() {
    let xml = junit(&crate::sample::plan::run_file(), &crate::sample::analysis()).unwrap();
    let elements = elements(&xml);
    let suite = elements.iter().find(|element| element.name == "testsuite").unwrap();
    let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name));
    assert_eq!(counts, ["4", "1", "1", "1"]);
    assert_eq!(suite.attribute("name"), "go-frameworks");
    let names: Vec<&str> = elements.iter().map(|element| element.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "testsuites",
            "testsuite",
            "properties",
            "property",
            "property",
            "testcase",
            "system-out",
            "testcase",
            "skipped",
            "system-out",
            "testcase",
            "failure",
            "system-out",
            "testcase",
            "error",
            "system-out",
        ]
    );
    let failure = elements.iter().find(|element| element.name == "failure").unwrap();
    assert_eq!(
        failure.attribute("message"),
        "does not hold: CPU per request is 3.1 % higher (2.2 % to 4.0 %), asked for <= 1.0, over 5 blocks"
    );
    let outputs: Vec<&str> = elements
        .iter()
        .filter(|element| element.name == "system-out")
        .map(|element| element.text.as_str())
        .collect();
    assert!(outputs[0].ends_with("asked for > 1.0, over 5 blocks"), "{outputs:?}");
}

#[test]
fn each_threshold_is_a_test_case_with_its_outcome() {
    let threshold = |verdict: ThresholdVerdict| ThresholdAnswer {
        text: "its memory stays small".into(),
        metric: Metric::Memory.into(),
        unit: Metric::Memory.unit(),
        comparison: ClaimComparison::AtMost,
        bound: 1e9,
        verdict,
        checked: 5,
        crossed: 1,
        worst: Some(2e9),
        evidence: "memory crossed it in 1 of 5 trials".into(),
    };
    let mut analysis = crate::sample::analysis();
    analysis.claims.clear();
    let verdicts = [ThresholdVerdict::Kept, ThresholdVerdict::Crossed, ThresholdVerdict::Unknown];
    analysis.thresholds = verdicts.map(threshold).to_vec();
    let elements = elements(&junit(&crate::sample::plan::run_file(), &analysis).unwrap());
    let suite = elements.iter().find(|element| element.name == "testsuite").unwrap();
    let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name));
    assert_eq!(counts, ["3", "1", "1", "0"]);
    let failure = elements.iter().find(|element| element.name == "failure").unwrap();
    assert_eq!(failure.attribute("message"), "crossed: memory crossed it in 1 of 5 trials");
}

#[test]
fn what_users_write_is_inert() {
    const HOSTILE: &str = "a\"b'c<d>&amp;e]]>f\u{0}\u{1}\u{8}\u{b}\u{1b}[2J\u{fffe}\u{ffff}\u{202e}\ng-->h";
    let (mut run, mut analysis) = (crate::sample::plan::run_file(), crate::sample::analysis());
    run.plan.name = HOSTILE.to_owned();
    (run.id, run.started_wall, analysis.belief.summary) =
        (HOSTILE.to_owned(), HOSTILE.to_owned(), HOSTILE.into());
    for claim in &mut analysis.claims {
        (claim.text, claim.evidence, claim.kind) = (HOSTILE.to_owned(), HOSTILE.into(), HOSTILE.to_owned());
    }
    let xml = junit(&run, &analysis).unwrap();
    let allowed = |c: char| matches!(c, '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(allowed), "only characters of XML 1.0: {xml:?}");
    let elements = elements(&xml);
    assert_eq!(elements.iter().filter(|element| element.name == "testcase").count(), 4);
    for case in elements.iter().filter(|element| element.name == "testcase") {
        let name = case.attribute("name");
        assert!(name.starts_with("a\"b'c<d>&amp;e]]>f") && name.ends_with(" g-->h"), "{name:?}");
    }
}

#[test]
fn a_run_without_claims_is_an_empty_suite() {
    let mut analysis = crate::sample::analysis();
    analysis.claims.clear();
    let elements = elements(&junit(&crate::sample::plan::run_file(), &analysis).unwrap());
    let suite = elements.iter().find(|element| element.name == "testsuite").unwrap();
    assert_eq!(suite.attribute("tests"), "0");
    assert!(elements.iter().all(|element| element.name != "testcase"));
    assert_eq!(analysis.claims.iter().filter(|claim| claim.verdict == ClaimVerdict::Holds).count(), 0);
}
