//! The experiment of `prony ci`: the one target of a file becomes two, head and base, each from its own tree, with the
//! claims that head is not worse.
//!
//! Invariant: what comes out is an experiment file like any other, so that the run folder holds all that was run.

use anyhow::{Result, bail};
use plan::Context;
use schema::experiment::{ExperimentFile, LoadModel};
use schema::metric::Metric;
use schema::plan::{CellPlan, ExperimentPlan};
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use units::Nanos;

/// The target of the commit that is judged. As the first it is in the numerator of all ratios.
const HEAD: &str = "head";
/// The target of the commit that it is held against.
const BASE: &str = "base";
/// Unless the file or the command says another.
const BUDGET: Nanos = Nanos::from_secs(600);
/// Unless the file or the command says another.
const MARGIN: f64 = 0.05;

/// What the command asks for.
#[derive(Clone, Copy)]
pub(super) struct Wishes<'a> {
    pub(super) metrics: &'a [Metric],
    pub(super) margin: Option<f64>,
    pub(super) budget: Option<Nanos>,
}

/// A file and the trees that its target is taken from.
pub(super) struct Source<'a> {
    /// As it is shown.
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// The project within a tree; empty for its root.
    pub(super) project: &'a Path,
    pub(super) base: &'a Path,
    pub(super) head: &'a Path,
    pub(super) question: &'a str,
}

/// The text of the experiment, and its plan.
pub(super) fn made(
    source: &Source<'_>,
    wishes: Wishes<'_>,
    context: &Context,
) -> Result<(String, ExperimentPlan)> {
    let file = ExperimentFile::from_toml(source.name, source.text)?;
    check(source.name, &file)?;
    let mut table: Table = source.text.parse()?;
    let target = table.remove("target").and_then(|all| all.as_array()?.first()?.as_table().cloned());
    let target = target.unwrap_or_default();
    let both = [(HEAD, source.head), (BASE, source.base)];
    let both =
        both.map(|(name, tree)| Value::Table(in_tree(target.clone(), name, &tree.join(source.project))));
    table.insert("target".to_owned(), Value::Array(both.to_vec()));
    set(&mut table, "experiment", |experiment| {
        let question = Value::String(source.question.to_owned());
        experiment.entry("question").or_insert(question);
        let margin = wishes.margin.or(file.experiment.margin).unwrap_or(MARGIN);
        experiment.insert("margin".to_owned(), Value::Float(margin));
    });
    if file.claim.is_empty() {
        let bare = toml::to_string(&table)?;
        let cells = plan::experiment(source.name, &bare, context)?.cells;
        table.insert("claim".to_owned(), Value::Array(claims(&cells, wishes.metrics)));
    }
    set(&mut table, "design", |design| {
        let budget = wishes.budget.or(file.design.budget).unwrap_or(BUDGET);
        design.insert("budget".to_owned(), Value::String(budget.to_string()));
        design.entry("until_decided").or_insert(Value::Boolean(true));
    });
    let text = toml::to_string(&table)?;
    let plan = plan::experiment(source.name, &text, context)?;
    Ok((text, plan))
}

/// Refuses what cannot be asked of two commits.
fn check(name: &str, file: &ExperimentFile) -> Result<()> {
    let [target] = &file.target[..] else {
        bail!(
            "{name} has {} targets, and prony ci makes two of one\n  remedy: leave the [[target]] that is built from the \
             repository",
            file.target.len()
        )
    };
    let cause = if target.url.is_some() {
        "a server that already runs has no commit"
    } else if target.image.is_some() {
        "an image is the same in every commit"
    } else if target.reference.is_some() {
        "the reference target is the same in every commit"
    } else if target.project.is_some() {
        "`project` is each commit's own tree here"
    } else {
        return Ok(());
    };
    bail!("{name}: {cause}\n  remedy: give a target by `use`, or by `command` with `folder` and `build`")
}

/// The target as it is in a tree.
fn in_tree(mut target: Table, name: &str, project: &Path) -> Table {
    target.insert("name".to_owned(), Value::String(name.to_owned()));
    let (key, place) = if target.contains_key("use") {
        ("project", project.to_owned())
    } else {
        let folder = target.get("folder").and_then(Value::as_str).unwrap_or(".");
        ("folder", project.join(folder).components().collect::<PathBuf>())
    };
    target.insert(key.to_owned(), Value::String(place.display().to_string()));
    target
}

