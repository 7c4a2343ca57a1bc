//! A run folder that an older prony wrote still opens: `fixtures/run-1` is one of `prony.run/1` and `prony.trial/3`, with
//! what a busy host and a missing controller would have added to it by hand.
//!
//! Its plain sentences stay, without ids; what is analysed anew has ids around them.

use record::RunFolder;
use record::page::{PageWishes, page};
use schema::said::Said;
use std::path::Path;

fn folder() -> RunFolder {
    RunFolder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/run-1")).unwrap()
}

/// A text that came without an id.
fn is_plain(said: &Said) -> bool {
    said.id().is_empty() && !said.is_empty()
}

#[test]
fn the_sentences_of_a_run_of_version_1_are_plain_texts() {
    let run = folder().read_run().unwrap();
    let facts = &run.environment.facts;
    assert!(facts.len() > 20, "{}", facts.len());
    assert!(facts.iter().all(|fact| is_plain(&fact.title) && is_plain(&fact.effect)));
    assert!(facts.iter().filter_map(|fact| fact.remedy.as_ref()).all(is_plain));
    assert_eq!(run.weaknesses.len(), 1);
    assert!(is_plain(&run.weaknesses[0]) && run.weaknesses[0].starts_with("the CPU quota could not be set"));
    assert!(run.plan.pin.weakness.as_ref().is_some_and(is_plain));
    let limit = run.calibration.unwrap();
    assert!(limit.disturbed.as_ref().is_some_and(is_plain) && limit.stale.iter().all(is_plain));
    let trial = folder().trial(1).file().unwrap();
    assert!(trial.load.unwrap().notes.iter().all(is_plain));
}

#[test]
fn it_is_analysed_and_shown_as_any_other() {
    let (run, analysis) = record::analysed(&folder()).unwrap();
    assert_eq!((analysis.cells.len(), analysis.trials.len()), (1, 1));
    let notes = &analysis.belief.notes;
    let weakness = notes.iter().find(|note| note.text.contains("CPU quota could not be set")).unwrap();
    assert!(is_plain(&weakness.text) && !weakness.remedy.as_ref().unwrap().id().is_empty());
    let page = page(&folder(), run, analysis, &PageWishes::default());
    let text = serde_json::to_value(&page).unwrap();
    // Written anew it is of this version, and reads back.
    assert_eq!(
        (text["schema"].as_str(), text["run"]["schema"].as_str()),
        (Some("prony.page/3"), Some("prony.run/2"))
    );
    assert_eq!(text["run"]["weaknesses"][0]["text"], page.run.weaknesses[0].text());
    let back: schema::page::PageFile = serde_json::from_value(text).unwrap();
    assert_eq!(back.run.environment.facts, page.run.environment.facts);
}
