//! The experiment that confirms a finding (METHOD §9, stage two): the cell as it was and the cell with its suspect
//! changed, in blocks like any other run, and a prediction that was written down before.
//!
//! Invariants: nothing but the suspect differs between the two cells; the prediction is the finding's and is not chosen
//! after the numbers; "because" needs the whole interval of the ratio beyond the predicted one.

use plan::add_blocks;
use schema::analysis::{AnalysisFile, Comparison};
use schema::design::DesignPlan;
use schema::finding::{Change, Finding, Intervention};
use schema::intervention::{InterventionFile, InterventionVerdict};
use schema::limits::NetworkMode;
use schema::plan::{CellPlan, ExperimentPlan, TargetPlan, TargetSource};
use schema::run::RunFile;
use schema::said;
use schema::said::Said;
use schema::version::InterventionVersion;
use std::path::Path;

/// Why an intervention cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum InterveneError {
    /// The finding names nothing that prony can change.
    #[error(
        "prony cannot change this by itself: {0}\n  remedy: change it by hand and compare two runs with `prony compare`"
    )]
    ByHand(String),
    /// The finding has no experiment.
    #[error(
        "there is no experiment that would confirm {0}\n  remedy: follow its remedy and compare two runs with `prony compare`"
    )]
    None(String),
    /// The plan no longer fits its targets.
    #[error(
        "the run cannot be changed so: {0}\n  remedy: write the experiment by hand; the run's experiment is in its run.json"
    )]
    Unfit(String),
}

/// The plan of the experiment: two cells that differ in the suspect only, `blocks` times.
///
/// # Errors
/// The change cannot be made by prony, or the target does not take it.
pub fn plan(
    run: &RunFile,
    finding: &Finding,
    blocks: u32,
) -> Result<(ExperimentPlan, Intervention), InterveneError> {
    let tried =
        finding.intervention.clone().ok_or_else(|| InterveneError::None(finding.cause.words().into()))?;
    let unfit = |what: &str| InterveneError::Unfit(what.to_owned());
    let cell = run
        .plan
        .cells
        .iter()
        .find(|cell| cell.id == finding.cell)
        .ok_or_else(|| unfit("its cell is not in the plan"))?;
    let target = run
        .plan
        .targets
        .iter()
        .find(|target| target.name == cell.target)
        .ok_or_else(|| unfit("its target is not in the plan"))?;
    let before = CellPlan { id: "c1".to_owned(), ..cell.clone() };
    let name = format!("{} changed", target.name);
    let mut changed = TargetPlan { name: name.clone(), variant: None, ..target.clone() };
    let mut after = CellPlan {
        id: "c2".to_owned(),
        target: name,
        label: format!("{}, with {}", cell.label, tried.text),
        ..cell.clone()
    };
    apply(&tried, &mut changed, &mut after)?;
    let mut plan = ExperimentPlan {
        name: format!("{}-{}", run.plan.name, finding.cause.key().replace('_', "-")),
        question: format!(
            "Is it {} that holds {} back? Predicted: {}",
            finding.cause.words(),
            cell.label,
            predicted(&tried)
        ),
        targets: vec![TargetPlan { variant: None, ..target.clone() }, changed],
        cells: vec![before, after],
        design: DesignPlan::default(),
        capacity: None,
        soak: None,
        claims: Vec::new(),
        thresholds: Vec::new(),
        alarms: Vec::new(),
        blocks: 0,
        order: Vec::new(),
        ..run.plan.clone()
    };
    add_blocks(&mut plan, blocks);
    Ok((plan, tried))
}

/// The prediction in words.
#[must_use]
pub fn predicted(tried: &Intervention) -> Said {
    let way = if tried.ratio > 1.0 {
        said!("intervention.above", "above")
    } else {
        said!("intervention.below", "below")
    };
    said!(
        "intervention.prediction",
        "with {change}, {metric} {way} {ratio} times what it was",
        change = &tried.text,
        metric = tried.metric.key(),
        way,
        ratio = tried.ratio
    )
}

