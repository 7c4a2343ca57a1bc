//! The Markdown report as a snapshot of the sample run, with the middle trials left out, and what is folded away.

#[test]
fn markdown() {
    let mut analysis = crate::sample::analysis();
    analysis.trials.retain(|trial| trial.id < 3 || trial.id == 14);
    insta::assert_snapshot!(report::markdown(&crate::sample::plan::run_file(), &analysis));
}

#[test]
fn the_part_before_the_fold_is_short_and_the_rest_is_folded_away() {
    let mut analysis = crate::sample::analysis();
    let many = analysis.comparisons.clone();
    for copy in 0..20 {
        analysis.comparisons.extend(many.iter().cloned().map(|mut one| {
            (one.a, one.b) = (format!("{}-{copy}", one.a), format!("{}-{copy}", one.b));
            one
        }));
    }
    let is_against = |note: &&schema::analysis::BeliefNote| note.remedy.is_some();
    let note = analysis.belief.notes.iter().find(is_against).unwrap().clone();
    analysis.belief.notes.extend(vec![note; 10]);
    let text = report::markdown(&crate::sample::plan::run_file(), &analysis);
    let (first, rest) = text.split_once("\n<details>\n").unwrap();
    assert!(first.len() < 8_000, "{} bytes", first.len());
    for part in [
        "# ",
        "**go/gin serves",
        "Can these numbers be believed?",
        "## Claims",
        "## Comparison",
        "more below",
    ] {
        assert!(first.contains(part), "{part}");
    }
    assert!(first.contains("more pairs are below"), "{first}");
    assert!(rest.trim_end().ends_with("</details>") && text.matches("</details>").count() == 1);
    // GitHub reads Markdown after a tag only behind an empty line.
    assert!(rest.contains("</summary>\n\n##"), "{rest}");
}

#[test]
fn what_was_tuned_stands_among_the_settings() {
    let mut run = crate::sample::plan::run_file();
    let tuned = |name: &str, old: &str, new: &str| schema::tuning::TunedSetting {
        name: name.into(),
        old: old.into(),
        new: new.into(),
    };
    run.environment.tuned = vec![tuned("net.core.somaxconn", "128", "4096")];
    let text = report::markdown(&run, &crate::sample::analysis());
    assert!(text.contains("net.core.somaxconn: 4096 instead of 128"), "{text}");
}
