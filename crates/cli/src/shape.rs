//! `prony shape`: the schedule of an open load before it is run, from an experiment file or from flags.

pub(crate) mod draw;

use crate::args::{ShapeArgs, ShapeFormat, with_flag};
use crate::{exit, output};
use analyze::arrivals::Intensity;
use anyhow::{Context as _, Result, bail};
use pace::{Schedule, Share};
use plan::{Context, intervals};
use schema::arrival::ArrivalPlan;
use schema::experiment::{Load, LoadModel};
use schema::plan::{LoadPlan, PhasePlan};
use schema::shape::{ShapeColumn, ShapeReport, ShapedLoad};
use std::fmt::Write as _;
use std::path::Path;
use units::Nanos;

/// Columns of the picture, and of the machine formats.
const COLUMNS: u64 = 64;
/// Arrivals that are drawn at most: a few seconds of work.
const ARRIVALS_MAX: u64 = 20_000_000;
/// Intended times that are listed: what fits a line.
const FIRST: usize = 6;
/// Scales at which the dispersion of counts is reported (METHOD §7).
const DISPERSION_BINS_NS: [u64; 2] = [100_000_000, 1_000_000_000];

pub(crate) fn shape(args: &ShapeArgs) -> Result<u8> {
    let loads = match &args.file {
        Some(file) => of_file(file)?,
        None => vec![of_flags(args)?],
    };
    let loads: Vec<ShapedLoad> = loads.iter().map(sketch).collect::<Result<_>>()?;
    let file = args.output.as_deref();
    let text = match args.format {
        ShapeFormat::Text => loads.iter().map(|load| draw::text(load, draw::is_utf8())).collect(),
        ShapeFormat::Json => schema::json::pretty(&ShapeReport { schema: Default::default(), loads })?,
        ShapeFormat::Csv => csv(&loads),
    };
    output::write(file, &text)?;
    Ok(exit::DONE)
}

/// A load and how long it lasts, warm-up included.
struct Wanted {
    label: String,
    load: LoadPlan,
    duration: Nanos,
}

/// The open loads of an experiment, each once.
fn of_file(file: &Path) -> Result<Vec<Wanted>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let usable_cpus = launch::pin::usable_cpus()?;
    let context = Context { project: plan::project_above(file), usable_cpus, pin: None };
    let plan = plan::experiment(&file.display().to_string(), &text, &context)?;
    let duration = duration(&plan.phases);
    let mut wanted: Vec<Wanted> = Vec::new();
    for cell in plan.cells.into_iter().filter(|cell| cell.load.model == LoadModel::Open) {
        let is_known = |known: &Wanted| {
            (known.load.rate_per_s, &known.load.shape) == (cell.load.rate_per_s, &cell.load.shape)
        };
        if !wanted.iter().any(is_known) {
            wanted.push(Wanted { label: label(&cell.load), load: cell.load, duration });
        }
    }
    if wanted.is_empty() {
        bail!(
            "{} has closed loads only: their requests wait for answers, so there is no schedule to draw",
            file.display()
        );
    }
    Ok(wanted)
}

fn of_flags(args: &ShapeArgs) -> Result<Wanted> {
    let phases = intervals::once(args.warmup, args.duration.max(Nanos(1)));
    if args.pacing.think.is_some() {
        bail!("a closed load with think time has no schedule: its requests wait for answers; remove --think");
    }
    let mut load = Load::default();
    args.pacing.put_into(&mut load, args.rate);
    load.model = LoadModel::Open;
    let load = plan::schedule(&load, &phases, args.seed).map_err(with_flag)?;
    Ok(Wanted { label: label(&load), load, duration: duration(&phases) })
}

fn duration(phases: &PhasePlan) -> Nanos {
    Nanos(phases.warmup_at_least_ns.saturating_add(phases.sample_ns.saturating_mul(phases.samples.into())))
}

