//! Arrivals, shape and think time: from what the user wrote to the plan, for experiment files and flags alike.

use super::intervals::window_begin_ns;
use super::recorded;
use crate::error::PlanError;
use crate::wrong::Wrong;
use pace::{PaceError, Schedule, Share, Think as Thinker};
use schema::arrival::{
    ArrivalPlan, Arrivals, LengthPlan, Lengths, Level, Number, Point, Shape, ShapeEnd, ShapePlan,
    StretchPlan, Think, ThinkPlan,
};
use schema::experiment::{Load, LoadModel};
use schema::plan::{LoadPlan, PhasePlan};
use schema::text::Problem;
use std::path::Path;
use std::sync::Arc;
use units::{Nanos, PerSecond, Seed};

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes<'a> {
    /// Closed or open.
    pub(crate) model: LoadModel,
    /// Requests per second in total.
    pub(crate) rate: Option<PerSecond>,
    /// The arrival law.
    pub(crate) arrivals: Option<&'a Arrivals>,
    /// The rate over time.
    pub(crate) shape: Option<&'a Shape>,
    /// The pause of a closed loop.
    pub(crate) think: Option<&'a Think>,
}

impl<'a> Wishes<'a> {
    /// Those of `[load]`, at one of its rates.
    pub(crate) fn of(load: &'a Load, rate: Option<PerSecond>) -> Self {
        Self {
            model: load.model,
            rate,
            arrivals: load.arrivals.as_ref(),
            shape: load.shape.as_ref(),
            think: load.think.as_ref(),
        }
    }
}

/// The part of a [`LoadPlan`] that says when requests are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacing {
    rate_per_s: Option<f64>,
    arrivals: Option<ArrivalPlan>,
    shape: Option<ShapePlan>,
    think: Option<ThinkPlan>,
    recorded: Option<Arc<[u64]>>,
}

impl Pacing {
    /// Puts it into a plan.
    pub(crate) fn into_plan(self, rest: LoadPlan) -> LoadPlan {
        let Self { rate_per_s, arrivals, shape, think, .. } = self;
        LoadPlan { rate_per_s, arrivals, shape, think, ..rest }
    }
}

/// Resolves the settings of `[load]`; files are relative to `folder`.
pub(crate) fn resolve(wishes: Wishes<'_>, phases: &PhasePlan, folder: &Path) -> Result<Pacing, Wrong> {
    let pacing = match wishes.model {
        LoadModel::Closed => closed(wishes)?,
        LoadModel::Open => open(wishes, phases, folder)?,
    };
    probe(&pacing, wishes.model)?;
    Ok(pacing)
}

fn closed(wishes: Wishes<'_>) -> Result<Pacing, Problem> {
    let refuse = |key: &str, what: &str| {
        let remedy = "remove it, or make the load open with a rate";
        Err(Problem::at(key, format!("a closed load has no {what}"), remedy))
    };
    match wishes {
        Wishes { rate: Some(_), .. } => refuse("load.rate", "rate"),
        Wishes { arrivals: Some(_), .. } => refuse("load.arrivals", "arrival process"),
        Wishes { shape: Some(_), .. } => refuse("load.shape", "shape, because it has no rate"),
        _ => Ok(Pacing {
            think: wishes.think.map(|given| think(given, "load.think")).transpose()?,
            ..Pacing::default()
        }),
    }
}

