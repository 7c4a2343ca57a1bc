//! Charts as files: which ones a run has, and that each stands by itself.

use quick_xml::events::Event;

#[test]
fn a_run_has_the_charts_that_it_has_data_for() {
    let charts = report::charts(&crate::sample::analysis()).unwrap();
    let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
    for wanted in ["forest-1", "forest-2", "curves-1", "strips", "timeline-1"] {
        assert!(names.contains(&wanted), "no {wanted} in {names:?}");
    }
    let mut unique = names.clone();
    unique.dedup();
    assert_eq!(unique, names);
    let mut empty = crate::sample::analysis();
    empty.trials.clear();
    empty.cells.clear();
    empty.comparisons.clear();
    assert_eq!(report::charts(&empty).unwrap().len(), 0);
}

#[test]
fn a_file_needs_no_style_sheet_and_is_well_formed() {
    for chart in report::charts(&crate::sample::analysis()).unwrap() {
        let svg = &chart.svg;
        assert!(svg.starts_with("<svg xmlns=") && svg.contains("fill=\"#FFFFFF\""), "{svg}");
        assert!(
            !svg.contains("class=") && !svg.contains("var(") && !svg.contains("style="),
            "{}",
            chart.name
        );
        let (mut depth, mut drawn) = (0_i32, 0);
        let mut reader = quick_xml::Reader::from_str(svg);
        loop {
            match reader.read_event().unwrap() {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Empty(_) => drawn += 1,
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
        assert!(drawn > 5, "{} is empty", chart.name);
    }
}

#[test]
fn colours_that_stand_for_targets_are_explained() {
    let charts = report::charts(&crate::sample::analysis()).unwrap();
    let of = |name: &str| &charts.iter().find(|chart| chart.name == name).unwrap().svg;
    for name in ["strips", "curves-1"] {
        assert!(of(name).contains(">go/gin</text>") && of(name).contains(">go/echo</text>"), "{name}");
    }
    // A time line is of one target.
    assert!(!of("timeline-1").contains(">go/echo</text>"));
    assert!(of("strips").contains("<title>Throughput of each trial, by cell</title>"));
}
