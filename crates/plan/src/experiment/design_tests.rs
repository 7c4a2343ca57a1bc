//! Designs from the text of an experiment to its cells and order.

use crate::context::Context;
use crate::experiment::experiment;
use schema::design::DesignKind;
use schema::plan::ExperimentPlan;
use schema::traced::TracePlan;
use std::path::Path;

const MANIFEST: &str = r#"schema = "prony.target/1"
name = "go/gin"
description = "d"
language = "go"
[run]
command = ["s", "{port}"]
[[knob]]
name = "gogc"
about = "a"
type = "integer"
default = "100"
env = "GOGC"
"#;

const TWO: &str = "[[target]]\nname = \"a\"\nreference = {}\n[[target]]\nname = \"b\"\nreference = {}\n";
const LOAD: &str = "[load]\nmodel = \"closed\"\nconnections = [16, 64]\n";

fn plan(experiment_keys: &str, rest: &str) -> Result<ExperimentPlan, String> {
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = project.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("targets/go/gin/target.toml", MANIFEST);
    for name in ["ping", "json"] {
        let text =
            format!("schema = \"prony.scenario/1\"\nname = \"{name}\"\n[request]\npath = \"/{name}\"\n");
        write(&format!("scenarios/{name}.toml"), &text);
    }
    let scenario = if rest.contains("[scenario]") { "" } else { "[scenario]\nrequest = { path = \"/\" }\n" };
    let text = format!("[experiment]\nname = \"x\"\n{experiment_keys}\n{rest}\n{scenario}");
    let context = Context { project: project.path().to_owned(), usable_cpus: vec![0], pin: None };
    experiment("x.toml", &text, &context).map_err(|error| error.to_string())
}

fn labels(rest: &str) -> Vec<String> {
    plan("", rest).unwrap().cells.into_iter().map(|cell| cell.label).collect()
}

fn refused(keys: &str, rest: &str, texts: &[&str]) {
    let error = plan(keys, rest).unwrap_err();
    for text in texts {
        assert!(error.contains(text), "no `{text}` in\n{error}");
    }
}

#[test]
fn a_factorial_has_every_combination() {
    let found = plan("blocks = 3", &format!("{TWO}{LOAD}")).unwrap();
    assert_eq!((found.cells.len(), found.order.len(), found.blocks), (4, 12, 3));
    assert_eq!(found.design.kind, DesignKind::Factorial);
    assert!(found.design.stopping.is_none());
    let ids: Vec<u32> = found.order.iter().map(|trial| trial.id).collect();
    assert_eq!(ids, (1..=12).collect::<Vec<u32>>());
}

#[test]
fn one_at_a_time_departs_from_the_baseline_in_one_factor() {
    let rest =
        format!("{TWO}[scenario]\nuse = [\"ping\", \"json\"]\n{LOAD}[design]\nkind = \"one-at-a-time\"\n");
    let first = labels(&rest);
    assert_eq!(
        first,
        [
            "a, ping, 16 connections",
            "a, ping, 64 connections",
            "a, json, 16 connections",
            "b, ping, 16 connections"
        ]
    );
    let named = labels(&format!("{rest}baseline = {{ target = \"b\", connections = 64 }}\n"));
    assert_eq!(
        named,
        [
            "a, ping, 64 connections",
            "b, ping, 16 connections",
            "b, ping, 64 connections",
            "b, json, 64 connections"
        ]
    );
    let found = plan("", &format!("{rest}baseline = {{ target = \"b\", connections = 64 }}\n")).unwrap();
    assert_eq!(found.design.baseline.as_deref(), Some("c3"));
}