fn open(wishes: Wishes<'_>, phases: &PhasePlan, folder: &Path) -> Result<Pacing, Wrong> {
    if wishes.think.is_some() {
        let cause = "an open load has no think time: its requests wait for no answer";
        return Err(
            Problem::at("load.think", cause, "remove it, or make the load closed, without a rate").into()
        );
    }
    let fixed = phases.warmup_at_least_ns == phases.warmup_at_most_ns;
    if !fixed && (wishes.shape.is_some() || matches!(wishes.arrivals, Some(Arrivals::Recorded { .. }))) {
        let key = if wishes.shape.is_some() { "load.shape" } else { "load.arrivals" };
        let cause = "the rate changes over time, so a warm-up of varying length would let each trial measure another part";
        return Err(Problem::at(
            key,
            cause,
            "fix the warm-up: set phases.warmup at_least and at_most to one time",
        )
        .into());
    }
    if let Some(Arrivals::Recorded { file, speed, after }) = wishes.arrivals {
        let path = std::path::absolute(folder.join(file)).map_err(PlanError::io("find", Path::new(file)))?;
        let times = recorded::read(&path)?;
        let (count, span_ns) =
            (times.len() as u64, times.last().zip(times.first()).map_or(0, |(a, b)| a - b));
        let own_per_s = count.saturating_sub(1) as f64 * 1e9 / (span_ns as f64).max(1.0);
        let speed = match (speed, wishes.rate) {
            (Some(_), Some(_)) => {
                let cause = "the rate and the speed of the recording both say how fast it is replayed";
                return Err(Problem::at("load.arrivals", cause, "remove `speed`, or the rate").into());
            }
            (Some(Number(speed)), None) => *speed,
            (None, Some(rate)) => rate.0 / own_per_s.max(f64::MIN_POSITIVE),
            (None, None) => 1.0,
        };
        let file = path.display().to_string();
        return Ok(Pacing {
            rate_per_s: Some(own_per_s * speed),
            arrivals: Some(ArrivalPlan::Recorded {
                file,
                count,
                span_ns,
                speed,
                after: after.unwrap_or_default(),
            }),
            shape: wishes.shape.map(|wish| shape(wish, own_per_s, phases)).transpose()?,
            recorded: Some(times),
            think: None,
        });
    }
    let Some(rate) = wishes.rate else {
        return Err(Problem::at("load", "an open load needs a rate", "add a rate, for example 1000").into());
    };
    Ok(Pacing {
        rate_per_s: Some(rate.0),
        arrivals: Some(wishes.arrivals.map_or(ArrivalPlan::Constant, law)),
        shape: wishes.shape.map(|wish| shape(wish, rate.0, phases)).transpose()?,
        ..Pacing::default()
    })
}

fn law(arrivals: &Arrivals) -> ArrivalPlan {
    match arrivals {
        Arrivals::Constant {} | Arrivals::Recorded { .. } => ArrivalPlan::Constant,
        Arrivals::Uniform { width } => ArrivalPlan::Uniform { width: width.map_or(1.0, |width| width.0) },
        Arrivals::Poisson {} => ArrivalPlan::Poisson,
        Arrivals::Weibull { shape } => ArrivalPlan::Weibull { shape: shape.0 },
        Arrivals::Lognormal { cv } => ArrivalPlan::Lognormal { cv: cv.0 },
        Arrivals::Gamma { shape } => ArrivalPlan::Gamma { shape: shape.0 },
        Arrivals::Mmpp { high, low, high_for, low_for } => ArrivalPlan::Mmpp {
            high: high.0,
            low: low.map_or(1.0, |low| low.0),
            high_for_ns: high_for.0,
            low_for_ns: low_for.0,
        },
    }
}

