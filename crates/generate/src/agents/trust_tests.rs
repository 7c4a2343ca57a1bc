//! Links over TLS: a load comes whole, and whoever is not who they should be is refused with a name for it on both ends.

use super::control::Agents;
use super::door::{Listener, TlsDoor};
use super::maker::Make;
use super::muster::Muster;
use super::portable::pack;
use super::protocol::{Errand, Greeting, Report, VERSION, next_line};
use super::sample;
use super::tests::{INTERVALS, Replay, agent, comes_whole_though_cut, plan, replays};
use super::trust::AgentTrust;
use crate::lines::write_line;
use fleet::{AUTHORITY_FILE, Authority, CERTIFICATE_FILE, KEY_FILE, KeyPairText, Role};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use schema::experiment::LoadModel;
use schema::fleet::{AgentLink, FleetPlan};
use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Longer than any limit that ends a wait.
const LONG: Duration = Duration::from_secs(30);
const DAY: Duration = Duration::from_secs(86_400);

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Folders of one fleet.
pub(super) struct Keys(TempDir);

impl Keys {
    /// The controller's, those of agents `a` and `b`, and two whose time is over.
    fn new() -> Self {
        Self::with(&[
            ("controller", Role::Controller, now()),
            ("a", Role::Agent("a"), now()),
            ("b", Role::Agent("b"), now()),
            ("old-controller", Role::Controller, now() - 9 * DAY),
            ("old-a", Role::Agent("a"), now() - 9 * DAY),
        ])
    }

    /// The controller's and those of agents of these names.
    pub(super) fn of(agents: &[String]) -> Self {
        let mut folders = vec![("controller", Role::Controller, now())];
        folders.extend(agents.iter().map(|name| (name.as_str(), Role::Agent(name), now())));
        Self::with(&folders)
    }