#[test]
fn knobs_and_quotas_are_factors_too() {
    let rest = "[[target]]\nuse = \"go/gin\"\nknobs = { gogc = [50, 100, 200] }\n[[target]]\nname = \"b\"\n\
                reference = {}\n[limits]\ncpus = [1, 2]\n[load]\nmodel = \"closed\"\nconnections = 16\n[design]\n\
                kind = \"one-at-a-time\"\nbaseline = { knobs = { gogc = 100 } }\n";
    assert_eq!(
        labels(rest),
        [
            "go/gin gogc=50, 1 CPU, 16 connections",
            "go/gin gogc=100, 1 CPU, 16 connections",
            "go/gin gogc=100, 2 CPUs, 16 connections",
            "go/gin gogc=200, 1 CPU, 16 connections",
            "b, 1 CPU, 16 connections",
        ]
    );
}

#[test]
fn the_share_of_traces_is_a_factor_like_the_others() {
    let one = "[[target]]\nname = \"a\"\nreference = {}\n[load]\nmodel = \"closed\"\nconnections = 16\n";
    let all = format!("{one}trace = [\"off\", \"0\", \"1%\", 1]\n");
    let names = ["off", "0%", "1%", "100%"].map(|level| format!("a, 16 connections, trace {level}"));
    assert_eq!(labels(&all), names);
    let found = plan("seed = 7", &all).unwrap();
    let plans: Vec<_> = found.cells.iter().map(|cell| cell.load.trace).collect();
    assert_eq!(plans[0], None);
    assert!(
        plans[1..]
            .iter()
            .zip([0.0, 0.01, 1.0])
            .all(|(found, share)| *found == Some(TracePlan { share, seed: 7 }))
    );
    assert_eq!(labels(&format!("{one}trace = \"1%\"\n")), ["a, 16 connections"], "one level is no factor");
    assert_eq!(
        labels(&format!("{all}[design]\nexclude = [{{ trace = \"off\" }}, {{ trace = 0.01 }}]\n")),
        [names[1].as_str(), names[3].as_str()]
    );
    let one_at_a_time = "[design]\nkind = \"one-at-a-time\"\nbaseline = { trace = \"1%\" }\n";
    let both = all.replace("= 16", "= [16, 64]") + one_at_a_time;
    assert_eq!(labels(&both).len(), 5, "four levels, and 64 connections once");

    let claim = "[[claim]]\ntext = \"c\"\nmetric = \"cpu_per_request\"\nbetter = \"a\"\nthan = \"a\"\nratio = \"<= 1.05\"\n\
                 than_at = { trace = \"off\" }\n";
    let claimed = plan("", &format!("{all}{claim}at = {{ trace = \"1%\" }}\n")).unwrap();
    assert_eq!(claimed.claims.len(), 1);
    refused("", &format!("{all}{claim}"), &["several levels", "add at = { trace = \"…\" }"]);
    refused(
        "",
        &format!("{all}{claim}at = {{ trace = \"2%\" }}\n"),
        &["claim.0.at", "no cell has this scenario and load"],
    );
    let design = format!("{all}[design]\nexclude = [{{ trace = \"2%\" }}]\n");
    refused("", &design, &["design.exclude.0.trace", "no such level", "off, 0%, 1%, 100%"]);
    refused("", &format!("{all}[design]\nlayers = \"trace\"\n"), &["the levels of `trace` are loads"]);
}

#[test]
fn shares_of_traces_that_cannot_be_have_their_place_and_a_remedy() {
    for (levels, texts) in [
        ("[]", &["x.toml:10:1", "key `load.trace`", "the list is empty"][..]),
        ("[\"off\", \"101%\"]", &["key `load.trace`", "a share of 1.01", "from 0 to 100%"]),
        ("[\"1%\", 0.01]", &["key `load.trace`", "the list has 1% twice", "give each level once"]),
        ("[\"of\", \"1%\"]", &["x.toml:10:", "unknown value `of`", "did you mean `off`?"]),
        ("\"some\"", &["x.toml:10:9", "`some` is no share of the traces", "write 1%, 0.01 or off"]),
    ] {
        let target = "[[target]]\nname = \"a\"\nreference = {}\n";
        refused(
            "",
            &format!("{target}[load]\nmodel = \"closed\"\nconnections = 16\ntrace = {levels}\n"),
            texts,
        );
    }
    let own = "[scenario]\nrequest = { path = \"/\", headers = { TraceParent = \"x\" } }\n";
    let load = "[[target]]\nname = \"a\"\nreference = {}\n[load]\nmodel = \"closed\"\n";
    refused("", &format!("{load}trace = [\"off\", \"1%\"]\n{own}"), &["load.trace", "a header traceparent"]);
    assert_eq!(labels(&format!("{load}trace = \"off\"\n{own}")).len(), 1, "without traces nothing is added");
}