/// The plan of a think time; `key` says where it stands.
pub(crate) fn think(think: &Think, key: &str) -> Result<ThinkPlan, Problem> {
    let cv = |mean: Nanos, sd: Option<Nanos>, cv: Option<Number>| match (sd, cv) {
        (Some(sd), None) => Ok(sd.0 as f64 / (mean.0 as f64).max(1.0)),
        (None, Some(cv)) => Ok(cv.0),
        _ => {
            let cause = "the spread of the think time is missing, or given twice";
            Err(Problem::at(key, cause, "give one of sd (a time) and cv (a share of the mean)"))
        }
    };
    Ok(match *think {
        Think::Constant { mean } => ThinkPlan::Constant { mean_ns: mean.0 },
        Think::Exponential { mean } => ThinkPlan::Exponential { mean_ns: mean.0 },
        Think::Normal { mean, sd, cv: share } => {
            ThinkPlan::Normal { mean_ns: mean.0, cv: cv(mean, sd, share)? }
        }
        Think::Lognormal { mean, sd, cv: share } => {
            ThinkPlan::Lognormal { mean_ns: mean.0, cv: cv(mean, sd, share)? }
        }
        Think::Weibull { mean, shape } => ThinkPlan::Weibull { mean_ns: mean.0, shape: shape.0 },
        Think::Gamma { mean, shape } => ThinkPlan::Gamma { mean_ns: mean.0, shape: shape.0 },
        Think::Uniform { from, to } => {
            let from = from.unwrap_or_default();
            if from > to {
                let cause = format!("the shortest think time, {from}, is above the longest, {to}");
                return Err(Problem::at(key, cause, "give from and to in this order"));
            }
            ThinkPlan::Uniform { from_ns: from.0, to_ns: to.0 }
        }
    })
}

/// The plan of the number of a session's steps; `key` says where it stands.
pub(crate) fn length(lengths: &Lengths, key: &str) -> Result<LengthPlan, Problem> {
    let plan = match *lengths {
        Lengths::Exponential { mean } => LengthPlan::Exponential { mean: mean.0 },
        Lengths::Lognormal { mean, cv } => LengthPlan::Lognormal { mean: mean.0, cv: cv.0 },
        Lengths::Weibull { mean, shape } => LengthPlan::Weibull { mean: mean.0, shape: shape.0 },
        Lengths::Gamma { mean, shape } => LengthPlan::Gamma { mean: mean.0, shape: shape.0 },
    };
    pace::Lengths::new(&plan, Seed(0)).map_err(|error| {
        let text = error.to_string();
        let (cause, remedy) = text.split_once("; ").unwrap_or((&text, "give other values"));
        Problem::at(key, cause, remedy)
    })?;
    Ok(plan)
}

fn shape(shape: &Shape, base_per_s: f64, phases: &PhasePlan) -> Result<ShapePlan, Problem> {
    let per_s = |level: &Level| level.per_s(base_per_s);
    let first = |from: &Option<Level>| from.as_ref().map_or(base_per_s, per_s);
    let flat = |rate: f64, length: Nanos| linear(rate, rate, length);
    let window = Nanos(phases.sample_ns.saturating_mul(u64::from(phases.samples)));
    let within = |what: &str, at: Nanos| match at < window {
        true => Ok(()),
        false => Err(Problem::at(
            "load.shape",
            format!("{what} begins at {at}, and the load is over at {window}"),
            "let it begin earlier, or measure longer",
        )),
    };
    let (kind, stretches, after) = match shape {
        Shape::Ramp { from, to, over, after } => {
            ("ramp", vec![linear(first(from), per_s(to), *over)], *after)
        }
        Shape::Steps { levels, each, after } => {
            let last = Nanos(each.0.saturating_mul(levels.len().saturating_sub(1) as u64));
            within("the last step", last)?;
            ("steps", levels.iter().map(|level| flat(per_s(level), *each)).collect(), *after)
        }
        Shape::Spike { to, at, length, after } => {
            within("the spike", *at)?;
            let before = (at.0 > 0).then(|| flat(base_per_s, *at));
            let mut stretches: Vec<StretchPlan> = before.into_iter().collect();
            stretches.push(flat(per_s(to), *length));
            if after.unwrap_or_default() == ShapeEnd::Hold {
                // What holds is the rate of the last stretch, so the burst needs one behind it.
                stretches.push(flat(base_per_s, Nanos::SECOND));
            }
            ("spike", stretches, *after)
        }
        Shape::Sine { amplitude, period } => {
            let wave = StretchPlan::Sine {
                mean_per_s: base_per_s,
                amplitude_per_s: per_s(amplitude),
                length_ns: period.0,
            };
            ("sine", vec![wave], Some(ShapeEnd::Repeat))
        }
        Shape::Decay { from, to, over, after } => {
            let (from_per_s, to_per_s, length_ns) = (first(from), per_s(to), over.0);
            ("decay", vec![StretchPlan::Exponential { from_per_s, to_per_s, length_ns }], *after)
        }
        Shape::Piecewise { points, after } => ("piecewise", pieces(points, per_s)?, *after),
    };
    Ok(ShapePlan {
        kind: kind.to_owned(),
        begin_ns: window_begin_ns(phases.warmup_at_least_ns, phases.sample_ns),
        stretches,
        after: after.unwrap_or_default(),
    })
}

