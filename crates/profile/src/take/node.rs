//! V8's profiler of the busiest Node.js process among the target's, through its inspector, which the signal USR1 opens
//! on 127.0.0.1:9229. It stays open until the target is stopped, which is soon: its load is for profiles only.

use super::{No, Request, SLACK, Taken, busiest, is_stopped, take_again, wait};
use crate::{BYTES_MAX, cpuprofile};
use probe::Limits;
use rustix::process::{Pid, Signal, kill_process};
use schema::profile::ProfileKind;
use schema::said;
use schema::said::Said;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket, client::client_with_config};

const PORT: u16 = 9229;
/// Between two samples.
const INTERVAL_US: u64 = 1_000;
fn remedy() -> Said {
    said!(
        "profile.remedy_node",
        "end other Node.js processes whose inspector is open (port 9229); limit the target by CPUs, not by a network of its own"
    )
}

pub(super) fn take(request: &Request) -> Result<Taken, No> {
    let process = busiest(request, &["node", "nodejs"], "Node.js".into())?;
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    if TcpStream::connect_timeout(&at, Duration::from_secs(1)).is_ok() {
        return Err(No::new(
            said!("profile.other_inspector", "another inspector is open at port 9229"),
            remedy(),
        ));
    }
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    let signalled = pid.map(|pid| kill_process(pid, Signal::USR1));
    if !matches!(signalled, Some(Ok(()))) {
        return Err(No::new(
            said!("profile.not_signalled", "the process could not be signalled"),
            said!("profile.as_target_user", "run prony as the target's user"),
        ));
    }
    let mut inspector = Inspector::open(at, request)?;
    // Whose inspector it is: the port is the same for all.
    let told = inspector.call("Runtime.evaluate", json!({"expression": "process.pid"}))?;
    if told.pointer("/result/value").and_then(Value::as_u64) != Some(process.pid.into()) {
        return Err(No::new(
            said!("profile.other_process", "another process answers at port 9229"),
            remedy(),
        ));
    }
    inspector.call("Profiler.enable", json!({}))?;
    inspector.call("Profiler.setSamplingInterval", json!({"interval": INTERVAL_US}))?;
    inspector.call("Profiler.start", json!({}))?;
    wait(request)?;
    let answer = inspector.call("Profiler.stop", json!({}))?;
    let raw = serde_json::to_vec(answer.get("profile").unwrap_or(&Value::Null)).unwrap_or_default();
    let folded = cpuprofile::read(&raw)?;
    let mut taken = Taken::one(ProfileKind::Node, folded, raw, "cpuprofile");
    taken.notes.push(said!(
        "profile.note_node",
        "process {pid}, the busiest; its JavaScript thread, one sample a millisecond",
        pid = process.pid
    ));
    Ok(taken)
}

struct Inspector {
    socket: WebSocket<TcpStream>,
    id: u64,
}

impl Inspector {
    /// Waits until it is there.
    fn open(at: SocketAddr, request: &Request) -> Result<Self, No> {
        let until = Instant::now() + SLACK;
        loop {
            if let Ok(list) =
                probe::get(at, "/json/list", Limits { timeout: Duration::from_secs(2), body_bytes: 1 << 20 })
            {
                return Self::connect(at, &list);
            }
            if is_stopped(request) {
                return Err(No::stopped());
            }
            if Instant::now() >= until {
                return Err(No::new(
                    said!("profile.no_inspector", "the target's inspector did not open"),
                    remedy(),
                ));
            }
            std::thread::sleep(super::POLL);
        }
    }

    fn connect(at: SocketAddr, list: &[u8]) -> Result<Self, No> {
        let strange = |what: String| {
            let what = Said::from(what);
            No::new(said!("profile.inspector", "the inspector cannot be spoken to: {what}", what), remedy())
        };
        let list: Value = serde_json::from_slice(list).map_err(|error| strange(error.to_string()))?;
        let id = list.pointer("/0/id").and_then(Value::as_str).unwrap_or_default();
        let stream = TcpStream::connect_timeout(&at, Duration::from_secs(2))
            .map_err(|error| strange(error.to_string()))?;
        stream
            .set_read_timeout(Some(SLACK))
            .and_then(|()| stream.set_write_timeout(Some(SLACK)))
            .map_err(|error| strange(error.to_string()))?;
        let config =
            WebSocketConfig::default().max_message_size(Some(BYTES_MAX)).max_frame_size(Some(BYTES_MAX));
        let (socket, _) = client_with_config(format!("ws://{at}/{id}"), stream, Some(config))
            .map_err(|error| strange(error.to_string()))?;
        Ok(Self { socket, id: 0 })
    }

    /// Calls a method and waits for its result; events in between are passed over.
    fn call(&mut self, method: &str, params: Value) -> Result<Value, No> {
        let strange = |what: Said| {
            No::new(
                said!("profile.inspector_call", "{method} of the inspector: {what}", method, what),
                take_again(),
            )
        };
        self.id += 1;
        let call = json!({"id": self.id, "method": method, "params": params}).to_string();
        self.socket.send(Message::text(call)).map_err(|error| strange(error.to_string().into()))?;
        let until = Instant::now() + SLACK;
        while Instant::now() < until {
            let message = self.socket.read().map_err(|error| strange(error.to_string().into()))?;
            let Message::Text(text) = message else { continue };
            let mut answer: Value =
                serde_json::from_str(&text).map_err(|error| strange(error.to_string().into()))?;
            if answer.get("id").and_then(Value::as_u64) != Some(self.id) {
                continue;
            }
            return match answer.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => Err(strange(crate::folded::clean(&answer.to_string()).into())),
            };
        }
        Err(strange(said!("profile.no_answer", "no answer in time")))
    }
}