#[test]
fn include_adds_to_one_at_a_time_and_restricts_a_factorial_and_exclude_always_wins() {
    let oat = format!("{TWO}{LOAD}[design]\nkind = \"one-at-a-time\"\n");
    let with = labels(&format!("{oat}include = [{{ target = \"b\", connections = 64 }}]\n"));
    assert_eq!(with, ["a, 16 connections", "a, 64 connections", "b, 16 connections", "b, 64 connections"]);
    let all = format!("{TWO}{LOAD}[design]\n");
    let only = labels(&format!("{all}include = [{{ connections = 64 }}]\n"));
    assert_eq!(only, ["a, 64 connections", "b, 64 connections"]);
    let without = labels(&format!("{all}exclude = [{{ target = \"b\", connections = 16 }}]\n"));
    assert_eq!(without, ["a, 16 connections", "a, 64 connections", "b, 64 connections"]);
    let ids: Vec<String> = plan("", &format!("{all}exclude = [{{ target = \"a\", connections = 16 }}]\n"))
        .unwrap()
        .cells
        .into_iter()
        .map(|cell| cell.id)
        .collect();
    assert_eq!(ids, ["c1", "c2", "c3"], "cells are numbered after the choice");
}

#[test]
fn combinations_of_knobs_without_a_cell_are_not_built() {
    let rest = "[[target]]\nuse = \"go/gin\"\nknobs = { gogc = [50, 100] }\n[design]\n\
                exclude = [{ knobs = { gogc = 50 } }]\n";
    let names: Vec<String> = plan("", rest).unwrap().targets.into_iter().map(|target| target.name).collect();
    assert_eq!(names, ["go/gin gogc=100"]);
}

#[test]
fn mistakes_are_told_where_they_stand() {
    let all = format!("{TWO}{LOAD}[design]\n");
    let all = all.as_str();
    for (design, texts) in [
        ("exclude = [{ target = \"c\" }]", ["no such level", "design.exclude.0.target", "name one of: a, b"]),
        ("include = [{ connections = 65 }]", ["no such level", "design.include.0.connections", "16, 64"]),
        ("exclude = [{ conections = 64 }]", ["conections", "did you mean", "`connections`"]),
        ("exclude = [{}]", ["names no level", "design.exclude.0", "for example"]),
        (
            "exclude = [{ target = \"a\" }]",
            ["leaves no cell of the target a", "target.0", "remove the target"],
        ),
        ("exclude = [{ rate = 5 }]", ["no such level", "design.exclude.0.rate", "does not vary it"]),
        ("baseline = { target = \"a\" }", ["one-at-a-time", "design.baseline", "remove it"]),
        ("control = \"c\"", ["no such level", "design.control.target", "name one of: a, b"]),
        ("precision = 2", ["out of range", "design.precision", "\"2%\""]),
        ("precision = \"2\"", ["out of range", "design.precision", "\"2%\""]),
        ("budget = \"0s\"", ["no budget", "design.budget", "20m"]),
    ] {
        refused("", &format!("{all}{design}\n"), &texts);
    }
    refused(
        "",
        &format!("{all}exclude = [{{ connections = 16 }}, {{ connections = 64 }}]\n"),
        &["no combination"],
    );
    refused(
        "blocks = 4",
        &format!("{all}precision = \"2%\"\n"),
        &["the first look is after 5", "experiment.blocks"],
    );
    let pair = format!(
        "{TWO}{LOAD}[design]\nkind = \"one-at-a-time\"\nbaseline = {{ target = \"a\", scenario = \"nope\" }}\n"
    );
    refused("", &pair, &["design.baseline.scenario", "inline"]);
}

