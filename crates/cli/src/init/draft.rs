//! An experiment from a few answers: its times, and its file with comments.
//!
//! Invariant: what is written is an experiment that `prony run` takes, and its trials fit into the time that was given.

use super::service::{self, Service};
use anyhow::{Result, bail};
use std::fmt::Write as _;
use units::Nanos;

/// What a trial costs beside its load: a process starts, is checked and stops, and the clock of a trial begins.
const AROUND: Nanos = Nanos::from_secs(2);
const WARMUP_MIN: Nanos = Nanos::from_secs(1);
const WARMUP_MAX: Nanos = Nanos::from_secs(20);
const SAMPLE_MIN: Nanos = Nanos::from_secs(2);
/// Part of a trial's time that warms up.
const WARMUP_PART: u64 = 4;
/// Where one service may bend.
const LADDER: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Longest name of an experiment.
const NAME_BYTES: usize = 80;

/// The load of every trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Ever more connections.
    Ladder,
    /// Closed, by connections.
    Closed(u64),
    /// Open, by requests per second.
    Open(u64),
}

/// All that the file says.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) name: String,
    services: Vec<(String, Service)>,
    path: String,
    load: Load,
    blocks: u64,
    warmup: Nanos,
    sample: Nanos,
}

/// What the user asked for.
#[derive(Debug)]
pub(super) struct Wishes<'a> {
    pub(super) services: Vec<Service>,
    pub(super) time: Nanos,
    pub(super) path: Option<&'a str>,
    pub(super) load: Option<Load>,
    pub(super) blocks: u64,
    pub(super) name: Option<&'a str>,
}

impl Draft {
    /// # Errors
    /// Paths that differ, or a time that is too short for an interval.
    pub(super) fn new(wishes: Wishes<'_>) -> Result<Self> {
        let names = service::names(&wishes.services);
        let load = wishes.load.unwrap_or(match names.len() {
            1 => Load::Ladder,
            _ => Load::Closed(plan::defaults::CONNECTIONS),
        });
        let cells = if load == Load::Ladder { LADDER.len() } else { 1 } * names.len();
        let (warmup, sample) = times(wishes.time, wishes.blocks * cells as u64)?;
        let path = path(&wishes.services, wishes.path)?;
        let services: Vec<(String, Service)> = names.into_iter().zip(wishes.services).collect();
        let name = wishes.name.map_or_else(|| experiment_name(&services), str::to_owned);
        Ok(Self { name, services, path, load, blocks: wishes.blocks, warmup, sample })
    }

    /// The file, with comments.
    pub(super) fn toml(&self, shown: &str) -> String {
        let mut text = format!(
            "# Written by prony init. Look at the plan: prony run {shown} --dry-run\n\
             # Every key and its range: docs/guides/experiment-file.md\n\n\
             [experiment]\nname = {}\nquestion = {}\n\
             # A block visits every cell once, in random order, with a fresh process each time. Five blocks are the\n\
             # fewest that give an interval; one more, because a busy host may make a trial void.\n\
             blocks = {}\n",
            quoted(&self.name),
            quoted(&self.question()),
            self.blocks,
        );
        for (name, service) in &self.services {
            text += &target(name, service);
        }
        let _ = write!(
            text,
            "\n[scenario]\nrequest = {{ path = {} }}\n\
             # Any other answer counts as failed.\nexpect = {{ status = [200] }}\n\n{}\n\
             [phases]\n# What comes before the sample is sent and not counted.\n\
             warmup = {{ at_least = {warmup}, at_most = {warmup} }}\nsample = {}\nsamples = 1\n",
            quoted(&self.path),
            self.load_toml(),
            quoted(&time(self.sample)),
            warmup = quoted(&time(self.warmup)),
        );
        if let [(one, _), (other, _), ..] = &*self.services {
            let _ = write!(
                text,
                "\n# A claim is decided with its interval; prony run ends with 3 where one does not hold.\n\
                 # [[claim]]\n# text = {}\n# metric = \"throughput\"\n# better = {}\n# than = {}\n# ratio = \">= 1.05\"\n",
                quoted(&format!("{one} answers at least 5 % more requests per second than {other}")),
                quoted(one),
                quoted(other),
            );
        }
        text
    }

