//! The index: rebuilt after deletion with the same content, damaged folders, incremental refresh, hostile searches.

use crate::runs::Runs;
use index::{INDEX_FILE, Index, LABELS_FILE, Place, Query, Refreshed};
use schema::lab::{Label, RunCard, RunState};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn all(index: &Index) -> Vec<RunCard> {
    search(index, Query::default())
}

fn search(index: &Index, query: Query) -> Vec<RunCard> {
    let (cards, total) = index.search(&Query { limit: 100, ..query }).unwrap();
    assert_eq!(cards.len() as u64, total);
    cards
}

fn found(index: &Index, text: &str) -> Vec<String> {
    let cards = search(index, Query { text: text.to_owned(), ..Query::default() });
    cards.into_iter().map(|card| card.id).collect()
}

fn three() -> Runs {
    let runs = Runs::new();
    runs.add("2026-01-01T00-00-00Z-demo", |run| run["started_wall"] = "2026-01-01T00:00:00Z".into());
    runs.add("2026-01-02T00-00-00Z-other", |run| {
        run["started_wall"] = "2026-01-02T00:00:00Z".into();
        run["plan"]["name"] = "other".into();
        run["plan"]["question"] = "Is Ä 100 % faster than B_?".into();
        // Two trials more, which never came.
        for id in [3, 4] {
            let trial = serde_json::json!({ "id": id, "block": 2, "cell": "c1" });
            run["plan"]["order"].as_array_mut().unwrap().push(trial);
        }
    });
    let damaged = runs.add("2026-01-03T00-00-00Z-demo", |_| {});
    fs::write(damaged.join("run.json"), "{\"schema\":\"prony.run/9\"}").unwrap();
    fs::create_dir(runs.path().join("no-run")).unwrap();
    runs
}

#[test]
fn a_deleted_index_is_made_anew_with_the_same_content_and_labels_stay() {
    let runs = three();
    let mut index = Index::open(runs.path()).unwrap();
    assert_eq!(index.refresh().unwrap(), Refreshed { read: 3, removed: 0 });
    let said = Label { tags: vec!["baseline".to_owned()], note: "before the <b>change</b>".to_owned() };
    index.set_label("2026-01-01T00-00-00Z-demo", said).unwrap();
    let (before, values) = (all(&index), index.history_values("demo").unwrap());
    assert_eq!(before.len(), 3);
    assert!(!values.is_empty());
    assert_eq!(before[1].tags, ["baseline"]);

    // Deleted under an open index, and deleted before it is opened.
    fs::remove_file(runs.path().join(INDEX_FILE)).unwrap();
    assert_eq!(index.refresh().unwrap().read, 3);
    assert_eq!(all(&index), before);
    drop(index);
    fs::remove_file(runs.path().join(INDEX_FILE)).unwrap();
    let mut index = Index::open(runs.path()).unwrap();
    index.refresh().unwrap();
    assert_eq!(all(&index), before);
    assert_eq!(index.history_values("demo").unwrap(), values);
    assert!(runs.path().join(LABELS_FILE).is_file());
}

#[test]
fn only_what_changed_is_read_again() {
    let runs = three();
    let mut index = Index::open(runs.path()).unwrap();
    index.refresh().unwrap();
    assert_eq!(index.refresh().unwrap(), Refreshed::default());
    fs::remove_file(runs.run("2026-01-01T00-00-00Z-demo").join("analysis.json")).unwrap();
    assert_eq!(index.refresh().unwrap(), Refreshed { read: 1, removed: 0 });
    fs::remove_dir_all(runs.run("2026-01-02T00-00-00Z-other")).unwrap();
    assert_eq!(index.refresh().unwrap(), Refreshed { read: 0, removed: 1 });
    let cards = all(&index);
    assert_eq!(cards.len(), 2);
    assert_eq!(cards.iter().find(|card| card.id.starts_with("2026-01-01")).unwrap().answer, None);
}

#[test]
fn cards_say_where_a_run_stands_and_what_is_damaged() {
    let runs = three();
    let unreadable = runs.add("2026-01-04T00-00-00Z-demo", |_| {});
    fs::write(unreadable.join("trials/0001/trial.json"), "{").unwrap();
    let mut index = Index::open(runs.path()).unwrap();
    index.refresh().unwrap();
    let card = |id: &str| index.card(id).unwrap().unwrap();
    let done = card("2026-01-01T00-00-00Z-demo");
    assert_eq!((done.state, done.trials_done, done.trials_planned), (RunState::Done, 2, 2));
    assert!(done.answer.is_some() && done.belief.is_some() && done.cause.is_none());
    assert!(!done.targets.is_empty());
    let cut = card("2026-01-02T00-00-00Z-other");
    assert_eq!((cut.state, cut.trials_done, cut.trials_planned), (RunState::Interrupted, 2, 4));
    for (id, cause) in
        [("2026-01-03T00-00-00Z-demo", "another version"), ("2026-01-04T00-00-00Z-demo", "trial.json")]
    {
        let damaged = card(id);
        assert_eq!(damaged.state, RunState::Damaged);
        assert!(damaged.cause.as_ref().unwrap().contains(cause), "{damaged:?}");
    }
    let damaged: Vec<_> = index.damaged().unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(damaged, [runs.run("2026-01-03T00-00-00Z-demo"), unreadable]);
}

