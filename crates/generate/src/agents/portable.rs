//! A load on its way to another machine: its files by their hash instead of their path, and what an agent makes of a load
//! that came from outside.
//!
//! Invariants: an agent opens no file but those of its store, connects to no place that its own list and its own resolver
//! do not permit, writes no file, and enters no namespace, whatever the plan says. Absent on purpose: the environment,
//! which the agent's process is given or not.

use super::error::AgentError;
use fleet::{Allow, FileRef, Store, describe};
use plan::net::HttpUrl;
use plan::{LoadJob, fleet as settings};
use schema::arrival::ArrivalPlan;
use schema::text::Problem;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The paths that a load reads, wherever they stand in its plan.
fn paths(job: &mut LoadJob) -> Vec<&mut String> {
    let mut paths = Vec::new();
    paths.extend(job.scenario.feeders.values_mut().map(|feeder| &mut feeder.file));
    paths.extend(job.scenario.tokens.values_mut().filter_map(|maker| maker.key_file.as_mut()));
    if let Some(tls) = &mut job.load.tls {
        paths.extend([&mut tls.ca_file, &mut tls.cert_file, &mut tls.key_file].into_iter().flatten());
    }
    if let Some(ArrivalPlan::Recorded { file, .. }) = &mut job.load.arrivals {
        paths.push(file);
    }
    paths
}

/// A load without anything of this machine: each path is a name of `files`, and where the file is found here.
pub(super) struct Packed {
    pub(super) job: LoadJob,
    pub(super) files: BTreeMap<String, FileRef>,
    /// By hash.
    pub(super) sources: BTreeMap<String, PathBuf>,
}

/// Reads every file of a load once and names it by its hash.
///
/// # Errors
/// A file that cannot be read, and settings that mean something on this machine only.
pub(super) fn pack(job: &LoadJob) -> Result<Packed, AgentError> {
    settings::check(job).map_err(not_portable)?;
    let mut job = job.clone();
    let folder = PathBuf::from(std::mem::take(&mut job.scenario.folder));
    let (mut files, mut sources) = (BTreeMap::new(), BTreeMap::new());
    for path in paths(&mut job) {
        let source = folder.join(&*path);
        let file = describe(&source)?;
        sources.insert(file.sha256.clone(), source);
        *path = format!("file-{}", files.len());
        files.insert(path.clone(), file);
    }
    job.load.fleet = None;
    Ok(Packed { job, files, sources })
}

fn not_portable(problem: Problem) -> AgentError {
    AgentError::NotPortable { what: "this load", cause: problem.cause, remedy: "leave out --fleet" }
}

/// Makes a load that came from outside one of this machine: paths lead into the store, and where it goes is what this
/// agent's resolver and list say.
///
/// # Errors
/// What the agent refuses, in words for the controller.
pub(super) fn localise(
    mut job: LoadJob,
    files: &BTreeMap<String, FileRef>,
    store: &Store,
    allow: &Allow,
) -> Result<LoadJob, String> {
    settings::check(&job).map_err(|problem| problem.cause)?;
    // What `check` refuses of a plan that was made here must not come through the wire either.
    job.load.fleet = None;
    job.network = None;
    // It would be looked up for every connection, with the controller's consent.
    job.name = None;
    job.scenario.folder = String::new();
    for path in paths(&mut job) {
        let file =
            files.get(path).ok_or_else(|| format!("the plan reads `{path}`, which came with no hash"))?;
        let place = store.path(file).map_err(|error| error.to_string())?;
        *path = place.display().to_string();
    }
    let url = HttpUrl::parse(&job.url).map_err(|error| error.to_string())?;
    job.to = permitted(&url, allow)?;
    for further in &mut job.further {
        further.to = permitted(&further.url, allow)?;
    }
    Ok(job)
}

/// Where a URL leads from here, if that may be.
fn permitted(url: &HttpUrl, allow: &Allow) -> Result<SocketAddr, String> {
    let address = url.first_address().map_err(|error| error.to_string())?;
    if allow.permits(&url.host, address.ip()) {
        return Ok(address);
    }
    let host = &url.host;
    Err(format!(
        "{host} ({}) is not on its list; if it may load it, start it with --allow {host}",
        address.ip()
    ))
}

/// Whether a load stays on the machine that plans it.
pub(super) fn goes_to_loopback(job: &LoadJob) -> bool {
    job.to.ip().is_loopback() || job.further.iter().any(|further| further.to.ip().is_loopback())
}