    fn question(&self) -> String {
        let names: Vec<&str> = self.services.iter().map(|(name, _)| name.as_str()).collect();
        match (&*names, self.load) {
            ([one], Load::Ladder) => format!("How much does {one} take, and where does it bend?"),
            ([one], Load::Closed(connections)) => {
                format!("How much does {one} take at {connections} connections?")
            }
            ([one], Load::Open(rate)) => format!("How long do users of {one} wait at {rate} requests/s?"),
            (all, Load::Open(rate)) => {
                format!("Which answers sooner at {rate} requests/s: {}?", all.join(" or "))
            }
            (all, _) => format!("Which is faster: {}?", all.join(" or ")),
        }
    }

    fn load_toml(&self) -> String {
        match self.load {
            Load::Ladder => format!(
                "# Closed: each connection sends when its answer has come. Each number is a cell of its own.\n\
                 [load]\nmodel = \"closed\"\nconnections = {LADDER:?}\n"
            ),
            Load::Closed(connections) => format!(
                "# Closed: each connection sends when its answer has come. It tells how much a service takes.\n\
                 [load]\nmodel = \"closed\"\nconnections = {connections}\n"
            ),
            Load::Open(rate) => format!(
                "# Open: so many requests per second, whatever the service does. It tells how long users wait.\n\
                 [load]\nmodel = \"open\"\nrate = {rate}\narrivals = \"poisson\"\nconnections = {}\n",
                plan::defaults::CONNECTIONS
            ),
        }
    }
}

fn target(name: &str, service: &Service) -> String {
    let mut text = format!("\n[[target]]\nname = {}\n", quoted(name));
    match service {
        Service::Url(url) => {
            let _ = writeln!(text, "# It runs already: prony neither starts nor stops it.");
            let _ = writeln!(text, "url = {}", quoted(&url.origin()));
        }
        Service::Folder(folder) => {
            let _ = writeln!(text, "use = {}", quoted(folder));
        }
        Service::Command(words) => {
            let list: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            let _ = writeln!(text, "command = [{}]", list.join(", "));
            if !words.iter().any(|word| word.contains("{port}")) {
                let _ = writeln!(
                    text,
                    "# The command does not say {{port}}; many programs listen where PORT says."
                );
                let _ = writeln!(text, "env = {{ PORT = \"{{port}}\" }}");
            }
        }
    }
    text
}

/// Warm-up and sample of each of so many trials.
fn times(all: Nanos, trials: u64) -> Result<(Nanos, Nanos)> {
    let least = Nanos((AROUND.0 + WARMUP_MIN.0 + SAMPLE_MIN.0).saturating_mul(trials));
    if all < least {
        bail!(
            "{trials} trials need at least {}, and --time is {}; give more time, or fewer services",
            rounded_up(least),
            time(all)
        );
    }
    let load = all.0 / trials - AROUND.0;
    let warmup = (load / WARMUP_PART).clamp(WARMUP_MIN.0, WARMUP_MAX.0);
    Ok((tenths(warmup), tenths(load - warmup)))
}

/// The one path that all are asked for.
fn path(services: &[Service], wanted: Option<&str>) -> Result<String> {
    let mut paths: Vec<&str> = services.iter().filter_map(Service::path).chain(wanted).collect();
    paths.dedup();
    match *paths {
        [] => Ok("/".to_owned()),
        [path] if path.starts_with('/') => Ok(path.to_owned()),
        [path] => bail!("--path {path} does not begin with /; give /{path}"),
        [one, other, ..] => {
            bail!(
                "the paths {one} and {other} differ, and all services are asked for the same; give one of them"
            )
        }
    }
}

