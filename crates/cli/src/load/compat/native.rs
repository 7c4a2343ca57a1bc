//! Putting a native command line together, and the few things that several tools have in common.

use super::translation::Translation;
use anyhow::{Result, anyhow, bail};
use base64::Engine as _;
use units::Nanos;

// Options of prony that may stand beside another tool's: all long, so that they take no letter from it. No doc
// comment, which clap would take for what the whole command is about.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of prony")]
pub(super) struct Ours {
    /// What to print, as prony's own --format
    #[arg(long)]
    format: Option<String>,
    /// Write it to a file
    #[arg(long, value_name = "FILE")]
    output: Option<String>,
    /// One row an interval into a file
    #[arg(long, value_name = "FILE")]
    timeseries: Option<String>,
    /// Percentile distribution of HdrHistogram into a file
    #[arg(long, value_name = "FILE")]
    hgrm: Option<String>,
    /// Interval log of HdrHistogram into a file
    #[arg(long, value_name = "FILE")]
    hlog: Option<String>,
    /// One row a request into a file
    #[arg(long, value_name = "FILE")]
    each: Option<String>,
    /// When the load has failed, for example 'p99>50ms'; repeatable
    #[arg(long, value_name = "LIMIT")]
    fail: Vec<String>,
    /// Load this long before measuring
    #[arg(long, value_name = "TIME")]
    warmup: Option<String>,
    /// CPUs for the generator's threads
    #[arg(long, value_name = "CPUS")]
    pin: Option<String>,
    /// Allow load on this public host
    #[arg(long, value_name = "HOST")]
    consent: Vec<String>,
    /// One line a second instead of a live view
    #[arg(long)]
    no_tui: bool,
    /// No progress at all
    #[arg(long)]
    quiet: bool,
}

impl Ours {
    pub(super) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(super) const fn has_rows(&self) -> bool {
        self.each.is_some()
    }
}

// Files of TLS, as several tools name them. No doc comment, for the same reason.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Certificates {
    /// File with trusted certificates
    #[arg(long)]
    cacert: Option<String>,
    /// File with the client's certificate
    #[arg(long)]
    cert: Option<String>,
    /// File with the client's key
    #[arg(long)]
    key: Option<String>,
}

/// A native command line that is being put together.
#[derive(Debug)]
pub(super) struct Native {
    arguments: Vec<String>,
    notes: Vec<String>,
}

impl Native {
    pub(super) fn new(url: &str) -> Self {
        Self { arguments: vec![url.to_owned()], notes: Vec::new() }
    }

    /// An option with its value.
    pub(super) fn set(&mut self, option: &str, value: impl ToString) {
        self.arguments.extend([option.to_owned(), value.to_string()]);
    }

    /// An option with its value, where there is one.
    pub(super) fn set_some(&mut self, option: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.set(option, value);
        }
    }

    /// A word as it is.
    pub(super) fn argument(&mut self, word: &str) {
        self.arguments.push(word.to_owned());
    }

    /// An option without a value.
    pub(super) fn switch(&mut self, option: &str, on: bool) {
        if on {
            self.arguments.push(option.to_owned());
        }
    }

    pub(super) fn header(&mut self, name: &str, value: &str) {
        self.set("-H", format!("{name}: {value}"));
    }

    /// A header that the tool sends by itself unless the user gave one of that name.
    pub(super) fn default_header(&mut self, given: &[String], name: &str, value: &str) {
        let is_name =
            |text: &String| text.split(':').next().is_some_and(|n| n.trim().eq_ignore_ascii_case(name));
        if !given.iter().any(is_name) {
            self.header(name, value);
        }
    }

    pub(super) fn headers(&mut self, given: &[String]) {
        given.iter().for_each(|header| self.set("-H", header));
    }

    /// `user:password` as RFC 7617 says.
    pub(super) fn basic_auth(&mut self, pair: Option<&str>) {
        if let Some(pair) = pair {
            let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
            self.header("Authorization", &format!("Basic {encoded}"));
        }
    }

    /// A count of requests at a fixed rate: an open load ends by the clock, so it lasts as long as the count takes.
    pub(super) fn count_at_rate(&mut self, requests: u64, rate_per_s: f64) -> Result<()> {
        if !rate_per_s.is_finite() || rate_per_s <= 0.0 {
            bail!("a rate of {rate_per_s} per second sends nothing; give a rate above 0, or none");
        }
        self.set("-R", rate_per_s);
        self.set("-d", Nanos((requests as f64 / rate_per_s * 1e9).round() as u64));
        Ok(())
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// What the rate limits of closed-loop tools become.
    pub(super) fn note_open_loop(&mut self, tool: &str) {
        self.note(format!(
            "{tool} delays a request while its worker waits for an answer; prony sends at the rate whatever the \
             answers do, and counts that wait as response time"
        ));
    }

    pub(super) fn certificates(&mut self, files: &Certificates) {
        self.set_some("--cacert", files.cacert.as_ref());
        self.set_some("--cert", files.cert.as_ref());
        self.set_some("--key", files.key.as_ref());
    }

    pub(super) fn ours(&mut self, ours: &Ours) {
        self.set_some("--format", ours.format.as_ref());
        self.set_some("-o", ours.output.as_ref());
        self.set_some("--timeseries", ours.timeseries.as_ref());
        self.set_some("--hgrm", ours.hgrm.as_ref());
        self.set_some("--hlog", ours.hlog.as_ref());
        self.set_some("--each", ours.each.as_ref());
        ours.fail.iter().for_each(|limit| self.set("--fail", limit));
        self.set_some("--warmup", ours.warmup.as_ref());
        self.set_some("--pin", ours.pin.as_ref());
        ours.consent.iter().for_each(|host| self.set("--consent", host));
        self.switch("--no-tui", ours.no_tui);
        self.switch("--quiet", ours.quiet);
    }

    pub(super) fn finish(self) -> Translation {
        Translation { arguments: self.arguments, notes: self.notes }
    }
}

/// Seconds as a bare number, or Go's and humantime's `1m30s`.
pub(super) fn seconds_or_units(text: &str) -> Result<Nanos> {
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return nanos(text, seconds);
    }
    with_units(text)
}

/// `1m30s`, `500ms`: numbers with units, added up.
pub(super) fn with_units(text: &str) -> Result<Nanos> {
    let wrong = || anyhow!("`{text}` is no duration; write for example 30s or 1m30s");
    let mut sum = Nanos::ZERO;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let unit = rest.find(|c: char| c.is_alphabetic()).ok_or_else(wrong)?;
        let length = rest[unit..].find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len() - unit);
        let part: Nanos = rest[..unit + length].parse().map_err(|_| wrong())?;
        sum = Nanos(sum.0.saturating_add(part.0));
        rest = rest[unit + length..].trim_start();
    }
    if sum == Nanos::ZERO { Err(wrong()) } else { Ok(sum) }
}

/// Seconds; zero means without limit in most tools, which becomes an hour, the longest time that is distinguished.
pub(super) fn timeout(seconds: f64) -> Result<Nanos> {
    if seconds == 0.0 { Ok(Nanos::from_secs(3600)) } else { nanos(&seconds.to_string(), seconds) }
}

fn nanos(text: &str, seconds: f64) -> Result<Nanos> {
    if !(0.0..=1e9).contains(&seconds) {
        bail!("`{text}` is no number of seconds");
    }
    Ok(Nanos((seconds * 1e9).round() as u64))
}
