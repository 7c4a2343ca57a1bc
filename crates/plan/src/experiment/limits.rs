//! `[limits]` and `limits` of `[[target]]`: one [`LimitsPlan`] for each level of the CPU quota.
//!
//! Invariants: a key of a target goes before the file's; a mistake is reported where it was written; every plan that
//! comes out can be carried out on a host that allows it.
//! Absent on purpose: whether this host allows it, which only the attempt shows (crate launch).

use launch::confine::sysctl;
use schema::experiment::{ExperimentFile, TargetUse};
use schema::limits::{GeneratorPlan, GeneratorUse, LimitsPlan, LimitsUse, NetworkMode, SysctlValue};
use schema::text::Problem;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use units::{BitsPerSecond, Bytes, Nanos};

/// The kernel takes no quota below 1 ms of each period of 100 ms; the upper end is more than any machine has.
pub(super) const CPUS: RangeInclusive<f64> = 0.01..=4096.0;
/// No server runs in less, and its guard's last step before the program must fit, too.
const MEMORY_BYTES_MIN: u64 = 4 << 20;
/// A token bucket of 96 KiB takes 100 s to fill at this speed; slower is no network any more.
const RATE_BITS_PER_S_MIN: u64 = 8_000;

/// A longer way than around the earth; every trip of the measurement of the idle way takes twice as long.
const DELAY_MAX: Nanos = Nanos::from_secs(1);

/// The levels of every target; `positions` says which `[[target]]` each comes from.
pub(super) fn resolve(file: &ExperimentFile, positions: &[usize]) -> Result<Vec<Vec<LimitsPlan>>, Problem> {
    let of_use = |position: &usize| {
        let given =
            Given { file: file.limits.as_ref(), wanted: &file.target[*position], position: *position };
        given.levels()
    };
    positions.iter().map(of_use).collect()
}

/// `, 0.5 CPUs` where the quota is one level of several; else nothing.
pub(super) fn suffix(level: &LimitsPlan, levels: &[LimitsPlan]) -> String {
    let quota = LimitsPlan { cpus: level.cpus, ..LimitsPlan::default() };
    if levels.len() > 1 { format!(", {quota}") } else { String::new() }
}

/// What is written for one target, in both places.
struct Given<'a> {
    file: Option<&'a LimitsUse>,
    wanted: &'a TargetUse,
    position: usize,
}

impl<'a> Given<'a> {
    fn levels(&self) -> Result<Vec<LimitsPlan>, Problem> {
        self.refuse_what_is_not_started()?;
        let base = LimitsPlan {
            cpus: None,
            memory_bytes: self.memory()?,
            swap: self.pick("swap", |given| given.swap).map(|(swap, _)| swap),
            memory_lock: self.pick("memory_lock", |given| given.memory_lock).map(|(lock, _)| lock.0),
            network: self.network(),
            sysctls: self.sysctls()?,
            rate_bits_per_s: self.rate()?,
            loss: self.loss()?,
            delay_ns: self.delay()?,
            generator: self.generator()?,
        };
        let with = |cpus| LimitsPlan { cpus, ..base.clone() };
        Ok(self.cpus()?.into_iter().map(with).collect())
    }