#[test]
fn searches_find_words_and_nothing_in_them_is_a_pattern() {
    let runs = three();
    let mut index = Index::open(runs.path()).unwrap();
    index.refresh().unwrap();
    let note = Label { tags: vec!["Release 2".to_owned()], note: "kernel 6.18".to_owned() };
    index.set_label("2026-01-01T00-00-00Z-demo", note).unwrap();
    let other = ["2026-01-02T00-00-00Z-other"];
    let demo = ["2026-01-01T00-00-00Z-demo"];
    assert_eq!(found(&index, "ä 100"), other);
    assert_eq!(found(&index, "RELEASE kernel"), demo);
    assert_eq!(found(&index, "b_?"), other);
    for nothing in ["_%_", "1%", "' OR 1=1 --", "\"", "no-such-word", "demo no-such-word"] {
        assert_eq!(found(&index, nothing), [""; 0], "{nothing}");
    }
    let tagged = search(&index, Query { tag: Some("Release 2".to_owned()), ..Query::default() });
    assert_eq!(tagged.len(), 1);
    assert_eq!(search(&index, Query { tag: Some("' OR 1=1".to_owned()), ..Query::default() }), []);
    assert_eq!(index.tags().unwrap()[0].runs, 1);
    let page = index.search(&Query { limit: 1, offset: 1, ..Query::default() }).unwrap();
    assert_eq!((page.0.len(), page.1), (1, 3));
}

#[test]
fn experiments_and_folders_are_those_of_readable_runs_in_order() {
    let runs = three();
    runs.add("2025-12-31T00-00-00Z-demo", |run| run["started_wall"] = "2025-12-31T00:00:00Z".into());
    let mut index = Index::open(runs.path()).unwrap();
    index.refresh().unwrap();
    let known = index.experiments().unwrap();
    let known: Vec<_> = known.iter().map(|one| (one.name.as_str(), one.runs, one.last.as_str())).collect();
    assert_eq!(known, [("demo", 2, "2026-01-01T00-00-00Z-demo"), ("other", 1, "2026-01-02T00-00-00Z-other")]);
    let past = record::history::runs_in(index.folders_of("demo").unwrap(), Some("demo"));
    let direct = record::history::runs(runs.path(), Some("demo")).unwrap();
    let ids =
        |found: &record::history::Found| found.runs.iter().map(|one| one.run.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&past), ids(&direct));
    assert_eq!(past.notes, direct.notes);
    assert_eq!(index.resolve("2026-01-02").unwrap(), runs.run("2026-01-02T00-00-00Z-other"));
    let several = index.resolve("demo").unwrap_err().to_string();
    assert!(several.contains("2025-12-31") && several.contains("remedy"), "{several}");
    assert!(index.resolve("nowhere").is_err());
}

#[test]
fn a_file_that_is_no_index_is_made_anew_and_without_a_place_it_is_kept_in_memory() {
    let runs = three();
    fs::write(runs.path().join(INDEX_FILE), "this is no database, but text that is long enough".repeat(99))
        .unwrap();
    let mut index = Index::open(runs.path()).unwrap();
    assert_eq!(index.place(), &Place::File(runs.path().join(INDEX_FILE)));
    index.refresh().unwrap();
    assert_eq!(all(&index).len(), 3);
    drop(index);
    fs::remove_file(runs.path().join(INDEX_FILE)).unwrap();
    // Where the index is to be there is a folder: it can be neither opened nor thrown away. (Root may write anywhere.)
    fs::create_dir(runs.path().join(INDEX_FILE)).unwrap();
    fs::set_permissions(runs.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let mut index = Index::open(runs.path()).unwrap();
    assert!(matches!(index.place(), Place::Memory(_)), "{:?}", index.place());
    index.refresh().unwrap();
    assert_eq!(all(&index).len(), 3);
    assert!(index.notes()[0].contains("in memory"), "{:?}", index.notes());
    fs::set_permissions(runs.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let runs = three();
    let mut index = Index::open(runs.path()).unwrap();
    index.refresh().unwrap();
    drop(index);
    let file = runs.path().join(INDEX_FILE);
    let mut bytes = fs::read(&file).unwrap();
    // The user version, at byte 60 of the header (https://sqlite.org/fileformat2.html#the_database_header).
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&file, bytes).unwrap();
    let mut index = Index::open(runs.path()).unwrap();
    assert_eq!(index.refresh().unwrap().read, 3);
    assert_eq!(all(&index).len(), 3);
}

#[test]
fn links_and_names_that_lead_elsewhere_are_no_runs() {
    let runs = three();
    let elsewhere = three();
    std::os::unix::fs::symlink(elsewhere.run("2026-01-01T00-00-00Z-demo"), runs.run("linked")).unwrap();
    let mut index = Index::open(runs.path()).unwrap();
    index.refresh().unwrap();
    assert!(index.card("linked").unwrap().is_none());
    for name in ["linked", "..", ".", "", "../x", "a/b", ".hidden", "no-run", "none", "a\0b"] {
        assert!(index::run_folder(runs.path(), name).is_err(), "{name:?}");
    }
}
