//! `prony verify-monitoring`: shows a Prometheus what is known, asks it back, and says what is wrong with the chain.
//!
//! Invariants: every wait has an end; what is judged is what the server stored, by its own time stamps; an interrupted
//! check judges what there is until then.

use crate::args::{TextOrJson, VerifyMonitoringArgs};
use crate::interrupt::{stop_flag, wait_until};
use crate::push::plain_http;
use crate::{exit, output};
use anyhow::{Context as _, Result, bail};
use export::{Chain, Evidence, QUANTILE, Stored};
use plan::net::HttpUrl;
use probe::Limits;
use schema::monitoring::{MonitoringFault, MonitoringFaultKind, MonitoringFile};
use serde_json::Value;
use serve::MetricsPage;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use units::format::sentence;

/// Of one question to the server.
const LIMITS: Limits = Limits { timeout: Duration::from_secs(10), body_bytes: 64 << 20 };
/// For the last scrape to be stored.
const STORE_WAIT: Duration = Duration::from_secs(10);
/// Fewest stored scrapes between which a rate is asked for.
const RATE_LEAST: usize = 4;

pub(crate) fn verify(args: &VerifyMonitoringArgs) -> Result<u8> {
    let stop = stop_flag()?;
    let server = Prometheus::of(&args.url, &args.consent)?;
    server.ask("/api/v1/query?query=1").context("the Prometheus was not asked anything else")?;
    let shown = Shown::begin(args.listen)?;
    let addr = shown.page.addr();
    output::say!("shown at http://{addr}/metrics; waiting for the first scrape");
    if !shown.waits_for_first(length(args.wait.0), &stop) {
        if stop.load(Ordering::Relaxed) {
            return Ok(exit::INTERRUPTED);
        }
        output::say_text(&never_scraped(&server, addr, args));
        return Ok(exit::FAILED);
    }
    output::say!("scraped; {} to go", sentence::duration(args.length.0 as f64));
    wait_until(Instant::now() + length(args.length.0), &stop, || false);
    let evidence = server.evidence(&shown, args, &stop)?;
    let file = shown.chain.judged(&server.url.origin(), &evidence);
    let text = match args.format {
        TextOrJson::Json => schema::json::pretty(&file)?,
        TextOrJson::Text => text(&file),
    };
    output::write(None, &text)?;
    Ok(match (stop.load(Ordering::Relaxed), file.faults.is_empty()) {
        (true, _) => exit::INTERRUPTED,
        (false, true) => exit::DONE,
        (false, false) => exit::CLAIM,
    })
}