    fn with(folders: &[(&str, Role<'_>, Duration)]) -> Self {
        let own = Self(tempfile::tempdir().unwrap());
        let (authority, text) = Authority::new(now()).unwrap();
        for (name, role, at) in folders {
            write(&own.folder(name), &text.certificate, &authority.sign(*role, *at, 1).unwrap());
        }
        own
    }

    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn identity(&self, name: &str) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let folder = self.folder(name);
        let certificate = CertificateDer::from_pem_file(folder.join(CERTIFICATE_FILE)).unwrap();
        (vec![certificate], PrivateKeyDer::from_pem_file(folder.join(KEY_FILE)).unwrap())
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_file(self.folder("a").join(AUTHORITY_FILE)).unwrap();
        roots.add(authority).unwrap();
        Arc::new(roots)
    }
}

fn write(folder: &Path, authority: &str, pair: &KeyPairText) {
    fs::create_dir(folder).unwrap();
    for (name, text) in
        [(AUTHORITY_FILE, authority), (CERTIFICATE_FILE, &pair.certificate), (KEY_FILE, &pair.key)]
    {
        fs::write(folder.join(name), text).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// An agent that serves over TLS until it is dropped, and what it reports of those it refuses.
pub(super) struct Serving {
    pub(super) address: SocketAddr,
    refused: Receiver<String>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    pub(super) fn start(keys: &Keys, name: &str) -> Self {
        Self::making(keys, name, replays())
    }

    fn making(keys: &Keys, name: &str, make: Make) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (says, refused) = channel();
        let says = Mutex::new(says);
        let trust = AgentTrust::read(&keys.folder(name)).unwrap();
        let door = TlsDoor::new(listener, trust, move |text| {
            let _ = says.lock().unwrap().send(text.to_owned());
        });
        let stop = Arc::new(AtomicBool::new(false));
        let stops = stop.clone();
        let thread =
            std::thread::spawn(move || agent().serve_with(&Listener::Tls(door), &stops, make).unwrap());
        Self { address, refused, stop, thread: Some(thread) }
    }

    fn refusal(&self) -> String {
        self.refused.recv_timeout(LONG).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn fleet_of(address: SocketAddr, keys: &Path) -> FleetPlan {
    let link = AgentLink::Tls { address: address.to_string(), keys: keys.display().to_string() };
    FleetPlan { agents: vec![plan("a", link)] }
}

/// The error of reaching agent `a` there.
fn cause(address: SocketAddr, keys: &Path) -> String {
    Muster::call(&fleet_of(address, keys), &[], &Errand::default()).map(drop).unwrap_err().to_string()
}

/// Passes a TCP stream on; cuts it on a word, and keeps what the controller said.
struct Between {
    address: SocketAddr,
    cut: std::sync::mpsc::Sender<()>,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Between {
    fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (cut, cuts) = channel::<()>();
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = said.clone();
        // Ends with the test's process.
        std::thread::spawn(move || {
            for outer in listener.incoming().map_while(Result::ok) {
                let inner = TcpStream::connect(to).unwrap();
                for (mut from, mut to, keeps) in [
                    (outer.try_clone().unwrap(), inner.try_clone().unwrap(), true),
                    (inner.try_clone().unwrap(), outer.try_clone().unwrap(), false),
                ] {
                    let kept = kept.clone();
                    std::thread::spawn(move || {
                        let mut bytes = [0; 4096];
                        while let Ok(more @ 1..) = from.read(&mut bytes) {
                            if keeps {
                                kept.lock().unwrap().extend(&bytes[..more]);
                            }
                            if to.write_all(&bytes[..more]).is_err() {
                                break;
                            }
                        }
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                if cuts.recv().is_err() {
                    return;
                }
                let _ = outer.shutdown(Shutdown::Both);
                let _ = inner.shutdown(Shutdown::Both);
            }
        });
        Self { address, cut, said }
    }
}

#[test]
fn a_load_over_tls_comes_whole_though_its_link_is_cut() {
    let keys = Keys::new();
    let (go, gate) = channel();
    let gate = Mutex::new(Some(gate));
    let make: Make = Arc::new(move |_, part, _| Ok(Box::new(Replay::new(part, gate.lock().unwrap().take()))));
    let serving = Serving::making(&keys, "a", make);
    let between = Between::start(serving.address);
    let job = sample::job("http://127.0.0.1:9");
    let muster =
        Muster::call(&fleet_of(between.address, &keys.folder("controller")), &[], &Errand::default())
            .unwrap();
    let mut agents = Agents::with(&job, pack(&job).unwrap(), muster, &mut |_| ()).unwrap();
    agents.begin(Some(0));
    comes_whole_though_cut(&mut agents, &go, &between.cut);
    let report = &agents.report(LoadModel::Closed).agents[0];
    assert_eq!((report.parcels, report.reconnects), (INTERVALS, 1));
    assert!(report.clock.bound_ns <= 1_000_000, "TLS leaves the clock known: {:?}", report.clock);
    drop(agents);
    assert!(serving.refused.try_recv().is_err(), "and nobody was refused");
}

#[test]
fn keys_that_this_end_cannot_use_are_refused_before_a_socket_is_opened() {
    let keys = Keys::new();
    let nowhere = "127.0.0.1:9".parse().unwrap();
    for (folder, words) in [
        ("a", "the certificate is for another role"),
        ("old-controller", "the certificate has expired"),
        ("none", "cannot read"),
    ] {
        let error = cause(nowhere, &keys.folder(folder));
        assert!(error.contains("agent a cannot be reached") && error.contains(words), "{folder}: {error}");
        assert!(error.contains("remedy: "), "{error}");
    }
    for (folder, words) in [
        ("controller", "the certificate is for another role"),
        ("old-a", "the certificate has expired"),
        ("none", "cannot read"),
    ] {
        let error = AgentTrust::read(&keys.folder(folder)).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("remedy: "), "{folder}: {error}");
    }
    let key = keys.folder("a").join(KEY_FILE);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o604)).unwrap();
    let error = AgentTrust::read(&keys.folder("a")).unwrap_err().to_string();
    assert!(error.contains("can be read by every user") && error.contains("chmod 600"), "{error}");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&key, "no key").unwrap();
    let error = AgentTrust::read(&keys.folder("a")).unwrap_err().to_string();
    assert!(error.contains("holds no private key"), "{error}");
    fs::copy(Keys::new().folder("b").join(KEY_FILE), keys.folder("b").join(KEY_FILE)).unwrap();
    assert!(AgentTrust::read(&keys.folder("b")).is_err(), "the key of another certificate");
}

#[test]
fn a_controller_of_another_fleet_and_the_agent_name_each_other() {
    let (keys, other) = (Keys::new(), Keys::new());
    let serving = Serving::start(&keys, "a");
    let error = cause(serving.address, &other.folder("controller"));
    assert!(error.contains("the certificate is of another fleet"), "{error}");
    assert!(serving.refusal().contains("it says that this end's certificate is of another fleet"));
}

#[test]
fn an_agent_that_stands_in_for_another_is_refused() {
    let keys = Keys::new();
    let serving = Serving::start(&keys, "b");
    let error = cause(serving.address, &keys.folder("controller"));
    assert!(error.contains("is that of") && error.contains("b.agent.prony"), "{error}");
    assert!(error.contains("not of a.agent.prony") && error.contains("remedy: "), "{error}");
}

/// A server of TLS 1.3 that shows these keys and takes any client of the fleet.
fn server(keys: &Keys, shows: &Keys, name: &str) -> (SocketAddr, JoinHandle<()>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients =
        WebPkiClientVerifier::builder_with_provider(keys.roots(), provider.clone()).build().unwrap();
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_client_cert_verifier(clients);
    let (chain, key) = shows.identity(name);
    let config = Arc::new(builder.with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
        let _ = stream.read(&mut [0; 1]);
    });
    (address, thread)
}

#[test]
fn whoever_answers_in_an_agents_place_is_refused() {
    let (keys, other) = (Keys::new(), Keys::new());
    for (shows, name, words) in [
        (&keys, "old-a", "the certificate has expired"),
        (&keys, "controller", "the certificate is for another role"),
        (&other, "a", "the certificate is of another fleet"),
    ] {
        let (address, thread) = server(&keys, shows, name);
        let error = cause(address, &keys.folder("controller"));
        assert!(error.contains(words) && error.contains("remedy: "), "{name}: {error}");
        thread.join().unwrap();
    }
}

/// A stream to the agent by a client that shows these keys, or none, and believes whatever the fleet's authority signed.
fn stream_of(
    keys: &Keys,
    shows: Option<(&Keys, &str)>,
    to: SocketAddr,
) -> StreamOwned<ClientConnection, TcpStream> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(keys.roots());
    let config = match shows {
        Some((shows, name)) => {
            let (chain, key) = shows.identity(name);
            builder.with_client_auth_cert(chain, key).unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    let name = ServerName::try_from(Role::Agent("a").name()).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    StreamOwned::new(connection, stream)
}

fn greeting(session: &str) -> Greeting {
    Greeting {
        version: VERSION,
        prony: String::new(),
        session: session.to_owned(),
        agent: 0,
        again: false,
        errand: Errand::default(),
    }
}

#[test]
fn whoever_comes_in_a_controllers_place_hears_nothing() {
    let (keys, other) = (Keys::new(), Keys::new());
    for (shows, words) in [
        (None, "it showed no certificate"),
        (Some((&keys, "b")), "the certificate is for another role"),
        (Some((&keys, "a")), "the certificate is for another role"),
        (Some((&keys, "old-controller")), "the certificate has expired"),
        (Some((&other, "controller")), "the certificate is of another fleet"),
    ] {
        // Refusals are reported once a second: each has an agent of its own.
        let serving = Serving::start(&keys, "a");
        let mut stream = stream_of(&keys, shows, serving.address);
        let said = write_line(&mut stream, &greeting("s")).map(|()| stream.read(&mut [0; 1]));
        assert!(!matches!(said, Ok(Ok(1..))), "{words}: it was answered");
        let refusal = serving.refusal();
        assert!(refusal.contains(words) && refusal.contains("remedy: "), "{words}: {refusal}");
        assert!(refusal.contains("refused 127.0.0.1:"), "{refusal}");
    }
}

#[test]
fn whoever_speaks_no_tls_is_refused_and_silence_has_an_end() {
    let keys = Keys::new();
    let serving = Serving::start(&keys, "a");
    let mut plain = TcpStream::connect(serving.address).unwrap();
    write_line(&mut plain, &greeting("s")).unwrap();
    assert!(serving.refusal().contains("what it says is no TLS"));
    // A controller that was not given the keys.
    let link = AgentLink::Tcp { address: serving.address.to_string() };
    let error = Muster::call(&FleetPlan { agents: vec![plan("a", link)] }, &[], &Errand::default())
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("it speaks TLS"), "{error}");
    let silent = Serving::start(&keys, "a");
    let mut waits = TcpStream::connect(silent.address).unwrap();
    waits.set_read_timeout(Some(LONG)).unwrap();
    assert!(silent.refusal().contains("did not end its handshake within 5 s"));
    assert_eq!(waits.read(&mut [0; 1]).unwrap(), 0, "and the link is closed");
}

#[test]
fn a_handshake_without_end_is_not_kept() {
    let keys = Keys::new();
    let serving = Serving::start(&keys, "a");
    let mut peer = TcpStream::connect(serving.address).unwrap();
    // Records of a greeting that is said to be 16 MiB long.
    let mut record = vec![22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff];
    record.resize(5 + 0x4000, 0);
    let more = [&[22, 3, 1, 0x40, 0][..], &[0; 0x4000]].concat();
    let _ = peer.write_all(&record).and_then(|()| (0..64).try_for_each(|_| peer.write_all(&more)));
    let refusal = serving.refusal();
    assert!(refusal.contains("is no TLS") || refusal.contains("longer than 65536"), "{refusal}");
}

#[test]
fn an_agent_that_does_not_answer_the_handshake_is_named() {
    let keys = Keys::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = cause(listener.local_addr().unwrap(), &keys.folder("controller"));
    assert!(error.contains("agent a") && error.contains("within 5 s") && error.contains("--tls"), "{error}");
    let gone = listener.local_addr().unwrap();
    drop(listener);
    let error = cause(gone, &keys.folder("controller"));
    assert!(error.contains("agent a cannot be reached") && error.contains("refused"), "{error}");
}

#[test]
fn what_was_recorded_on_the_way_cannot_be_played_again() {
    let keys = Keys::new();
    let serving = Serving::start(&keys, "a");
    let between = Between::start(serving.address);
    drop(
        Muster::call(&fleet_of(between.address, &keys.folder("controller")), &[], &Errand::default())
            .unwrap(),
    );
    let said = between.said.lock().unwrap().clone();
    assert!(said.len() > 1000, "{}", said.len());
    let mut again = TcpStream::connect(serving.address).unwrap();
    again.set_read_timeout(Some(LONG)).unwrap();
    let _ = again.write_all(&said);
    let refusal = serving.refusal();
    assert!(refusal.contains("refused 127.0.0.1:"), "{refusal}");
    // And the agent is free: the words began nothing.
    drop(
        Muster::call(&fleet_of(serving.address, &keys.folder("controller")), &[], &Errand::default())
            .unwrap(),
    );
}

#[test]
fn garbage_of_a_controller_with_keys_is_refused_in_words() {
    let keys = Keys::new();
    let serving = Serving::start(&keys, "a");
    for (words, lines) in [
        ("this is an agent of prony", &b"\0\xff\n"[..]),
        ("this is an agent of prony", b"{\"version\":[[[[\n"),
        ("is not understood", b"{\"Load\":{\"job\":7}}\n"),
        ("is not understood", b"\0\n"),
    ] {
        let mut stream = stream_of(&keys, Some((&keys, "controller")), serving.address);
        if words == "is not understood" {
            write_line(&mut stream, &greeting("s")).unwrap();
        }
        stream.write_all(lines).unwrap();
        stream.flush().unwrap();
        let (mut reader, mut line, mut last) = (BufReader::new(stream), Vec::new(), None);
        while let Ok(Some(())) = next_line(&mut reader, &mut line) {
            last = Some(serde_json::from_slice::<Report>(&line).unwrap());
        }
        assert!(matches!(&last, Some(Report::Refused(cause)) if cause.contains(words)), "{last:?}");
    }
}

#[test]
fn damaged_bytes_on_the_way_end_the_link_and_reach_nobody() {
    let keys = Keys::new();
    let serving = Serving::start(&keys, "a");
    let mut stream = stream_of(&keys, Some((&keys, "controller")), serving.address);
    write_line(&mut stream, &greeting("s")).unwrap();
    let mut line = Vec::new();
    next_line(&mut BufReader::new(&mut stream), &mut line).unwrap();
    // A record that no key of the session has made.
    let forged = [&[23, 3, 3, 0, 64][..], &[7; 64]].concat();
    stream.sock.write_all(&forged).unwrap();
    let mut rest = Vec::new();
    let _ = stream.sock.read_to_end(&mut rest);
    drop(stream);
    drop(
        Muster::call(&fleet_of(serving.address, &keys.folder("controller")), &[], &Errand::default())
            .unwrap(),
    );
}