    fn own(&self) -> Option<&'a LimitsUse> {
        self.wanted.limits.as_ref()
    }

    fn own_key(&self, name: &str) -> String {
        format!("target.{}.limits.{name}", self.position)
    }

    /// The value in force, and where it stands.
    fn pick<T>(&self, name: &str, get: impl Fn(&'a LimitsUse) -> Option<T>) -> Option<(T, String)> {
        let own = self.own().and_then(&get).map(|value| (value, self.own_key(name)));
        own.or_else(|| self.file.and_then(&get).map(|value| (value, format!("limits.{name}"))))
    }

    fn refuse_what_is_not_started(&self) -> Result<(), Problem> {
        let key = match (self.own(), self.file) {
            (Some(_), _) => format!("target.{}.limits", self.position),
            (None, Some(_)) => format!("target.{}", self.position),
            (None, None) => return Ok(()),
        };
        match &self.wanted.url {
            Some(url) => {
                let cause = format!("prony does not start {url} and cannot confine it");
                Err(Problem::at(&key, cause, "let prony start it (`use` or `command`), or remove the limits"))
            }
            None => Ok(()),
        }
    }

    fn cpus(&self) -> Result<Vec<Option<f64>>, Problem> {
        let Some((given, key)) = self.pick("cpus", |given| given.cpus.as_ref()) else {
            return Ok(vec![None]);
        };
        let levels = given.levels();
        let out_of_range = |cpus: &&f64| !CPUS.contains(*cpus);
        if let Some(cpus) = levels.iter().find(out_of_range) {
            let cause = format!("{cpus} CPUs are out of range");
            return Err(Problem::at(&key, cause, format!("give from {} to {}", CPUS.start(), CPUS.end())));
        }
        if levels.is_empty() {
            return Err(Problem::at(&key, "the list is empty", "give at least one number of CPUs"));
        }
        if let Some(twice) = (1..levels.len()).find(|at| levels[..*at].contains(&levels[*at])) {
            let cause = format!("the list has {} twice", levels[twice]);
            return Err(Problem::at(&key, cause, "give each value once"));
        }
        Ok(levels.into_iter().map(Some).collect())
    }

    fn memory(&self) -> Result<Option<u64>, Problem> {
        match self.pick("memory", |given| given.memory) {
            Some((bytes, key)) if bytes.0 < MEMORY_BYTES_MIN => {
                let cause = format!("{bytes} of memory are too little for any server");
                Err(Problem::at(&key, cause, format!("give at least {}", Bytes(MEMORY_BYTES_MIN))))
            }
            memory => Ok(memory.map(|(bytes, _)| bytes.0)),
        }
    }

    fn network(&self) -> NetworkMode {
        self.pick("network", |given| given.network).map_or(NetworkMode::Host, |(mode, _)| mode)
    }

    fn is_isolated(&self) -> bool {
        self.network() == NetworkMode::Isolated
    }

    /// A setting of the isolated network. Where a target goes back to the host's, the file's has no meaning for it.
    fn pick_isolated<T>(
        &self,
        name: &str,
        get: impl Fn(&'a LimitsUse) -> Option<T>,
    ) -> Result<Option<(T, String)>, Problem> {
        let Some((value, key)) = self.pick(name, &get) else { return Ok(None) };
        if self.is_isolated() {
            return Ok(Some((value, key)));
        }
        let is_own = self.own().and_then(&get).is_some();
        let left_it = self.own().and_then(|own| own.network) == Some(NetworkMode::Host);
        if left_it && !is_own {
            return Ok(None);
        }
        let cause = format!("`{name}` would change the host's own network");
        Err(Problem::at(&key, cause, "add network = \"isolated\" to the limits, or remove it"))
    }

    fn sysctls(&self) -> Result<BTreeMap<String, String>, Problem> {
        let has_any = |given: &'a LimitsUse| (!given.sysctls.is_empty()).then_some(());
        if self.pick_isolated("sysctls", has_any)?.is_none() {
            return Ok(BTreeMap::new());
        }
        self.settings("sysctls", |given| Some(&given.sysctls))
    }

    /// The settings of one network from both places.
    fn settings(
        &self,
        name: &str,
        get: impl Fn(&'a LimitsUse) -> Option<&'a BTreeMap<String, SysctlValue>>,
    ) -> Result<BTreeMap<String, String>, Problem> {
        let mut all = BTreeMap::new();
        let places = [(self.file, format!("limits.{name}")), (self.own(), self.own_key(name))];
        for (given, key) in places {
            for (name, value) in given.and_then(&get).into_iter().flatten() {
                let value = value.to_string();
                sysctl::check(name, &value).map_err(|cause| {
                    let remedy =
                        "give settings that each network has for itself, such as net.ipv4.tcp_tw_reuse";
                    let mut problem = Problem::at(&key, cause, remedy);
                    // The name has dots of its own.
                    problem.key.push(name.clone());
                    problem
                })?;
                all.insert(name.clone(), value);
            }
        }
        Ok(all)
    }

    /// The generator's own network, which only an isolated target can be joined to.
    fn generator(&self) -> Result<Option<GeneratorPlan>, Problem> {
        let of = |given: &'a LimitsUse| given.generator.as_ref();
        let Some((mode, key)) = self.pick("generator.network", |given| of(given)?.network) else {
            return self.no_generator_settings();
        };
        if mode == NetworkMode::Host {
            return self.no_generator_settings();
        }
        if !self.is_isolated() {
            let own = self.own().and_then(of).and_then(|own| own.network);
            if own.is_none() && self.own().and_then(|own| own.network) == Some(NetworkMode::Host) {
                // The target left the file's network, and the generator's with it.
                return Ok(None);
            }
            let cause = "the generator's own network is joined to the target's, and the target has none";
            let remedy = "add network = \"isolated\" to the limits, or remove it";
            return Err(Problem::at(&key, cause, remedy));
        }
        let sysctls = self.settings("generator.sysctls", |given| Some(&of(given)?.sysctls))?;
        Ok(Some(GeneratorPlan { sysctls }))
    }

    /// Settings of a generator that stays in the host's network are a mistake where they are the target's own, or where
    /// the file leaves it there.
    fn no_generator_settings(&self) -> Result<Option<GeneratorPlan>, Problem> {
        let settings = |given: &'a LimitsUse| {
            given.generator.as_ref().filter(|generator: &&GeneratorUse| !generator.sysctls.is_empty())
        };
        let Some((_, key)) = self.pick("generator.sysctls", settings) else { return Ok(None) };
        let left_it = self.own().and_then(|own| own.generator.as_ref()?.network) == Some(NetworkMode::Host);
        if left_it && self.own().and_then(settings).is_none() {
            return Ok(None);
        }
        let cause = "`sysctls` would change the host's own network";
        Err(Problem::at(&key, cause, "add network = \"isolated\" to the generator, or remove it"))
    }

    fn delay(&self) -> Result<Option<u64>, Problem> {
        match self.pick_isolated("delay", |given| given.delay)? {
            Some((delay, key)) if delay > DELAY_MAX => {
                let remedy = format!("give at most {DELAY_MAX}, in each direction");
                Err(Problem::at(&key, format!("a delay of {delay} is out of range"), remedy))
            }
            delay => Ok(delay.map(|(delay, _)| delay.0).filter(|delay| *delay > 0)),
        }
    }

    fn rate(&self) -> Result<Option<u64>, Problem> {
        match self.pick_isolated("rate", |given| given.rate)? {
            Some((rate, key)) if rate.0 < RATE_BITS_PER_S_MIN => {
                let remedy = format!("give at least {}", BitsPerSecond(RATE_BITS_PER_S_MIN));
                Err(Problem::at(&key, format!("{rate} is too slow"), remedy))
            }
            rate => Ok(rate.map(|(rate, _)| rate.0)),
        }
    }

    fn loss(&self) -> Result<Option<f64>, Problem> {
        match self.pick_isolated("loss", |given| given.loss)? {
            Some((share, key)) if !(0.0..1.0).contains(&share) => {
                let cause = format!("a loss of {share} is out of range");
                Err(Problem::at(&key, cause, "give a share from 0 to less than 1, for example 0.01"))
            }
            loss => Ok(loss.map(|(share, _)| share).filter(|share| *share > 0.0)),
        }
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
