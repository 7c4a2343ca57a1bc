//! Arguments of `prony replay`.

use super::model::LogFormat;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony replay access.log --url http://127.0.0.1:8080
  prony replay access.log --url http://127.0.0.1:8080 --speed 2x
  prony replay access.log.1.gz access.log --url http://127.0.0.1:8080 -- -c 200 --fail 'p99>50ms'
  prony replay access.log --url http://127.0.0.1:8080 --fleet 2
  prony replay bodies.json --url http://127.0.0.1:8080 --writes  POST and others, too

GET and HEAD requests are sent at their recorded times; --writes adds the other methods. Exit codes are those of `prony load`.")]
pub(crate) struct ReplayArgs {
    /// Access logs, plain or gzipped, in any order
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Server to load: scheme, host and port
    #[arg(long)]
    pub(crate) url: String,
    /// How much faster than recorded, for example 2x or 0.5x
    #[arg(long, default_value = "1x", value_parser = speed)]
    pub(crate) speed: f64,
    /// Send all methods, not GET and HEAD alone: they may change what the server holds. POST, PUT and PATCH need their
    /// bodies in a JSON log (`request_body`)
    #[arg(long)]
    pub(crate) writes: bool,
    /// How the lines are written
    #[arg(long, value_enum, default_value_t = LogFormat::Auto)]
    pub(crate) format: LogFormat,
    /// Seed of the moments within a second, where the log knows no finer times
    #[arg(long, default_value_t = plan::defaults::SEED)]
    pub(crate) seed: u64,
    /// Share the replay among agents: how many on this host, or a file that names them (see `prony fleet --help`)
    #[arg(long, value_name = "N|FILE")]
    pub(crate) fleet: Option<String>,
    /// Options of `prony load`, after --
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) load: Vec<String>,
}

/// A factor above 0, with or without an `x` behind it.
fn speed(text: &str) -> Result<f64, String> {
    let factor: Option<f64> = text.trim().trim_end_matches(['x', 'X', '×']).parse().ok();
    factor
        .filter(|factor| factor.is_finite() && (0.000_1..=10_000.0).contains(factor))
        .ok_or_else(|| "this is no speed; give a factor from 0.0001x to 10000x, for example 2x".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_factors() {
        assert_eq!(speed("2x"), Ok(2.0));
        assert_eq!(speed("0.5"), Ok(0.5));
        for wrong in ["", "x", "0x", "-1x", "infx", "nan", "1e9x", "2xy"] {
            assert!(speed(wrong).is_err(), "{wrong}");
        }
    }
}