fn set(table: &mut Table, name: &str, change: impl FnOnce(&mut Table)) {
    let entry = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(inner) = entry {
        change(inner);
    }
}

/// That head is not worse, for each of its cells and each metric.
fn claims(cells: &[CellPlan], metrics: &[Metric]) -> Vec<Value> {
    let of_head: Vec<&CellPlan> = cells.iter().filter(|cell| variant(&cell.target).is_some()).collect();
    let mut claims = Vec::new();
    for cell in &of_head {
        let (level, words) = level(cell, &of_head);
        let usual = usual(cell.load.model);
        for metric in if metrics.is_empty() { &usual[..] } else { metrics } {
            let place = if words.is_empty() { String::new() } else { format!(", {words}") };
            let mut claim = Table::new();
            let mut put = |key: &str, text: String| claim.insert(key.to_owned(), Value::String(text));
            put("text", format!("{} of {} is not worse{place}", metric.title(), cell.target));
            put("metric", metric.key().to_owned());
            put("no_worse", cell.target.clone());
            put("than", counterpart(&cell.target).unwrap_or_default());
            if !level.is_empty() {
                claim.insert("at".to_owned(), Value::Table(level.clone()));
            }
            claims.push(Value::Table(claim));
        }
    }
    claims
}

/// What decides unless metrics are named: what the load leaves free, and what it costs.
const fn usual(model: LoadModel) -> [Metric; 2] {
    match model {
        LoadModel::Closed => [Metric::Throughput, Metric::CpuPerRequest],
        LoadModel::Open => [Metric::P50, Metric::CpuPerRequest],
    }
}