fn experiment_name(services: &[(String, Service)]) -> String {
    let joined = services.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("-vs-");
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = joined.chars().map(plain).collect();
    let name: String = name.trim_matches(['-', '.']).chars().take(NAME_BYTES).collect();
    if name.is_empty() { "experiment".to_owned() } else { name }
}

const TENTH_NS: u64 = 100_000_000;

fn tenths(nanos: u64) -> Nanos {
    Nanos(nanos / TENTH_NS * TENTH_NS)
}

/// `2.5s`, as experiment files write it.
fn time(nanos: Nanos) -> String {
    format!("{}s", nanos.0 as f64 / 1e9)
}

/// Whole minutes, or seconds below one.
fn rounded_up(nanos: Nanos) -> String {
    match nanos.0.div_ceil(1_000_000_000) {
        seconds @ 0..=60 => format!("{seconds}s"),
        seconds => format!("{}m", seconds.div_ceil(60)),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn wishes(services: &[&str]) -> Wishes<'static> {
        let parse = |text: &&str| Service::parse(text, Path::new("/nowhere")).unwrap();
        Wishes {
            services: services.iter().map(parse).collect(),
            time: Nanos::from_secs(300),
            path: None,
            load: None,
            blocks: 6,
            name: None,
        }
    }

    #[test]
    fn trials_fit_into_the_time() {
        for (seconds, trials) in [(60, 12), (300, 12), (300, 48), (3600, 12), (86_400, 6)] {
            let all = Nanos::from_secs(seconds);
            let (warmup, sample) = times(all, trials).unwrap();
            assert!((WARMUP_MIN..=WARMUP_MAX).contains(&warmup) && sample >= SAMPLE_MIN, "{seconds}");
            let spent = (warmup.0 + sample.0 + AROUND.0) * trials;
            assert!(spent <= all.0 && all.0 - spent <= 2 * TENTH_NS * trials, "{seconds}: {spent}");
        }
        let error = times(Nanos::from_secs(59), 12).unwrap_err().to_string();
        assert!(error.starts_with("12 trials need at least 60s, and --time is 59s;"), "{error}");
        assert!(times(Nanos::from_secs(60), 48).unwrap_err().to_string().contains("at least 4m"));
    }

    #[test]
    fn one_path_for_all() {
        let of =
            |services: &[&str], path| Draft::new(Wishes { path, ..wishes(services) }).map(|draft| draft.path);
        assert_eq!(of(&["127.0.0.1:1/a", "127.0.0.1:2/a"], None).unwrap(), "/a");
        assert_eq!(of(&["127.0.0.1:1", "127.0.0.1:2/a"], None).unwrap(), "/a");
        assert_eq!(of(&["127.0.0.1:1"], Some("/b")).unwrap(), "/b");
        assert_eq!(of(&["127.0.0.1:1"], None).unwrap(), "/");
        assert!(of(&["127.0.0.1:1/a", "127.0.0.1:2/b"], None).unwrap_err().to_string().contains("differ"));
        assert!(of(&["127.0.0.1:1/a"], Some("/b")).unwrap_err().to_string().contains("differ"));
        assert!(of(&["127.0.0.1:1"], Some("b")).unwrap_err().to_string().contains("give /b"));
    }

    #[test]
    fn names_are_what_an_experiment_may_be_called() {
        let hour = Nanos::from_secs(3600);
        let name = |services: &[&str]| Draft::new(Wishes { time: hour, ..wishes(services) }).unwrap().name;
        assert_eq!(name(&["127.0.0.1:1", "127.0.0.1:2"]), "127.0.0.1-1-vs-127.0.0.1-2");
        assert_eq!(name(&["sh -c 'ö'"]), "sh");
        assert!(name(&["127.0.0.1:1"; 12]).len() <= NAME_BYTES);
    }
}