#[test]
fn the_control_repeats_one_cell_under_a_name_of_its_own() {
    let claim = "[[claim]]\ntext = \"t\"\nmetric = \"throughput\"\nbetter = \"a\"\nthan = \"b\"\n\
                 at = { connections = 64 }\nratio = \">= 1\"\n";
    let found =
        plan("blocks = 2", &format!("{TWO}{LOAD}{claim}[design]\ncontrol = {{ connections = 64 }}\n"))
            .unwrap();
    let control = found.design.control.clone().unwrap();
    assert_eq!((control.cell.as_str(), control.of.as_str()), ("c5", "c2"));
    let cell = &found.cells[4];
    assert_eq!((cell.target.as_str(), cell.label.as_str()), ("a (A/A)", "a (A/A), 64 connections"));
    assert_eq!(cell.load, found.cells[1].load);
    assert_eq!(found.targets.len(), 3);
    assert_eq!(found.order.len(), 10, "it is run in every block");
    assert!(plan("", &format!("{TWO}[design]\ncontrol = true\n")).unwrap().design.control.is_some());
    assert!(plan("", &format!("{TWO}[design]\ncontrol = false\n")).unwrap().design.control.is_none());
    let by_name = plan("", &format!("{TWO}[design]\ncontrol = \"b\"\n")).unwrap();
    assert_eq!(by_name.design.control.unwrap().of, "c2");
}

#[test]
fn precision_and_budget_begin_with_the_pilot() {
    let found = plan("", &format!("{TWO}[design]\nprecision = \"2%\"\n")).unwrap();
    let stopping = found.design.stopping.unwrap();
    assert_eq!((stopping.precision, stopping.blocks_pilot, stopping.blocks_max), (Some(0.02), 5, 100));
    assert_eq!((found.blocks, found.order.len()), (5, 10));
    let found = plan("blocks = 12", &format!("{TWO}[design]\nbudget = \"20m\"\n")).unwrap();
    let stopping = found.design.stopping.unwrap();
    assert_eq!((stopping.budget_ns, stopping.blocks_max), (Some(1_200_000_000_000), 12));
    // A plan that grows has the order that it would have had.
    let mut grown = plan("", &format!("{TWO}[design]\nprecision = \"2%\"\n")).unwrap();
    crate::experiment::add_blocks(&mut grown, 3);
    assert_eq!(grown.order, plan("blocks = 8", TWO).unwrap().order);
}

#[test]
fn layers_are_the_levels_of_a_factor_in_the_order_of_the_file() {
    use schema::design::LayerFactor;
    let layers = |rest: &str| plan("", rest).unwrap().design.layers.unwrap();
    let found = layers(&format!(
        "{TWO}[scenario]\nuse = [\"ping\", \"json\"]\n{LOAD}[design]\nlayers = \"scenario\"\n"
    ));
    assert_eq!(
        (found.factor, found.levels),
        (LayerFactor::Scenario, vec!["ping".to_owned(), "json".to_owned()])
    );
    let found = layers(&format!("{TWO}{LOAD}[design]\nlayers = \"target\"\n"));
    assert_eq!(found.levels, ["a", "b"]);
    // With or without the table's name; not in the order of numbers but of the file.
    for name in ["gogc", "knobs.gogc"] {
        let knobs = "[[target]]\nuse = \"go/gin\"\nknobs = { gogc = [400, 50, 100] }\n";
        let found = layers(&format!("{knobs}{LOAD}[design]\nlayers = \"{name}\"\n"));
        assert_eq!(found.factor, LayerFactor::Knob { name: "gogc".into() });
        assert_eq!(found.levels, ["400", "50", "100"]);
        // A level that is excluded is none.
        let found = layers(&format!(
            "{knobs}{LOAD}[design]\nlayers = \"{name}\"\nexclude = [{{ knobs = {{ gogc = 50 }} }}]\n"
        ));
        assert_eq!(found.levels, ["400", "100"]);
    }
    assert!(plan("", &format!("{TWO}{LOAD}")).unwrap().design.layers.is_none());
}

