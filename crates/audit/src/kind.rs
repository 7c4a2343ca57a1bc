//! What a column may be, with its name on command lines.

use crate::unit::Dimension;
use schema::audit::Meaning;

/// What the figures of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Label,
    Connections,
    Pipeline,
    Threads,
    Cores,
    Throughput,
    Offered,
    Mean,
    /// Its share in millionths.
    Quantile(u32),
    Min,
    Max,
    StdDev,
    Cpu,
    GeneratorCpu,
    Errors,
    ErrorShare,
    SuccessShare,
    Requests,
    Duration,
    Think,
    Time,
    Repeat,
    Ignored,
}

const NAMED: [(&str, Kind); 22] = [
    ("label", Kind::Label),
    ("connections", Kind::Connections),
    ("pipeline", Kind::Pipeline),
    ("threads", Kind::Threads),
    ("cores", Kind::Cores),
    ("throughput", Kind::Throughput),
    ("offered", Kind::Offered),
    ("mean", Kind::Mean),
    ("min", Kind::Min),
    ("max", Kind::Max),
    ("stddev", Kind::StdDev),
    ("cpu", Kind::Cpu),
    ("generator-cpu", Kind::GeneratorCpu),
    ("errors", Kind::Errors),
    ("error-share", Kind::ErrorShare),
    ("success-share", Kind::SuccessShare),
    ("requests", Kind::Requests),
    ("duration", Kind::Duration),
    ("think", Kind::Think),
    ("time", Kind::Time),
    ("repeat", Kind::Repeat),
    ("ignore", Kind::Ignored),
];

impl Kind {
    /// The kind of that name: one of [`Kind::names`], or a percentile such as `p99.9`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some((_, kind)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Some(*kind);
        }
        let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
        Self::percentile(percent)
    }

    /// The names, with `p99` for all percentiles.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name).chain(["p99"])
    }

    /// The kind of a percentile; 0 and 100 are the ends.
    pub(crate) fn percentile(percent: f64) -> Option<Self> {
        match percent {
            100.0 => Some(Self::Max),
            0.0 => Some(Self::Min),
            // Millionths of a share hold every percentile that is printed.
            percent if percent > 0.0 && percent < 100.0 => {
                let millionths = (percent * 1e4).round() as u32;
                (1..1_000_000).contains(&millionths).then_some(Self::Quantile(millionths))
            }
            _ => None,
        }
    }

    /// Its name on command lines.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Quantile(millionths) => format!("p{}", f64::from(millionths) / 1e4),
            kind => {
                NAMED.iter().find(|(_, known)| *known == kind).map_or("ignore", |(name, _)| name).to_owned()
            }
        }
    }

    /// The share of a quantile.
    pub(crate) fn share(self) -> Option<f64> {
        match self {
            Self::Quantile(millionths) => Some(f64::from(millionths) / 1e6),
            _ => None,
        }
    }

    /// What it measures; nothing for texts and what is not used.
    pub(crate) const fn dimension(self) -> Option<Dimension> {
        Some(match self {
            Self::Label | Self::Ignored => return None,
            Self::Throughput | Self::Offered => Dimension::Rate,
            Self::Mean | Self::Quantile(_) | Self::Min | Self::Max | Self::StdDev => Dimension::Time,
            Self::Duration | Self::Think | Self::Time => Dimension::Time,
            Self::ErrorShare | Self::SuccessShare => Dimension::Share,
            Self::Cpu | Self::GeneratorCpu => Dimension::Cpu,
            Self::Connections | Self::Pipeline | Self::Threads | Self::Cores => Dimension::Count,
            Self::Errors | Self::Requests | Self::Repeat => Dimension::Count,
        })
    }

    /// Whether it was chosen, not measured, so that its figures are what they say.
    pub(crate) const fn is_setting(self) -> bool {
        matches!(
            self,
            Self::Connections
                | Self::Pipeline
                | Self::Threads
                | Self::Cores
                | Self::Offered
                | Self::Time
                | Self::Repeat
        )
    }

    /// Whether it is a latency.
    pub(crate) const fn is_latency(self) -> bool {
        matches!(self, Self::Mean | Self::Quantile(_) | Self::Min | Self::Max | Self::StdDev)
    }

    pub(crate) const fn meaning(self) -> Meaning {
        match self {
            Self::Label => Meaning::Label,
            Self::Connections => Meaning::Connections,
            Self::Pipeline => Meaning::Pipeline,
            Self::Threads => Meaning::Threads,
            Self::Cores => Meaning::Cores,
            Self::Throughput => Meaning::Throughput,
            Self::Offered => Meaning::Offered,
            Self::Mean => Meaning::Mean,
            Self::Quantile(_) => Meaning::Quantile,
            Self::Min => Meaning::Min,
            Self::Max => Meaning::Max,
            Self::StdDev => Meaning::StdDev,
            Self::Cpu => Meaning::Cpu,
            Self::GeneratorCpu => Meaning::GeneratorCpu,
            Self::Errors => Meaning::Errors,
            Self::ErrorShare => Meaning::ErrorShare,
            Self::SuccessShare => Meaning::SuccessShare,
            Self::Requests => Meaning::Requests,
            Self::Duration => Meaning::Duration,
            Self::Think => Meaning::Think,
            Self::Time => Meaning::Time,
            Self::Repeat => Meaning::Repeat,
            Self::Ignored => Meaning::Ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kinds() {
        for (name, kind) in NAMED {
            assert_eq!(Kind::named(name), Some(kind));
            assert_eq!(kind.name(), name);
        }
        assert_eq!(Kind::named("p99.9"), Some(Kind::Quantile(999_000)));
        assert_eq!(Kind::Quantile(999_000).name(), "p99.9");
        assert_eq!(Kind::named("p100"), Some(Kind::Max));
        for name in ["p", "p-5", "p101", "pNaN", "throughput ", "p1e-9"] {
            assert_eq!(Kind::named(name), None, "{name}");
        }
    }
}
