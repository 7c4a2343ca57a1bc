//! What is asked of an import, and what it gives.

use schema::scenario::ScenarioFile;
use units::Nanos;

/// What the user may wish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Keep the order, as the session of one virtual user, instead of a mix by counts.
    pub session: bool,
    /// Keep requests to this `scheme://host[:port]` only. Default: that of the first request.
    pub origin: Option<String>,
    /// Keep requests to other origins, too, each with its origin.
    pub all_origins: bool,
    /// JMeter: the name of the thread group; k6: of the scenario. Default: the only one.
    pub group: Option<String>,
}

/// A scenario, and what belongs to it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What is sent; but for JMeter, only `requests` and perhaps `session` are filled.
    pub scenario: ScenarioFile,
    /// `scheme://host:port` of all requests that name none of their own.
    pub origin: String,
    /// Files to write beside the scenario, by name: bodies that are not UTF-8.
    pub bodies: Vec<(String, Vec<u8>)>,
    /// What was left out or changed and why, each with its count.
    pub notes: Vec<String>,
    /// Session only: the pause before each step, 0 where there is none.
    pub think: Option<Vec<Nanos>>,
    /// JMeter, k6: how much the file sends, as arguments of `prony load`, quoted for a shell.
    pub load: Vec<String>,
}