fn length(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// The page that is scraped, and when it was.
struct Shown {
    chain: Chain,
    page: MetricsPage,
    answered_s: Arc<Mutex<Vec<f64>>>,
}

impl Shown {
    fn begin(listen: SocketAddr) -> Result<Self> {
        if !listen.ip().is_loopback() {
            bail!(
                "{listen} is no loopback address, and the page asks for no token\n  remedy: run this on the host of the Prometheus"
            );
        }
        let began_s = now_s();
        let chain = Chain { id: format!("{}-{:.0}", std::process::id(), began_s * 1e3), began_s };
        let answered_s = Arc::new(Mutex::new(Vec::new()));
        let (made, times) = (chain.clone(), Arc::clone(&answered_s));
        let page = MetricsPage::begin(listen, move || {
            let now_s = now_s();
            if let Ok(mut times) = times.lock() {
                times.push(now_s);
            }
            made.families(now_s)
        })?;
        Ok(Self { chain, page, answered_s })
    }

    fn answered_s(&self) -> Vec<f64> {
        self.answered_s.lock().map(|times| times.clone()).unwrap_or_default()
    }

    fn waits_for_first(&self, limit: Duration, stop: &AtomicBool) -> bool {
        wait_until(Instant::now() + limit, stop, || !self.answered_s().is_empty())
    }
}

/// The server that is asked.
struct Prometheus {
    url: HttpUrl,
    address: SocketAddr,
}

impl Prometheus {
    fn of(url: &str, consent: &[String]) -> Result<Self> {
        let (url, address) = plain_http(url, consent, "run this on the host of the Prometheus")?;
        Ok(Self { url, address })
    }

    /// The `data` of an answer.
    fn ask(&self, path: &str) -> Result<Value> {
        let target = format!("{}{path}", self.url.path.trim_end_matches('/'));
        let name = || format!("the Prometheus at {} did not answer {target}", self.url.origin());
        let body =
            probe::get_over(self.address, None, &self.url.authority(), &target, LIMITS).with_context(name)?;
        let answer: Value = serde_json::from_slice(&body)
            .with_context(|| format!("{} is no Prometheus: its answer is no JSON", self.url.origin()))?;
        if answer["status"] != "success" {
            bail!("{}: {}", name(), answer["error"].as_str().unwrap_or("it gave no reason"));
        }
        Ok(answer["data"].clone())
    }

    fn query(&self, query: &str, at_s: f64) -> Result<Value> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        Ok(self.ask(&format!("/api/v1/query?query={query}&time={at_s:.3}"))?["result"].clone())
    }

    /// One number; absent where the server has none.
    fn number(&self, query: &str, at_s: f64) -> Result<Option<f64>> {
        let rows = self.query(query, at_s)?;
        Ok(rows[0]["value"][1].as_str().and_then(|text| text.parse().ok()))
    }

    /// All values of a series over the whole check, with their time stamps in seconds.
    fn series(&self, name: &str, shown: &Shown) -> Result<Vec<(f64, f64)>> {
        let now_s = now_s();
        let span_s = (now_s - shown.chain.began_s).ceil() as u64 + 1;
        let rows = self.query(&format!("{name}{{chain=\"{}\"}}[{span_s}s]", shown.chain.id), now_s)?;
        let rows = rows.as_array().cloned().unwrap_or_default();
        if rows.len() > 1 {
            bail!(
                "{} jobs scrape {}\n  remedy: leave one of them in the configuration of the Prometheus",
                rows.len(),
                shown.page.addr()
            );
        }
        let values = rows.first().and_then(|row| row["values"].as_array().cloned()).unwrap_or_default();
        Ok(values
            .iter()
            .filter_map(|pair| Some((pair[0].as_f64()?, pair[1].as_str()?.parse().ok()?)))
            .collect())
    }

    fn stored(&self, shown: &Shown) -> Result<Vec<Stored>> {
        let clocks = self.series("prony_chain_clock_seconds", shown)?;
        let ramps = self.series("prony_chain_ramp_total", shown)?;
        let ramp_at = |at_s: f64| ramps.iter().find(|(at, _)| *at == at_s).map(|(_, ramp)| *ramp);
        let stored = |(at_s, clock_s)| Some(Stored { at_s, clock_s, ramp: ramp_at(at_s)? });
        Ok(clocks.into_iter().filter_map(stored).collect())
    }

    fn evidence(&self, shown: &Shown, args: &VerifyMonitoringArgs, stop: &AtomicBool) -> Result<Evidence> {
        // What comes from here on may not be stored when it is asked for.
        let answered_s = shown.answered_s();
        let last = answered_s.last().copied();
        let mut stored = Vec::new();
        let mut failed = None;
        wait_until(Instant::now() + STORE_WAIT, stop, || match self.stored(shown) {
            Ok(found) => {
                stored = found;
                stored.last().map(|one| one.clock_s) >= last
            }
            Err(error) => {
                failed = Some(error);
                true
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        stored.retain(|one| Some(one.clock_s) <= last);
        let (rate_per_s, quantile_s) = self.computed(shown, &stored)?;
        let wanted_interval_s = match args.interval {
            Some(interval) => Some(interval.0 as f64 / 1e9),
            None => self.interval_of_job(shown.page.addr())?,
        };
        Ok(Evidence { stored, answered_s, wanted_interval_s, rate_per_s, quantile_s })
    }

    /// Its rate of the counter over what is stored, and its quantile of the histogram where it keeps native ones.
    fn computed(&self, shown: &Shown, stored: &[Stored]) -> Result<(Option<f64>, Option<f64>)> {
        let (Some(first), Some(last)) = (stored.first(), stored.last()) else { return Ok((None, None)) };
        let id = &shown.chain.id;
        let span_ms = ((last.at_s - first.at_s) * 1e3).round() as u64 + 1;
        let rate = match stored.len() >= RATE_LEAST {
            true => self
                .number(&format!("rate(prony_chain_ramp_total{{chain=\"{id}\"}}[{span_ms}ms])"), last.at_s)?,
            false => None,
        };
        let of = |function: &str| format!("{function}prony_chain_spread_seconds{{chain=\"{id}\"}})");
        let is_native = self.number(&of("histogram_count("), last.at_s)?.is_some();
        let quantile = match is_native {
            true => self.number(&of(&format!("histogram_quantile({QUANTILE}, ")), last.at_s)?,
            false => None,
        };
        Ok((rate, quantile))
    }

    /// What the server says of the job that scrapes an address.
    fn interval_of_job(&self, addr: SocketAddr) -> Result<Option<f64>> {
        let targets = self.ask("/api/v1/targets?state=active")?;
        let ours = format!("http://{addr}/");
        let job = targets["activeTargets"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|target| target["scrapeUrl"].as_str().is_some_and(|url| url.starts_with(&ours)));
        let text = job.and_then(|job| job["scrapeInterval"].as_str());
        Ok(text.and_then(|text| text.parse::<units::Nanos>().ok()).map(|interval| interval.0 as f64 / 1e9))
    }
}

fn never_scraped(server: &Prometheus, addr: SocketAddr, args: &VerifyMonitoringArgs) -> String {
    format!(
        "{} did not scrape http://{addr}/metrics within {}\n  remedy: give it this job, and begin again\n\n\
         scrape_configs:\n  - job_name: prony-chain\n    scrape_interval: 1s\n    static_configs:\n      - targets: ['{addr}']\n",
        server.url.origin(),
        sentence::duration(args.wait.0 as f64)
    )
}

fn text(file: &MonitoringFile) -> String {
    let none = || "-".to_owned();
    let seconds = |value: Option<f64>| value.map_or_else(none, |value| sentence::duration(value * 1e9));
    let share = |value: Option<f64>| value.map_or_else(none, |value| format!("{:+.3} %", value * 100.0));
    let mut text = format!(
        "{}\n  scrapes answered      {}\n  of these stored       {}\n  interval              {} (wanted {})\n  \
         delay, p99            {}\n  rate of a counter     {}\n  p99 of a histogram    {}\n",
        file.server,
        file.answered,
        file.stored,
        seconds(file.interval_s),
        seconds(file.wanted_interval_s),
        seconds(file.delay_p99_s),
        share(file.rate_off),
        match file.quantile_off {
            None => "not judged: the server keeps no native histograms".to_owned(),
            off => share(off),
        },
    );
    if file.faults.is_empty() {
        text += "nothing is wrong with this chain\n";
    }
    for fault in &file.faults {
        text += &format!("WRONG   {}\n", in_words(fault));
    }
    text
}

/// A fault with its cause and remedy.
fn in_words(fault: &MonitoringFault) -> String {
    use MonitoringFaultKind::{Clocks, Counter, Delay, Interval, LostScrapes, Quantile, Rate, Reset};
    let (found, limit) = (fault.found, fault.limit);
    let time = |seconds: f64| sentence::duration(seconds * 1e9);
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    match fault.kind {
        LostScrapes => format!(
            "{found:.0} scrapes are lost: look for time-outs and restarts in the server's log, and at `up` and \
             `scrape_duration_seconds`"
        ),
        Delay => format!(
            "values are true {} later than their time stamps ({} allowed): something between the server and what it scrapes \
             holds requests up",
            time(found),
            time(limit)
        ),
        Clocks => format!(
            "values are true {} before their time stamps: the clocks of the two hosts differ, so run this on the host of the \
             Prometheus",
            time(found)
        ),
        Reset => {
            format!("a counter that only rises fell {found:.0} times: something rewrites or mixes series")
        }
        Counter => format!(
            "stored values are {} off what was shown ({} allowed): something rewrites them",
            percent(found),
            percent(limit)
        ),
        Interval => format!(
            "scrapes are {} apart where {} were wanted, or the other way round: look at scrape_interval",
            time(found),
            time(limit)
        ),
        Rate => format!(
            "the server's rate of an even counter is {} off ({} allowed)",
            percent(found),
            percent(limit)
        ),
        Quantile => {
            format!("the server's p99 of known times is {} off ({} allowed)", percent(found), percent(limit))
        }
    }
}
