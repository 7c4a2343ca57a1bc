//! `prony metrics`: what runs came to so far, for Prometheus, Pushgateway and Grafana.

use crate::args::MetricsArgs;
use crate::{exit, output};
use anyhow::{Context as _, Result, bail};
use export::{Feed, TEXT_TYPE, families, run_dashboard, text};
use plan::net::{HttpUrl, Scheme};
use probe::Limits;
use serve::{Options, Server};
use std::path::Path;
use std::time::Duration;
use wire::{RequestHead, encode_request};

/// Bounds of a push: a Pushgateway answers at once.
const PUSH_LIMITS: Limits = Limits { timeout: Duration::from_secs(10), body_bytes: 64 << 10 };
/// Most of a refusal that is shown.
const REFUSAL_CHARS_MAX: usize = 300;

pub(crate) fn metrics(args: &MetricsArgs) -> Result<u8> {
    if args.dashboard {
        output::write(None, &schema::json::pretty(&run_dashboard())?)?;
        return Ok(exit::DONE);
    }
    if !args.folder.is_dir() {
        bail!(
            "there is no folder {}\n  remedy: name the folder of the runs, as in `prony metrics runs`",
            args.folder.display()
        );
    }
    if let Some(url) = &args.push {
        let place = Pushgateway::of(url, &args.consent)?;
        return Ok(match place.push(&args.folder) {
            Ok(()) => exit::DONE,
            Err(error) => {
                output::say!("prony: {error:#}");
                exit::FAILED
            }
        });
    }
    match args.listen {
        Some(listen) => answer(args, listen),
        None => {
            output::write(None, &text(&families(&read(&args.folder)?)))?;
            Ok(exit::DONE)
        }
    }
}

/// What is exported of a folder now.
fn read(folder: &Path) -> Result<Feed> {
    let mut feed = Feed::new(folder);
    feed.look();
    if feed.runs().next().is_none() {
        bail!(
            "there is no run in {}\n  remedy: name a run folder, or the folder of the runs",
            folder.display()
        );
    }
    Ok(feed)
}

fn answer(args: &MetricsArgs, listen: std::net::SocketAddr) -> Result<u8> {
    if args.with_parent {
        // Where the parent is gone already the first line finds no reader.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    }
    let server = Server::bind(Options {
        runs: args.folder.clone(),
        experiments: None,
        listen,
        token: args.token_file.as_deref().map(serve::read_token).transpose()?,
        names: args.names.clone(),
        launcher: std::env::current_exe().context("cannot find prony's own binary")?,
        assets: &[],
        is_quiet: true,
        only_metrics: true,
    })?;
    output::write(None, &format!("metrics: http://{}/metrics\n", server.addr()))?;
    server.run_until_interrupted()?;
    Ok(exit::DONE)
}

/// Where final values are put.
pub(crate) struct Pushgateway {
    url: HttpUrl,
    address: std::net::SocketAddr,
}

impl Pushgateway {
    /// Resolves a URL, before anything is measured.
    ///
    /// # Errors
    /// It is none, speaks TLS, does not resolve, or is public without consent.
    pub(crate) fn of(url: &str, consent: &[String]) -> Result<Self> {
        let parsed = HttpUrl::parse(url)?;
        if parsed.scheme == Scheme::Https {
            bail!(
                "`{url}` speaks TLS, which a push does not\n  remedy: push to http://, through a tunnel where the way is not safe"
            );
        }
        let address = parsed.resolve(consent)?;
        Ok(Self { url: parsed, address })
    }

    /// Puts what a run came to in place of what the Pushgateway has of the same run.
    ///
    /// # Errors
    /// There is nothing to tell, or the answer is no success.
    pub(crate) fn push(&self, folder: &Path) -> Result<()> {
        let feed = read(folder)?;
        let mut runs = feed.runs();
        let run = runs.next().unwrap_or_default();
        if let Some(other) = runs.next() {
            bail!(
                "{run} and {other} are both in progress\n  remedy: name the run folder that is to be pushed"
            );
        }
        let body = text(&families(&feed));
        let target = format!("{}/metrics/job/prony/run/{run}", self.url.path.trim_end_matches('/'));
        let headers = [("Content-Type", TEXT_TYPE), ("Connection", "close")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let host = self.url.authority();
        let head = RequestHead { method: "PUT", target: &target, host: &host, headers: &headers };
        let request = encode_request(&head, body.as_bytes())?;
        let answer = probe::exchange(self.address, &request, false, PUSH_LIMITS)
            .with_context(|| format!("the Pushgateway at {} did not take the values", self.url.origin()))?;
        if !(200..300).contains(&answer.status) {
            let reason = String::from_utf8_lossy(&answer.body);
            let reason: String = reason.chars().filter(|c| !c.is_control()).take(REFUSAL_CHARS_MAX).collect();
            bail!(
                "the Pushgateway at {} refused the values (status {}): {reason}",
                self.url.origin(),
                answer.status
            );
        }
        Ok(())
    }
}
