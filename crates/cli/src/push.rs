//! What runs came to, sent to where others keep it: a Pushgateway, a collector that takes OpenTelemetry's protocol, or a
//! store that takes Prometheus' remote write.

use crate::output;
use anyhow::{Context as _, Result, bail};
use export::{
    Feed, OTLP_TYPE, REMOTE_WRITE_ENCODING, REMOTE_WRITE_TYPE, REMOTE_WRITE_VERSION, TEXT_TYPE, families,
    otlp, otlp_refused, otlp_spans, remote_write, remote_write_native, text,
};
use plan::net::{HttpUrl, Scheme};
use probe::{Answer, Limits, ProbeError};
use std::cell::Cell;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};
use wire::{RequestHead, encode_request};

/// How long an exchange may take: every kind of receiver answers at once.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The same of the last values, where the exchange before them had no answer in time. Who waits for the end of a load is not
/// kept waiting for a receiver that hangs.
const TIMEOUT_LAST: Duration = Duration::from_secs(1);
/// Bytes of an answer; receivers say little.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// Spans of one request to a collector: some 300 kB.
const SPANS_MAX: usize = 1_000;
/// Most of a refusal that is shown.
const REFUSAL_CHARS_MAX: usize = 300;
/// Where Prometheus, VictoriaMetrics, Mimir's gateway and Thanos take remote write.
const REMOTE_WRITE_PATH: &str = "/api/v1/write";

/// Where values are sent.
pub(crate) struct Receiver {
    kind: Kind,
    url: HttpUrl,
    address: SocketAddr,
    /// Whether a store takes native histograms, as far as is known.
    takes_native: Cell<bool>,
    /// For the next exchange.
    timeout: Cell<Duration>,
    /// Whether the exchange before had no answer in time.
    hangs: Cell<bool>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Keeps the last values of each run.
    Pushgateway,
    /// Passes all values on.
    Collector,
    /// Keeps all values with their time.
    Store,
}

impl Receiver {
    /// A Pushgateway; resolves its URL, before anything is measured.
    ///
    /// # Errors
    /// It is none, speaks TLS, does not resolve, or is public without consent.
    pub(crate) fn pushgateway(url: &str, consent: &[String]) -> Result<Self> {
        Self::of(Kind::Pushgateway, url, consent)
    }

    /// A collector, by the URL before `/v1/metrics`.
    ///
    /// # Errors
    /// As [`Receiver::pushgateway`].
    pub(crate) fn collector(url: &str, consent: &[String]) -> Result<Self> {
        Self::of(Kind::Collector, url, consent)
    }

    /// A store that takes remote write, by its whole URL; without a path it is that of Prometheus.
    ///
    /// # Errors
    /// As [`Receiver::pushgateway`].
    pub(crate) fn store(url: &str, consent: &[String]) -> Result<Self> {
        let mut store = Self::of(Kind::Store, url, consent)?;
        if store.url.path.trim_end_matches('/').is_empty() {
            REMOTE_WRITE_PATH.clone_into(&mut store.url.path);
        }
        Ok(store)
    }

    fn of(kind: Kind, url: &str, consent: &[String]) -> Result<Self> {
        let remedy = "push to http://, through a tunnel where the way is not safe";
        let (url, address) = plain_http(url, consent, remedy)?;
        let (takes_native, timeout, hangs) = (Cell::new(true), Cell::new(TIMEOUT), Cell::new(false));
        Ok(Self { kind, url, address, takes_native, timeout, hangs })
    }

    /// From now on nothing but the last values is sent, for which somebody waits.
    pub(crate) fn hurry(&self) {
        if self.hangs.get() {
            self.timeout.set(TIMEOUT_LAST);
        }
    }

    /// Sends what a run, or the runs of a folder, came to so far.
    ///
    /// # Errors
    /// There is nothing to send, or it was not taken whole.
    pub(crate) fn push(&self, folder: &Path) -> Result<()> {
        self.send(&mut read(folder)?)
    }

    /// Sends what was read. A Pushgateway puts it in place of what it has of the same run; a collector gets each span once.
    ///
    /// # Errors
    /// As [`Receiver::push`].
    pub(crate) fn send(&self, feed: &mut Feed) -> Result<()> {
        match self.kind {
            Kind::Pushgateway => self.put(feed),
            Kind::Collector => self.post(feed).and_then(|()| self.post_spans(feed)),
            Kind::Store => self.write(feed),
        }
    }