/// A file that was asked for, by its hash.
pub(super) fn source<'a>(packed: &'a Packed, sha256: &str) -> Option<&'a Path> {
    packed.sources.get(sha256).map(PathBuf::as_path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::sample::job;
    use schema::scenario::Feeder;
    use schema::tls::TlsUse;

    fn with_files(folder: &Path) -> LoadJob {
        for (name, text) in [("u.csv", "id\n1\n"), ("t.txt", "0\n1\n"), ("ca.pem", "x")] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let mut job = job("http://127.0.0.1:9");
        let feeder: Feeder = serde_json::from_value(serde_json::json!({ "file": "u.csv" })).unwrap();
        job.scenario.feeders.insert("users".to_owned(), feeder);
        job.scenario.folder = folder.display().to_string();
        job.load.arrivals = Some(
            serde_json::from_value(serde_json::json!({
                "law": "recorded", "file": folder.join("t.txt"), "speed": 1.0, "after": "stop", "count": 2,
                "span_ns": 1_000_000_000
            }))
            .unwrap(),
        );
        let tls = TlsUse { ca: Some("ca.pem".to_owned()), ..TlsUse::default() };
        job.load.tls = Some(plan::tls::resolve(&tls, "localhost", folder).unwrap());
        job
    }

    #[test]
    fn a_packed_load_has_no_path_of_this_machine_and_an_agent_finds_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let packed = pack(&with_files(folder.path())).unwrap();
        let text = serde_json::to_string(&packed.job).unwrap();
        assert!(!text.contains(folder.path().to_str().unwrap()), "{text}");
        assert_eq!((packed.files.len(), packed.sources.len()), (3, 3));
        let there = tempfile::tempdir().unwrap();
        let store = Store::new(there.path());
        let mut job = localise(packed.job, &packed.files, &store, &Allow::default()).unwrap();
        assert!(paths(&mut job).iter().all(|path| path.starts_with(there.path().to_str().unwrap())));
        assert!(job.scenario.feeders["users"].file.ends_with(".csv"), "readers go by the ending");
    }

    #[test]
    fn a_hostile_plan_reads_and_reaches_nothing() {
        let store = Store::new(Path::new("/nonexistent"));
        let refused = |job: LoadJob, allow: &[&str]| {
            let allow = Allow::parse(allow).unwrap();
            localise(job, &BTreeMap::new(), &store, &allow).map(drop).unwrap_err()
        };
        let mut reads = job("http://127.0.0.1:9");
        let feeder = serde_json::from_value(serde_json::json!({ "file": "/etc/passwd" })).unwrap();
        reads.scenario.feeders.insert("users".to_owned(), feeder);
        assert!(refused(reads, &[]).contains("came with no hash"));
        assert!(refused(job("http://10.0.0.1"), &[]).contains("not on its list"));
        assert!(refused(job("http://169.254.169.254"), &["10.0.0.0/8"]).contains("--allow 169.254.169.254"));
        let mut socket = job("http://127.0.0.1:9");
        socket.load.connection.unix_socket = Some("/var/run/docker.sock".to_owned());
        assert!(refused(socket, &[]).contains("Unix socket"));
        let mut scripted = job("http://127.0.0.1:9");
        scripted.scenario.script = Some(Default::default());
        assert!(refused(scripted, &[]).contains("a script"));
        let mut further = job("http://127.0.0.1:9");
        let url = HttpUrl::parse("http://10.0.0.2").unwrap();
        further.further.push(plan::origins::Further { url, to: "127.0.0.1:1".parse().unwrap() });
        assert!(refused(further, &[]).contains("10.0.0.2"), "the agent asks its own resolver");
    }

    #[test]
    fn where_it_goes_is_what_the_agent_resolves() {
        let mut away = job("http://127.0.0.1:9");
        away.to = "10.9.9.9:1".parse().unwrap();
        let store = Store::new(Path::new("/nonexistent"));
        let url = HttpUrl::parse("http://10.9.9.9").unwrap();
        away.name = Some(plan::NameLookup { url, consent: vec!["10.9.9.9".to_owned()] });
        let here = localise(away, &BTreeMap::new(), &store, &Allow::default()).unwrap();
        assert_eq!(here.to, "127.0.0.1:9".parse().unwrap());
        assert!(here.name.is_none(), "no look-up of the controller's goes round the list");
    }
}