#[test]
fn layers_that_cannot_be_told_apart_are_mistakes_with_their_line() {
    let wrong = |rest: &str, texts: &[&str]| refused("", rest, texts);
    let two = format!("{TWO}{LOAD}[design]\nlayers = ");
    wrong(&format!("{two}\"targets\"\n"), &["x.toml:", "design.layers", "did you mean `target`?"]);
    wrong(&format!("{two}\"zzz\"\n"), &["no factor `zzz`", "name one of: target"]);
    wrong(&format!("{two}\"connections\"\n"), &["loads and limits, and no layers"]);
    // One level is no layer, whatever its name.
    wrong(&format!("{two}\"scenario\"\n"), &["no factor `scenario` with two levels", "target"]);
    let one = "[[target]]\nuse = \"go/gin\"\nknobs = { gogc = 50 }\n";
    wrong(&format!("{one}{LOAD}[design]\nlayers = \"gogc\"\n"), &["give a knob a list"]);
    // Each level at a scenario of its own: nothing else is equal.
    let apart = format!(
        "{TWO}[scenario]\nuse = [\"ping\", \"json\"]\n{LOAD}[design]\nlayers = \"target\"\n\
         include = [{{ target = \"a\", scenario = \"ping\" }}, {{ target = \"b\", scenario = \"json\" }}]\n"
    );
    wrong(&apart, &["no two levels of `target`", "everything else equal"]);
    let twice = "[[target]]\nuse = \"go/gin\"\nname = \"x\"\nknobs = { gogc = [50, 100] }\n\
                 [[target]]\nuse = \"go/gin\"\nname = \"y\"\nknobs = { gogc = [100, 50] }\n";
    wrong(
        &format!("{twice}{LOAD}[design]\nlayers = \"gogc\"\n"),
        &["target.1.knobs.gogc", "different orders", "list them as 50, 100"],
    );
}

#[test]
fn a_run_waits_for_claims_that_it_can_decide() {
    let claim =
        "[[claim]]\ntext = \"t\"\nmetric = \"throughput\"\nratio = \"> 1\"\nbetter = \"a\"\nthan = \"b\"\n";
    let design = "[design]\nuntil_decided = true\n";
    let found = plan("", &format!("{TWO}{design}{claim}")).unwrap();
    let stopping = found.design.stopping.as_ref().unwrap();
    assert_eq!((stopping.until_decided, stopping.blocks_pilot, stopping.blocks_max), (true, 5, 20));
    assert_eq!((found.blocks, found.order.len()), (5, 10));
    let given = plan("blocks = 12\n", &format!("{TWO}{design}{claim}")).unwrap();
    assert_eq!(given.design.stopping.unwrap().blocks_max, 12);
    let none = plan("", &format!("{TWO}{design}")).unwrap_err().to_string();
    assert!(none.contains("no claim to be decided") && none.contains("design.until_decided"), "{none}");
    for bound in ["> 4", "4 to 8"] {
        let knee =
            format!("[[claim]]\ntext = \"t\"\nmetric = \"throughput\"\nknee = \"{bound}\"\nof = \"a\"\n");
        let knee = plan("", &format!("{TWO}{design}{knee}")).unwrap_err().to_string();
        assert!(knee.contains("not decided by blocks"), "{knee}");
    }
}