fn apply(tried: &Intervention, target: &mut TargetPlan, cell: &mut CellPlan) -> Result<(), InterveneError> {
    let unfit = InterveneError::Unfit;
    match &tried.change {
        Change::Knob { name, value } => {
            let value = accepted(target, name, value)?;
            target.knobs.insert(name.clone(), value);
        }
        Change::Cpus { value } => cell.limits.cpus = *value,
        Change::Memory { value } => cell.limits.memory_bytes = *value,
        Change::Loss { value } if cell.limits.network == NetworkMode::Isolated => cell.limits.loss = *value,
        Change::Rate { value } if cell.limits.network == NetworkMode::Isolated => {
            cell.limits.rate_bits_per_s = *value;
        }
        Change::Loss { .. } | Change::Rate { .. } => {
            return Err(unfit("its network is not prony's".to_owned()));
        }
        Change::Keepalive { value } => {
            cell.load.connection.keepalive = *value;
            cell.load.connection.requests_max = None;
            cell.load.connection.lifetime_ns = None;
        }
        Change::Reference { name, value } => {
            let TargetSource::Reference { law } = &mut target.source else {
                return Err(unfit("its target is not the reference target".to_owned()));
            };
            *law = with_key(law, name, value).map_err(unfit)?;
        }
        Change::ByHand => return Err(InterveneError::ByHand(tried.text.to_string())),
    }
    Ok(())
}

/// The value as the manifest's knob takes it.
fn accepted(target: &TargetPlan, name: &str, value: &str) -> Result<String, InterveneError> {
    let unfit = |what: String| InterveneError::Unfit(what);
    let TargetSource::Manifest { folder, .. } = &target.source else {
        return Err(unfit("its target has no knobs".to_owned()));
    };
    let (manifest, _) =
        launch::manifest::load(Path::new(folder)).map_err(|error| unfit(error.to_string()))?;
    let knob = manifest
        .knob
        .iter()
        .find(|knob| knob.name == name)
        .ok_or_else(|| unfit(format!("the target has no knob `{name}`")))?;
    knob.accept_text(value).map_err(|refused| unfit(format!("{}; {}", refused.cause, refused.remedy)))
}

/// A law with one key of its file changed.
fn with_key(
    law: &schema::experiment::Reference,
    name: &str,
    value: &str,
) -> Result<schema::experiment::Reference, String> {
    let mut json = serde_json::to_value(law).map_err(|error| error.to_string())?;
    let parsed: serde_json::Value = serde_json::from_str(value).map_err(|error| error.to_string())?;
    let object = json.as_object_mut().ok_or("the law is no table")?;
    object.insert(name.to_owned(), parsed);
    object.retain(|_, value| !value.is_null());
    serde_json::from_value(json).map_err(|error| error.to_string())
}

/// The answer: whether the numbers moved as predicted.
#[must_use]
pub fn answer(
    of: &RunFile,
    run: &RunFile,
    finding: &Finding,
    tried: Intervention,
    analysis: &AnalysisFile,
) -> InterventionFile {
    let of_pair = |found: &&Comparison| {
        found.metric == tried.metric
            && [&found.a, &found.b].into_iter().all(|cell| cell == "c1" || cell == "c2")
    };
    let found = analysis.comparisons.iter().find(of_pair);
    // Changed over unchanged, whichever way round they were compared.
    let turn = |ratio: f64| if found.is_some_and(|found| found.a == "c1") { 1.0 / ratio } else { ratio };
    let ratio = found.and_then(|found| found.ratio).map(turn).filter(|ratio| ratio.is_finite());
    // One prediction, written down before: its interval stands alone, whatever else was measured.
    let ends = found
        .and_then(|found| found.alone.or(found.interval))
        .and_then(|interval| Some((turn(interval.low?), turn(interval.high?))));
    let ends =
        ends.map(|(a, b)| (a.min(b), a.max(b))).filter(|(low, high)| low.is_finite() && high.is_finite());
    let verdict = match ends {
        None => InterventionVerdict::Inconclusive,
        Some((low, high))
            if tried.ratio > 1.0 && low > tried.ratio || tried.ratio < 1.0 && high < tried.ratio =>
        {
            InterventionVerdict::Holds
        }
        Some((low, high))
            if tried.ratio > 1.0 && high < tried.ratio || tried.ratio < 1.0 && low > tried.ratio =>
        {
            InterventionVerdict::DoesNotHold
        }
        Some(_) => InterventionVerdict::Inconclusive,
    };
    let refused = found.and_then(|found| found.refused.clone()).or_else(|| {
        found.is_none().then(|| said!("intervene.not_compared", "the two cells could not be compared"))
    });
    InterventionFile {
        schema: InterventionVersion::default(),
        of: of.id.clone(),
        run: run.id.clone(),
        cell: finding.cell.clone(),
        cause: finding.cause,
        prediction: predicted(&tried),
        intervention: tried,
        ratio,
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        verdict,
        refused: if ends.is_none() { refused } else { None },
    }
}
