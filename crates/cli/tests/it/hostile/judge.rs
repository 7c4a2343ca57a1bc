//! Prony's counts against the server's own.
//!
//! The rules say what is defined. A request that prony had in flight at the end is censored, whatever the server did
//! with it: of such there are as many as `censored` says. Behind a connection that died in a pipeline, requests are
//! lost with `premature_close`, `reset` or the class of the fault; how many is not defined, that each is counted is.

use super::case::{Case, Keeping, Kind, Load};
use super::fault::{Fate, Site, When};
use super::server::Seen;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// All differences, in words; none where prony counts what the server counted.
pub(super) fn differences(case: &Case, report: &Value, seen: &Seen, code: Option<i32>) -> Vec<String> {
    let mut judge = Judge { case, counts: Counts::of(report), seen, found: seen.wrong.clone() };
    judge.balance(report);
    judge.exit(report, code);
    if case.fault.site == Site::Serving {
        judge.requests();
        judge.failures();
        judge.moved(report);
    } else {
        judge.equal("failed by the class of the fault", judge.of_class(), judge.counts.failed);
        judge.equal("completed", judge.counts.completed, 0);
    }
    judge.found
}

#[derive(Debug)]
struct Counts {
    scheduled: u64,
    completed: u64,
    failed: u64,
    censored: u64,
    errors: BTreeMap<String, u64>,
    status: BTreeMap<u16, u64>,
    /// Redirects that were followed.
    redirects: u64,
}

impl Counts {
    fn of(report: &Value) -> Self {
        let count = |key: &str| report["requests"][key].as_u64().expect("the schema demands it");
        let map = |key: &str| serde_json::from_value(report[key].clone()).expect("a map of counts");
        let (scheduled, completed) = (count("scheduled"), count("completed"));
        let (failed, censored) = (count("failed"), count("censored"));
        let status: BTreeMap<String, u64> =
            serde_json::from_value(report["status"].clone()).expect("a map of counts");
        let status = status.into_iter().map(|(code, n)| (code.parse().expect("a status code"), n)).collect();
        let redirects = report.get("redirects").map_or_else(BTreeMap::new, |_| map("redirects"));
        let redirects = redirects.values().sum();
        Self { scheduled, completed, failed, censored, errors: map("errors"), status, redirects }
    }
}

struct Judge<'a> {
    case: &'a Case,
    counts: Counts,
    seen: &'a Seen,
    found: Vec<String>,
}