    fn put(&self, feed: &Feed) -> Result<()> {
        let mut runs = feed.runs();
        let run = runs.next().unwrap_or_default();
        if let Some(other) = runs.next() {
            bail!(
                "{run} and {other} are both in progress\n  remedy: name the run folder that is to be pushed"
            );
        }
        let path = format!("/metrics/job/prony/run/{run}");
        self.exchange("PUT", &path, &[("Content-Type", TEXT_TYPE)], text(&families(feed)).as_bytes())
            .map(|_| ())
    }

    fn post(&self, feed: &Feed) -> Result<()> {
        let now_ns = u64::try_from(since_1970().as_nanos()).unwrap_or(u64::MAX);
        let body = otlp(&families(feed), now_ns);
        self.post_otlp("/v1/metrics", &body, "values")
    }

    /// The spans that wait. Those that are not taken wait on; those that are refused are not sent again.
    fn post_spans(&self, feed: &mut Feed) -> Result<()> {
        loop {
            let spans = feed.traces(SPANS_MAX);
            if spans.is_empty() {
                return Ok(());
            }
            self.post_otlp("/v1/traces", &otlp_spans(&spans), "spans")?;
            feed.traces_sent(spans.len());
        }
    }

    fn post_otlp(&self, path: &str, body: &[u8], what: &str) -> Result<()> {
        let answer = self.exchange("POST", path, &[("Content-Type", OTLP_TYPE)], body)?;
        if let Some((count, reason)) = otlp_refused(&answer.body) {
            bail!("{} refused {count} {what}: {}", self.name(), shown(reason.as_bytes()));
        }
        Ok(())
    }

    fn write(&self, feed: &Feed) -> Result<()> {
        let now_ms = i64::try_from(since_1970().as_millis()).unwrap_or(i64::MAX);
        let families = families(feed);
        let headers = [
            ("Content-Type", REMOTE_WRITE_TYPE),
            ("Content-Encoding", REMOTE_WRITE_ENCODING),
            ("X-Prometheus-Remote-Write-Version", REMOTE_WRITE_VERSION),
        ];
        self.exchange("POST", "", &headers, &remote_write(&families, now_ms))?;
        if let Some(body) = self.takes_native.get().then(|| remote_write_native(&families, now_ms)).flatten()
            && let Err(error) = self.exchange("POST", "", &headers, &body)
        {
            self.takes_native.set(false);
            output::say!("note: histograms are sent by their classic buckets alone: {error:#}");
        }
        Ok(())
    }

    fn exchange(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer> {
        let target = format!("{}{path}", self.url.path.trim_end_matches('/'));
        let own = headers.iter().chain(&[("Connection", "close")]);
        let headers: Vec<_> = own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let host = self.url.authority();
        let head = RequestHead { method, target: &target, host: &host, headers: &headers };
        let request = encode_request(&head, body)?;
        let limits = Limits { timeout: self.timeout.get(), body_bytes: ANSWER_BYTES_MAX };
        let answer = probe::exchange(self.address, &request, false, limits);
        self.hangs.set(matches!(answer, Err(ProbeError::TimedOut { .. })));
        let answer = answer.with_context(|| format!("{} did not take the values", self.name()))?;
        if !(200..300).contains(&answer.status) {
            bail!("{} refused the values (status {}): {}", self.name(), answer.status, shown(&answer.body));
        }
        Ok(answer)
    }

    pub(crate) fn name(&self) -> String {
        let kind = match self.kind {
            Kind::Pushgateway => "Pushgateway",
            Kind::Collector => "collector",
            Kind::Store => "store",
        };
        format!("the {kind} at {}", self.url.origin())
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// A URL without TLS and the address behind it; `remedy` is what to do where it has TLS.
///
/// # Errors
/// It is no URL, speaks TLS, does not resolve, or is public without consent.
pub(crate) fn plain_http(url: &str, consent: &[String], remedy: &str) -> Result<(HttpUrl, SocketAddr)> {
    let parsed = HttpUrl::parse(url)?;
    if parsed.scheme == Scheme::Https {
        bail!("`{url}` speaks TLS, which this does not\n  remedy: {remedy}");
    }
    let address = parsed.resolve(consent)?;
    Ok((parsed, address))
}

/// What is exported of a folder now.
///
/// # Errors
/// It has no run.
pub(crate) fn read(folder: &Path) -> Result<Feed> {
    let mut feed = Feed::with_traces(folder);
    feed.look();
    if feed.runs().next().is_none() {
        bail!(
            "there is no run in {}\n  remedy: name a run folder, or the folder of the runs",
            folder.display()
        );
    }
    Ok(feed)
}

/// The begin of what a receiver said, without what would move the cursor.
fn shown(reason: &[u8]) -> String {
    String::from_utf8_lossy(reason).chars().filter(|c| !c.is_control()).take(REFUSAL_CHARS_MAX).collect()
}
