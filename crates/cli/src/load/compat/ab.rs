//! ApacheBench. It closes the connection after each request unless `-k` is given, runs one thread, and `-t` implies
//! at most 50,000 requests unless a later `-n` says otherwise.

use super::native::{Native, Ours, timeout};
use anyhow::{Result, bail};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use units::Count;

/// What `-t` implies.
const REQUESTS_OF_TIME_LIMIT: u64 = 50_000;

/// Flags of ab, with the order of `-n` and `-t`.
#[derive(Debug)]
pub(super) struct Ab {
    flags: Flags,
    limit_after_count: bool,
}

#[derive(Debug, clap::Parser)]
struct Flags {
    /// Requests in total
    #[arg(short, default_value = "1")]
    n: Count,
    /// Requests at a time: connections
    #[arg(short, default_value = "1")]
    c: Count,
    /// Longest time in seconds; implies -n 50000
    #[arg(short)]
    t: Option<f64>,
    /// Time-out of a request in seconds
    #[arg(short, default_value = "30")]
    s: f64,
    /// Local address
    #[arg(short = 'B')]
    local: Option<String>,
    /// File to POST
    #[arg(short, conflicts_with = "u")]
    p: Option<String>,
    /// File to PUT
    #[arg(short)]
    u: Option<String>,
    /// Content type of the file
    #[arg(short = 'T', default_value = "text/plain")]
    content_type: String,
    /// HEAD instead of GET
    #[arg(short)]
    i: bool,
    /// Cookie, repeatable
    #[arg(short = 'C')]
    cookies: Vec<String>,
    /// Header, repeatable
    #[arg(short = 'H')]
    headers: Vec<String>,
    /// Basic authentication, user:password
    #[arg(short = 'A')]
    auth: Option<String>,
    /// Keep connections alive
    #[arg(short)]
    k: bool,
    /// Method
    #[arg(short)]
    m: Option<String>,
    /// Accept bodies of any length, as prony does
    #[arg(short)]
    l: bool,
    /// Go on after socket errors, as prony does
    #[arg(short)]
    r: bool,
    /// No progress messages
    #[arg(short)]
    q: bool,
    /// No table of percentiles: without effect here
    #[arg(short)]
    d: bool,
    /// No confidence estimates: without effect here
    #[arg(short = 'S')]
    no_confidence: bool,
    /// Results as HTML
    #[arg(short)]
    w: bool,
    #[command(flatten)]
    ours: Ours,
    /// Where to
    url: String,
}

impl CommandFactory for Ab {
    fn command() -> clap::Command {
        Flags::command()
    }

    fn command_for_update() -> clap::Command {
        Flags::command_for_update()
    }
}

impl FromArgMatches for Ab {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let place = |flag: &str| {
            let given = matches.value_source(flag) == Some(clap::parser::ValueSource::CommandLine);
            matches.index_of(flag).filter(|_| given)
        };
        let limit_after_count = place("t").is_some() && place("t") > place("n");
        Ok(Self { flags: Flags::from_arg_matches(matches)?, limit_after_count })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(super) fn translate(ab: Ab) -> Result<Native> {
    let flags = &ab.flags;
    let mut native = Native::new(&flags.url);
    let requests = if ab.limit_after_count { REQUESTS_OF_TIME_LIMIT } else { flags.n.0 };
    if flags.c.0 > requests {
        bail!("ab takes no more connections (-c {}) than requests (-n {requests})", flags.c);
    }
    native.set("-c", flags.c);
    native.set("-t", 1);
    native.set("-n", requests);
    native.set_some("-d", flags.t.map(timeout).transpose()?);
    request(&mut native, flags);
    native.set("--timeout", timeout(flags.s)?);
    native.set_some("--source", flags.local.as_ref());
    native.switch("--disable-keepalive", !flags.k);
    if flags.w {
        native.set("--format", "html");
    }
    native.switch("--quiet", flags.q && !flags.ours.is_quiet());
    native.note("ab speaks HTTP/1.0, prony HTTP/1.1");
    native.ours(&flags.ours);
    Ok(native)
}

fn request(native: &mut Native, flags: &Flags) {
    let (method, file) = match (&flags.p, &flags.u) {
        (Some(file), _) => (Some("POST"), Some(file)),
        (None, Some(file)) => (Some("PUT"), Some(file)),
        (None, None) => (flags.i.then_some("HEAD"), None),
    };
    native.set_some("-m", flags.m.as_deref().or(method));
    native.headers(&flags.headers);
    native.default_header(&flags.headers, "Accept", "*/*");
    if !flags.cookies.is_empty() {
        native.header("Cookie", &flags.cookies.join("; "));
    }
    native.basic_auth(flags.auth.as_deref());
    if let Some(file) = file {
        native.default_header(&flags.headers, "Content-Type", &flags.content_type);
        native.set("-b", format!("@{file}"));
    }
}
