//! `prony agent`: a part of a load for a controller that is somewhere else.
//!
//! Invariant: an agent that prony did not start itself has no variable of its surroundings but those that programs need to
//! run and those that its user named: a plan from outside may ask for any.

use crate::args::{AgentArgs, with_flag};
use crate::{calibrate, exit, interrupt, output};
use anyhow::{Context as _, Result, bail};
use fleet::Allow;
use generate::agents::{Agent, AgentTrust, Joined, Listener, TlsDoor, facts};
use schema::plan::{LoadPlan, PinPlan};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a program needs to find itself, its libraries, its certificates and its language.
const KEPT: [&str; 10] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TZ",
    "XDG_STATE_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "RUST_BACKTRACE",
];
/// Set once the environment is clean.
const CLEAN: &str = "PRONY_AGENT_ENVIRONMENT";

pub(crate) fn agent(args: &AgentArgs) -> Result<u8> {
    let allow = Allow::parse(&args.allow).context("--allow")?;
    if !args.here && std::env::var_os(CLEAN).is_none() {
        return clean(&args.env);
    }
    plan::processes::raise_descriptor_limit();
    let usable = launch::pin::usable_cpus()?.len();
    let calibration = calibrate::limit_of(&[&LoadPlan::default()], &PinPlan::default(), usable);
    let agent = Agent { allow, facts: facts(calibration), is_here: args.here };
    if args.stdio {
        agent.serve_stdio()?;
        return Ok(exit::DONE);
    }
    let stop = interrupt::stop_flag()?;
    let (listener, socket, _joined) = open(args)?;
    let served = agent.serve(&listener, &stop);
    if let Some(path) = socket {
        // Somebody may have removed it meanwhile.
        let _ = std::fs::remove_file(path);
    }
    served.context("the agent cannot listen any more")?;
    Ok(exit::DONE)
}

/// Becomes the same command in an environment of [`KEPT`] and `named`.
fn clean(named: &[String]) -> Result<u8> {
    let kept = KEPT.iter().copied().chain(named.iter().map(String::as_str));
    let kept = kept.filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new("/proc/self/exe");
    command.arg0("prony").args(std::env::args_os().skip(1)).env_clear().envs(kept).env(CLEAN, "clean");
    Err(command.exec()).context("the agent cannot start itself in a clean environment")
}

/// Opens the way on which controllers come, and says which one it is; the path of a Unix socket and the place on a bus, too.
fn open(args: &AgentArgs) -> Result<(Listener, Option<PathBuf>, Option<Joined>)> {
    if let Some(server) = &args.join {
        let (listener, joined) = join_bus(server, args)?;
        return Ok((listener, None, Some(joined)));
    }
    let (listener, socket) = listen(args.listen.as_deref().unwrap_or_default(), args.tls.as_deref())?;
    output::say!("listening on {}", shown(&listener, socket.as_deref()));
    Ok((listener, socket, None))
}

/// Joins a bus under the name of the agent's certificate; streams lead to a port of loopback, which believes nobody but the
/// controller.
fn join_bus(server: &str, args: &AgentArgs) -> Result<(Listener, Joined)> {
    plan::fleet::check_bus(server, "join").map_err(|problem| with_flag(problem.into()))?;
    let keys = args.tls.as_deref().context("--join needs --tls")?;
    let trust = AgentTrust::read(keys).context("--tls")?;
    let name = trust.name().context("--tls")?;
    let door =
        TlsDoor::new(bind((Ipv4Addr::LOCALHOST, 0).into())?, trust, |refusal| output::say!("{refusal}"));
    let joined =
        generate::agents::join(server, &name, keys, door.local_addr()?, |news| output::say!("{news}"))?;
    output::say!("joined {server} as {name}");
    Ok((Listener::Tls(door), joined))
}

/// Opens what an agent listens on; the path of a Unix socket, too.
fn listen(address: &str, keys: Option<&Path>) -> Result<(Listener, Option<PathBuf>)> {
    if let Some(path) = address.strip_prefix("unix:") {
        if keys.is_some() {
            bail!(
                "--tls: a Unix socket is for the users of one host\n  remedy: leave --tls out, or listen on ADDR:PORT"
            );
        }
        let path = PathBuf::from(path);
        free(&path)?;
        let listener = UnixListener::bind(&path).with_context(|| format!("cannot listen on {address}"))?;
        // Whoever can connect can order a load.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        return Ok((Listener::Unix(listener), Some(path)));
    }
    let Ok(to) = address.parse::<SocketAddr>() else {
        bail!("--listen: `{address}` is no address; write unix:/run/prony/agent.sock or 127.0.0.1:7411");
    };
    let Some(keys) = keys else {
        if !to.ip().is_loopback() {
            bail!(
                "--listen: {to} can be reached from other hosts, and the lines are neither encrypted nor signed\n  \
                 remedy: give --tls with keys of `prony fleet keys`, or let the controller start it over ssh (--stdio)"
            );
        }
        return Ok((Listener::Tcp(bind(to)?), None));
    };
    let trust = AgentTrust::read(keys).context("--tls")?;
    let door = TlsDoor::new(bind(to)?, trust, |refusal| output::say!("{refusal}"));
    Ok((Listener::Tls(door), None))
}

fn bind(to: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(to).with_context(|| format!("cannot listen on {to}"))
}

/// Removes a socket that an agent left behind; anything else that is there stays.
fn free(path: &Path) -> Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        bail!("--listen: {} is there and is no socket; give another path", path.display());
    }
    if UnixStream::connect(path).is_ok() {
        bail!("--listen: somebody listens on {} already; give another path", path.display());
    }
    std::fs::remove_file(path).with_context(|| format!("cannot remove the old socket {}", path.display()))
}

fn shown(listener: &Listener, socket: Option<&Path>) -> String {
    let address = match listener {
        Listener::Unix(_) => return format!("unix:{}", socket.unwrap_or(Path::new("")).display()),
        Listener::Tcp(listener) => listener.local_addr(),
        Listener::Tls(door) => door.local_addr(),
    };
    address.map_or_else(|_| "a port".to_owned(), |address| address.to_string())
}