/// What distinguishes a variant of head, such as ` gogc=50`: empty of head itself, nothing of another target.
pub(super) fn variant(target: &str) -> Option<&str> {
    target.strip_prefix(HEAD).filter(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The same variant of base.
pub(super) fn counterpart(target: &str) -> Option<String> {
    variant(target).map(|variant| format!("{BASE}{variant}"))
}

/// What distinguishes a cell from the others of head, as the `at` of a claim and in words; empty where nothing does.
fn level(cell: &CellPlan, all: &[&CellPlan]) -> (Table, String) {
    let mut level = Table::new();
    let varies = |differs: &dyn Fn(&CellPlan) -> bool| all.iter().any(|other| differs(other));
    if varies(&|other| other.scenario != cell.scenario) {
        level.insert("scenario".to_owned(), Value::String(cell.scenario.clone()));
    }
    if varies(&|other| other.load.connections != cell.load.connections) {
        level.insert("connections".to_owned(), Value::Integer(cell.load.connections.into()));
    }
    if let Some(rate) =
        cell.load.rate_per_s.filter(|rate| varies(&|other| other.load.rate_per_s != Some(*rate)))
    {
        level.insert("rate".to_owned(), Value::String(rate.to_string()));
    }
    if varies(&|other| other.load.connection.http != cell.load.connection.http)
        && let Ok(http) = Value::try_from(cell.load.connection.http)
    {
        level.insert("http".to_owned(), http);
    }
    if varies(&|other| other.load.connection.streams != cell.load.connection.streams) {
        level.insert("streams".to_owned(), Value::Integer(cell.load.connection.streams.into()));
    }
    if varies(&|other| other.load.trace_level() != cell.load.trace_level()) {
        level.insert("trace".to_owned(), Value::String(cell.load.trace_level().to_string()));
    }
    if let Some(cpus) = cell.limits.cpus.filter(|cpus| varies(&|other| other.limits.cpus != Some(*cpus))) {
        level.insert("cpus".to_owned(), Value::Float(cpus));
    }
    let part = |(key, value): (&String, &Value)| match value {
        Value::String(text) => format!("{key} {text}"),
        other => format!("{key} {other}"),
    };
    let words = level.iter().map(part).collect::<Vec<_>>().join(", ");
    (level, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[experiment]\nname = \"shop\"\n[[target]]\ncommand = [\"./s\", \"{port}\"]\nfolder = \"cmd\"\n\
                        build = [\"make\"]\n[scenario]\nrequest = { path = \"/\" }\n[load]\nmodel = \"closed\"\n";

    /// Two trees with a folder `cmd`, and what becomes of a file.
    fn ci(text: &str, metrics: &[Metric]) -> Result<(String, ExperimentPlan)> {
        let folder = tempfile::tempdir().unwrap();
        let [base, head] = ["base", "head"].map(|name| folder.path().join(name));
        for tree in [&base, &head] {
            std::fs::create_dir_all(tree.join("cmd")).unwrap();
        }
        let context = Context { project: head.clone(), usable_cpus: vec![0, 1], pin: None };
        let source = Source {
            name: "ci.toml",
            text,
            project: Path::new(""),
            base: &base,
            head: &head,
            question: "Is it worse?",
        };
        made(&source, Wishes { metrics, margin: None, budget: None }, &context)
    }

    #[test]
    fn one_target_becomes_two_with_their_claims() {
        let (text, plan) = ci(FILE, &[]).unwrap();
        let names: Vec<&str> = plan.targets.iter().map(|target| target.name.as_str()).collect();
        assert_eq!(names, [HEAD, BASE]);
        assert!(text.contains("/head/cmd\"") && text.contains("/base/cmd\""), "{text}");
        let claims: Vec<&str> = plan.claims.iter().map(|claim| claim.text.as_str()).collect();
        assert_eq!(claims, ["Throughput of head is not worse", "CPU per request of head is not worse"]);
        assert_eq!((plan.question.as_str(), plan.margin), ("Is it worse?", MARGIN));
        let stopping = plan.design.stopping.as_ref().unwrap();
        assert!(stopping.until_decided && stopping.budget_ns == Some(BUDGET.0), "{stopping:?}");
        // What comes out is a file that can be read again.
        assert_eq!(ExperimentFile::from_toml("x", &text).unwrap().target.len(), 2);
    }

    #[test]
    fn each_load_has_claims_of_its_own() {
        let several = FILE.replace("\"closed\"\n", "\"closed\"\nconnections = [4, 16]\n");
        let (_, plan) = ci(&several, &[Metric::P99]).unwrap();
        let claims: Vec<&str> = plan.claims.iter().map(|claim| claim.text.as_str()).collect();
        assert_eq!(
            claims,
            ["p99 of head is not worse, connections 4", "p99 of head is not worse, connections 16"]
        );
        let open = FILE.replace("\"closed\"\n", "\"open\"\nrate = [100, 200]\n");
        assert_eq!(ci(&open, &[]).unwrap().1.claims.len(), 4);
    }

    #[test]
    fn claims_margin_and_budget_of_the_file_stay() {
        let own = "[[claim]]\ntext = \"own\"\nmetric = \"p50\"\nno_worse = \"head\"\nthan = \"base\"\n[design]\n\
                   budget = \"2m\"\n";
        let file = FILE.replace("\"shop\"\n", "\"shop\"\nmargin = 0.1\n") + own;
        let (_, plan) = ci(&file, &[]).unwrap();
        assert_eq!((plan.claims.len(), plan.margin), (1, 0.1));
        assert_eq!(plan.design.stopping.unwrap().budget_ns, Some(120_000_000_000));
    }

    #[test]
    fn what_has_no_commit_is_refused() {
        let target = "command = [\"./s\", \"{port}\"]\nfolder = \"cmd\"\nbuild = [\"make\"]";
        for (other, expected) in [
            ("url = \"http://127.0.0.1:1\"", "has no commit"),
            ("reference = {}", "the same in every commit"),
            ("image = \"shop:1\"", "an image is the same in every commit"),
            ("use = \"go/gin\"\nproject = \".\"", "each commit's own tree"),
            ("reference = {}\n[[target]]\nreference = {}", "ci.toml has 2 targets"),
        ] {
            let text = ci(&FILE.replace(target, other), &[]).unwrap_err().to_string();
            assert!(text.contains(expected) && text.contains("remedy"), "{text}");
        }
    }
}