fn label(load: &LoadPlan) -> String {
    let law = load.arrivals.clone().unwrap_or_default();
    let rate = load.rate_per_s.unwrap_or_default();
    match &load.shape {
        Some(shape) => format!("{} at {rate:.6}/s, {law} arrivals", shape.kind),
        None => format!("{rate:.6}/s, {law} arrivals"),
    }
    .replace(".000000/s", "/s")
}

/// Draws the seeded schedule and sums it up.
fn sketch(wanted: &Wanted) -> Result<ShapedLoad> {
    let Wanted { label, load, duration } = wanted;
    let intensity = Intensity::of(load);
    let intended = intensity.count(duration.0);
    if intended > ARRIVALS_MAX as f64 {
        bail!("{intended:.0} arrivals are too many to draw; give a shorter -d, or a lower rate");
    }
    let recorded = match &load.arrivals {
        Some(ArrivalPlan::Recorded { file, .. }) => Some(plan::recorded::read(Path::new(file))?),
        _ => None,
    };
    let mut schedule = Schedule::of_load(load, recorded, Share::WHOLE)?;
    let edge = |column: u64| (u128::from(duration.0) * u128::from(column) / u128::from(COLUMNS)) as u64;
    let mut columns: Vec<ShapeColumn> =
        (0..COLUMNS).map(|i| column(&intensity, edge(i), edge(i + 1))).collect();
    let mut bins = DISPERSION_BINS_NS.map(|bin_ns| vec![0_u64; (duration.0 / bin_ns) as usize]);
    let (mut arrivals, mut first_ns) = (0, Vec::new());
    while schedule.peek() < *duration {
        let at_ns = schedule.advance().0;
        let place = columns.partition_point(|column| column.end_ns <= at_ns);
        columns[place].arrivals += 1;
        for (bin_ns, counts) in DISPERSION_BINS_NS.iter().zip(&mut bins) {
            if let Some(count) = counts.get_mut((at_ns / bin_ns) as usize) {
                *count += 1;
            }
        }
        if first_ns.len() < FIRST {
            first_ns.push(at_ns);
        }
        arrivals += 1;
    }
    let peak_per_s = columns.iter().map(|column| column.intended_per_s).fold(0.0, f64::max);
    let dispersion = |index: usize| dispersion(&bins[index], DISPERSION_BINS_NS[index], &intensity);
    Ok(ShapedLoad {
        label: label.clone(),
        load: load.clone(),
        duration_ns: duration.0,
        intended,
        arrivals,
        peak_per_s,
        dispersion_100ms: dispersion(0),
        dispersion_1s: dispersion(1),
        first_ns,
        columns,
    })
}

fn column(intensity: &Intensity, start_ns: u64, end_ns: u64) -> ShapeColumn {
    let seconds = (end_ns.saturating_sub(start_ns)).max(1) as f64 / 1e9;
    let intended_per_s = (intensity.count(end_ns) - intensity.count(start_ns)) / seconds;
    ShapeColumn { start_ns, end_ns, intended_per_s, arrivals: 0 }
}

/// Index of dispersion of counts about the intended ones: Σ(N − Λ)²/ΣΛ, which is 1 for Poisson under any shape.
fn dispersion(counts: &[u64], bin_ns: u64, intensity: &Intensity) -> Option<f64> {
    let (mut squares, mut sum) = (0.0, 0.0);
    for (index, count) in (0_u64..).zip(counts) {
        let intended = intensity.count((index + 1) * bin_ns) - intensity.count(index * bin_ns);
        squares += (*count as f64 - intended).powi(2);
        sum += intended;
    }
    (counts.len() > 1 && sum > 0.0).then(|| squares / sum)
}

fn csv(loads: &[ShapedLoad]) -> String {
    let mut text = "load,start_ns,end_ns,intended_per_s,arrivals,arrivals_per_s\n".to_owned();
    for (number, load) in (1..).zip(loads) {
        for column in &load.columns {
            let ShapeColumn { start_ns, end_ns, intended_per_s, arrivals } = column;
            let _ = writeln!(
                text,
                "{number},{start_ns},{end_ns},{intended_per_s},{arrivals},{}",
                column.arrivals_per_s()
            );
        }
    }
    text
}