const fn linear(from_per_s: f64, to_per_s: f64, length: Nanos) -> StretchPlan {
    StretchPlan::Linear { from_per_s, to_per_s, length_ns: length.0 }
}

fn pieces(points: &[Point], per_s: impl Fn(&Level) -> f64) -> Result<Vec<StretchPlan>, Problem> {
    let wrong = |cause: &str, remedy: &str| Err(Problem::at("load.shape", cause, remedy));
    if points.len() < 2 || points[0].at != Nanos::ZERO {
        return wrong(
            "a piecewise shape has too few points, or its first is not at 0s",
            "begin with 0s@RATE and give two points or more",
        );
    }
    if points.windows(2).any(|pair| pair[1].at < pair[0].at) {
        return wrong("the points are not in order of time", "sort them by time");
    }
    // Two points of one time are a jump, which has no length.
    let rising = points.windows(2).filter(|pair| pair[1].at > pair[0].at);
    Ok(rising
        .map(|pair| linear(per_s(&pair[0].level), per_s(&pair[1].level), pair[1].at.since(pair[0].at)))
        .collect())
}

/// Makes the schedule once, so that whatever it refuses is reported before anything runs.
fn probe(pacing: &Pacing, model: LoadModel) -> Result<(), Problem> {
    let plan = pacing.clone().into_plan(LoadPlan { model, ..LoadPlan::default() });
    let made = match (model, &plan.think) {
        (LoadModel::Open, _) => Schedule::of_load(&plan, pacing.recorded.clone(), Share::WHOLE).map(|_| ()),
        (LoadModel::Closed, Some(think)) => Thinker::new(think, Seed(0), Share::WHOLE).map(|_| ()),
        (LoadModel::Closed, None) => Ok(()),
    };
    made.map_err(|error| {
        let key = match error {
            PaceError::Rate(_) => "load.rate",
            PaceError::Parameter { .. } if model == LoadModel::Closed => "load.think",
            PaceError::Parameter { .. } | PaceError::Recording(_) => "load.arrivals",
            PaceError::Shape(_) | PaceError::ShapedRecording => "load.shape",
        };
        let text = error.to_string();
        let (cause, remedy) = text.split_once("; ").unwrap_or((&text, "give other values"));
        Problem::at(key, cause, remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the command line names a setting.
    fn flags(wishes: Wishes<'_>, phases: &PhasePlan) -> Result<Pacing, String> {
        resolve(wishes, phases, Path::new(".")).map_err(|wrong| match wrong {
            Wrong::Elsewhere(error) => error.to_string(),
            Wrong::Here(problem) => {
                format!(
                    "--{}: {}\n  remedy: {}",
                    problem.key[problem.key.len() - 1],
                    problem.cause,
                    problem.remedy
                )
            }
        })
    }

    use std::io::Write as _;

    fn phases(warmup_ns: u64) -> PhasePlan {
        PhasePlan {
            warmup_at_least_ns: warmup_ns,
            warmup_at_most_ns: warmup_ns,
            warmup_also: Default::default(),
            sample_ns: 60_000_000_000,
            samples: 1,
            drain_ns: 0,
        }
    }

    #[test]
    fn a_shape_that_would_never_be_seen_is_refused() {
        for (shape, cause) in [
            ("spike:to=900,at=60s,for=5s", "the spike begins at 1m, and the load is over at 1m"),
            ("spike:to=900,at=2m,for=5s", "the spike begins at"),
            ("steps:100,200,300,each=30s", "the last step begins at 1m"),
        ] {
            let error = open_load(None, Some(shape)).unwrap_err();
            assert!(error.contains(cause), "{shape}: {error}");
        }
        for shape in ["spike:to=900,at=59s,for=5s", "steps:100,200,each=30s", "steps:100,each=5m"] {
            open_load(None, Some(shape)).unwrap();
        }
    }

    /// Resolves an open load at 100/s with a warm-up of 1.5 s.
    fn open_load(arrivals: Option<&str>, shape: Option<&str>) -> Result<LoadPlan, String> {
        let arrivals = arrivals.map(|text| text.parse().unwrap());
        let shape = shape.map(|text| text.parse().unwrap());
        let wishes = Wishes {
            model: LoadModel::Open,
            rate: Some(PerSecond(100.0)),
            arrivals: arrivals.as_ref(),
            shape: shape.as_ref(),
            think: None,
        };
        let pacing = flags(wishes, &phases(1_500_000_000)).map_err(|error| error.to_string())?;
        Ok(pacing.into_plan(LoadPlan::default()))
    }

    fn refused(arrivals: Option<&str>, shape: Option<&str>, parts: &[&str]) {
        let error = open_load(arrivals, shape).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        assert!(error.contains("remedy: "), "{error}");
    }

    #[test]
    fn shapes_become_stretches_that_begin_with_the_measured_window() {
        let shape = |text| open_load(None, Some(text)).unwrap().shape.unwrap();
        let ramp = shape("ramp:to=x5,over=30s");
        assert_eq!(
            (ramp.begin_ns, ramp.after),
            (2_000_000_000, ShapeEnd::Hold),
            "warm-up is whole intervals"
        );
        assert_eq!(ramp.stretches, [linear(100.0, 500.0, Nanos::from_secs(30))]);
        let steps = shape("steps:50,x2,each=1s,after=repeat");
        assert_eq!((steps.stretches.len(), steps.after), (2, ShapeEnd::Repeat));
        let spike = shape("spike:to=900,at=10s,for=5s");
        let second = Nanos::SECOND;
        let wanted = [
            linear(100.0, 100.0, Nanos::from_secs(10)),
            linear(900.0, 900.0, Nanos::from_secs(5)),
            linear(100.0, 100.0, second),
        ];
        assert_eq!(spike.stretches, wanted);
        let jump = shape("piecewise:0s@10,5s@20,5s@80,6s@80");
        assert_eq!(jump.stretches, [linear(10.0, 20.0, Nanos::from_secs(5)), linear(80.0, 80.0, second)]);
        assert_eq!(shape("sine:amplitude=x0.5,period=9s").after, ShapeEnd::Repeat);
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_its_flag() {
        refused(Some("weibull:shape=0"), None, &["--arrivals: shape 0 is out of range", "from 0.2 to 50"]);
        refused(None, Some("sine:amplitude=x2,period=1s"), &["--shape: ", "amplitude is above its mean"]);
        refused(None, Some("decay:to=0,over=1s"), &["never reaches 0", "use a ramp"]);
        refused(None, Some("piecewise:1s@3,2s@3"), &["begin with 0s@RATE"]);
        refused(None, Some("piecewise:0s@3,2s@3,1s@3"), &["not in order"]);
        refused(None, Some("ramp:to=9,over=0s"), &["no length"]);
        let missing = open_load(Some("recorded:/nowhere/at/all"), None).unwrap_err();
        assert!(missing.starts_with("/nowhere/at/all: the recorded times cannot be read"), "{missing}");
        assert!(missing.contains("remedy: "), "{missing}");
    }

    #[test]
    fn closed_and_open_loads_refuse_what_is_the_others() {
        let (arrivals, shape, think) = (
            "poisson".parse::<Arrivals>().unwrap(),
            "ramp:to=9,over=1s".parse::<Shape>().unwrap(),
            "normal:mean=10ms,cv=0.5".parse::<Think>().unwrap(),
        );
        let error = |wishes| flags(wishes, &phases(0)).unwrap_err().to_string();
        let closed = Wishes::default();
        assert!(error(Wishes { arrivals: Some(&arrivals), ..closed }).contains("--arrivals: a closed load"));
        assert!(error(Wishes { shape: Some(&shape), ..closed }).contains("--shape: a closed load"));
        assert!(error(Wishes { rate: Some(PerSecond(1.0)), ..closed }).contains("--rate: a closed load"));
        let open = Wishes { model: LoadModel::Open, rate: Some(PerSecond(1.0)), ..closed };
        assert!(error(Wishes { think: Some(&think), ..open }).contains("--think: an open load"));
        assert!(error(Wishes { rate: None, ..open }).contains("needs a rate"));
        let pacing = flags(Wishes { think: Some(&think), ..closed }, &phases(0)).unwrap();
        assert_eq!(pacing.think, Some(ThinkPlan::Normal { mean_ns: 10_000_000, cv: 0.5 }));
        let wild = "normal:mean=10ms,sd=90ms".parse::<Think>().unwrap();
        assert!(error(Wishes { think: Some(&wild), ..closed }).contains("--think: cv 9 is out of range"));
        let bare = "lognormal:mean=10ms".parse::<Think>().unwrap();
        assert!(error(Wishes { think: Some(&bare), ..closed }).contains("one of sd"));
    }

    #[test]
    fn a_rate_that_changes_needs_a_fixed_warm_up() {
        let shape = "ramp:to=9,over=1s".parse::<Shape>().unwrap();
        let phases = PhasePlan { warmup_at_most_ns: 9_000_000_000, ..phases(0) };
        let wishes = Wishes {
            model: LoadModel::Open,
            rate: Some(PerSecond(5.0)),
            shape: Some(&shape),
            ..Wishes::default()
        };
        let error = flags(wishes, &phases).unwrap_err().to_string();
        assert!(error.contains("warm-up") && error.contains("at_least and at_most"), "{error}");
    }

    #[test]
    fn recorded_times_bring_their_rate_or_are_scaled_to_it() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"10\n10.5\n12\n").unwrap();
        let name = file.path().display().to_string();
        let of = |text: &str, rate: Option<f64>| {
            let arrivals = text.parse::<Arrivals>().unwrap();
            let wishes = Wishes {
                model: LoadModel::Open,
                rate: rate.map(PerSecond),
                arrivals: Some(&arrivals),
                ..Wishes::default()
            };
            flags(wishes, &phases(0)).map_err(|error| error.to_string())
        };
        let plain = of(&format!("recorded:{name}"), None).unwrap();
        assert_eq!(plain.rate_per_s, Some(1.0), "two gaps in two seconds");
        let scaled = of(&format!("recorded:{name}"), Some(4.0)).unwrap();
        let Some(ArrivalPlan::Recorded { speed, count: 3, span_ns: 2_000_000_000, .. }) = scaled.arrivals
        else {
            panic!("{scaled:?}");
        };
        assert_eq!((speed, scaled.rate_per_s), (4.0, Some(4.0)));
        assert!(of(&format!("recorded:{name},speed=2"), Some(4.0)).unwrap_err().contains("both say"));
        // The plan is held against the file when the load is made.
        let plan = plain.into_plan(LoadPlan::default());
        assert_eq!(recorded::of_load(&plan).unwrap().unwrap().len(), 3);
        file.write_all(b"13\n").unwrap();
        assert!(recorded::of_load(&plan).unwrap_err().to_string().contains("when the run was planned"));
    }
}