impl Judge<'_> {
    fn equal<T: PartialEq + Debug>(&mut self, what: &str, prony: T, server: T) {
        if prony != server {
            self.found.push(format!("{what}: prony {prony:?}, server {server:?}"));
        }
    }

    /// The server counted as much as prony, or more by at most so many.
    fn within(&mut self, what: &str, prony: u64, server: u64, surplus: u64) {
        if !(prony..=prony + surplus).contains(&server) {
            self.found.push(format!("{what}: prony {prony}, server {server}, at most {surplus} more"));
        }
    }

    fn demand(&mut self, what: &str, holds: bool) {
        if !holds {
            self.found.push(format!("{what}: {:?}; server {:?}", self.counts, self.seen));
        }
    }

    fn is_alone(&self) -> bool {
        self.case.pipeline == 1 && self.case.kind != Kind::Batch
    }

    fn of_class(&self) -> u64 {
        let classes = self.case.fault.classes.iter();
        classes.map(|class| self.counts.errors.get(*class).copied().unwrap_or(0)).sum()
    }

    /// What holds of every load, whatever its server does.
    fn balance(&mut self, report: &Value) {
        let Counts { scheduled, completed, failed, censored, .. } = self.counts;
        self.equal("scheduled = completed + failed + censored", scheduled, completed + failed + censored);
        self.equal("sum of errors", self.counts.errors.values().sum(), failed);
        // A server that resets what it accepts may do so before the kernel says that a connection is there. Where that
        // happened to all of them the load never began, and each attempt is a request that failed.
        let never_began = report["connections"]["established"] == 0;
        if self.case.load == Load::Count
            && self.case.fault.site != Site::Refused
            && self.case.fault.site != Site::Full
        {
            self.equal("censored of a budget", censored, 0);
            if never_began {
                let attempts = report["connections"]["asked"].as_u64().unwrap_or(u64::MAX);
                self.equal("attempts of a load that never began", scheduled, attempts);
                self.equal("attempts that failed by the fault", self.of_class(), attempts);
            } else if self.case.kind.is_single() {
                self.equal("the budget", scheduled, self.case.size().0);
            }
        }
        if self.case.kind.has_sessions() && !never_began {
            let count = |key: &str| report["sessions"][key].as_u64().unwrap_or(u64::MAX);
            let ended = count("completed").saturating_add(count("failed")).saturating_add(count("censored"));
            self.equal("sessions started = completed + failed + censored", count("started"), ended);
            if self.case.load == Load::Count {
                self.equal("the budget of sessions", count("started"), self.case.size().0);
            }
        }
    }

    /// 2 without a right answer, from 10 % of failures on, where p90 lies among them, and where the host was too busy.
    fn exit(&mut self, report: &Value, code: Option<i32>) {
        let Counts { completed, failed, .. } = self.counts;
        let misleads = completed == 0 || failed * 10 >= completed + failed;
        let is_void = report["validity"]["ok"] == false;
        let expected = Some(if misleads || is_void { 2 } else { 0 });
        self.equal("exit code", code, expected);
    }

    /// Right answers and requests.
    fn requests(&mut self) {
        let Counts { scheduled, completed, failed, censored, .. } = self.counts;
        let Seen { good, requests, late, cut, hops, redirects, .. } = *self.seen;
        let requests = requests.saturating_sub(hops);
        self.within("redirects", self.counts.redirects, redirects, censored);
        self.within("hops", hops, self.counts.redirects, censored);
        self.demand("no request is sent twice", requests + late <= scheduled);
        if self.case.fault.shifts && !self.is_alone() {
            return;
        }
        // Answers that a reset overtakes are lost with it, and so are those that prony had no use for.
        let is_lossy = self.case.fault.fate == Fate::Dead && !self.is_alone();
        self.within("right answers", completed, good, censored + if is_lossy { failed } else { 0 });
        if self.case.lives() {
            self.within("requests", requests, scheduled, censored);
            self.demand("nothing is lost on the way", late == 0 && cut <= censored);
        } else if self.case.fault.when == When::Request
            && self.case.fault.fate == Fate::Dead
            && self.is_alone()
        {
            self.within("requests", requests, scheduled, censored);
        }
        if self.case.kind == Kind::Session && censored == 0 {
            // Counted by the answer to the last step, right or not.
            self.demand("sessions", self.seen.sessions <= scheduled);
        }
    }

    /// Failures and their classes.
    fn failures(&mut self) {
        let Counts { failed, censored, completed, scheduled, .. } = self.counts;
        let fault = self.case.fault;
        let of_class = self.of_class();
        let of_closing: u64 = ["premature_close", "reset"]
            .iter()
            .filter(|class| !fault.classes.contains(class))
            .map(|class| self.counts.errors.get(*class).copied().unwrap_or(0))
            .sum();
        if fault.shifts && !self.is_alone() {
            return;
        }
        match fault.fate {
            Fate::Right if fault.when == When::Request => self.equal("failed", failed, 0),
            Fate::Wrong | Fate::Hop | Fate::HopThenGone => {
                self.within("failed", of_class, self.seen.faults, censored);
            }
            Fate::RightThenGone if self.is_alone() => self.equal("failed", failed, 0),
            Fate::Right | Fate::RightThenGone | Fate::RightUnannounced => {}
            Fate::Dead if fault.when == When::Accepted => {}
            Fate::Dead if self.is_alone() => {
                self.within("failed by the class of the fault", of_class, self.seen.faults, censored);
            }
            Fate::Dead => self.demand("each fault failed a request", of_class + censored >= self.seen.faults),
        }
        self.equal("failed by known classes", of_class + of_closing, failed);
        let may_close =
            matches!(fault.fate, Fate::RightUnannounced) || !self.is_alone() || fault.when != When::Request;
        self.demand("closed without a fault", of_closing == 0 || may_close);
        self.demand("all are counted", completed + failed + censored == scheduled);
    }

    /// Bytes, connections and status codes, where prony and the server see the same.
    fn moved(&mut self, report: &Value) {
        let count = |group: &str, key: &str| report[group][key].as_u64().expect("the schema demands it");
        if self.counts.censored > 0 || self.case.load != Load::Count {
            return;
        }
        if self.case.lives() {
            self.equal("bytes written", count("bytes", "written"), self.seen.read_bytes);
            self.equal("bytes read", count("bytes", "read"), self.seen.sent_bytes);
            self.equal("status codes", self.counts.status.clone(), self.seen.status.clone());
            let opened = count("connections", "established") + count("connections", "reconnects");
            // A script is tried once before the load, on a connection of its own.
            let own = u64::from(matches!(self.case.kind, Kind::Script | Kind::Batch | Kind::LargeScript));
            if self.case.keeping == Keeping::Kept {
                self.within("connections", opened, self.seen.connections, own);
            }
        } else if self.is_alone() && self.case.fault.when == When::Request {
            self.equal("status codes", self.counts.status.clone(), self.seen.status.clone());
        }
    }
}
