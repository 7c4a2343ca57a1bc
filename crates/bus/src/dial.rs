//! A controller's end: a stream to an agent by its name.

use crate::carry::{Way, carry};
use crate::client::{Server, connect};
use crate::error::BusError;
use crate::{subject, thread};
use async_nats::RequestErrorKind;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time for an agent to take a stream.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Time for what was written last to leave.
const END_MAX: Duration = Duration::from_secs(2);
const END_POLL: Duration = Duration::from_millis(5);

/// A stream that a thread carries over the bus. Dropping it ends the stream, once what was written has left.
#[derive(Debug)]
pub struct Dialled {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl Dialled {
    /// This end.
    #[must_use]
    pub const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Ends the stream in both directions; what was written before still leaves.
    pub fn shut_down(&self) {
        // Changes nothing for one that has ended.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Drop for Dialled {
    fn drop(&mut self) {
        self.shut_down();
        let since = Instant::now();
        while !self.thread.is_finished() && since.elapsed() < END_MAX {
            std::thread::sleep(END_POLL);
        }
    }
}

/// A stream to the agent of this name over the server; it ends for both when one end closes, or when the bus loses
/// something.
///
/// # Errors
/// The server cannot be reached, nobody has joined under the name, or it takes no stream.
pub fn dial(server: Server, agent: &str) -> Result<Dialled, BusError> {
    let (near, far) = pair()?;
    let agent = agent.to_owned();
    let thread = thread::begin(
        async move || Ok((open(&server, &agent).await?, tokio_stream(far)?)),
        // Whoever reads the stream sees that it ended, and what it was for decides what that means.
        async |(way, far)| drop(carry(way, far).await),
    )?;
    Ok(Dialled { stream: near, thread })
}

async fn open(server: &Server, agent: &str) -> Result<Way, BusError> {
    let bus = connect(server, |_| ()).await?;
    let cuts = bus.cuts.subscribe();
    let inbox = bus.client.new_inbox();
    let stream = inbox.rsplit('.').next().unwrap_or(&inbox).to_owned();
    let address = &server.address;
    let refused =
        |cause: String| BusError::Refused { server: address.clone(), agent: agent.to_owned(), cause };
    let incoming = bus.client.subscribe(subject::to_controller(agent, &stream)).await;
    let incoming = incoming.map_err(|error| refused(error.to_string()))?;
    let asked = bus.client.request(subject::open(agent), stream.clone().into());
    let late = || refused(format!("it did not answer within {} s", ANSWER_MAX.as_secs()));
    let answer = tokio::time::timeout(ANSWER_MAX, asked).await.map_err(|_| late())?;
    let answer = answer.map_err(|error| match error.kind() {
        RequestErrorKind::NoResponders => {
            BusError::Nobody { server: address.clone(), agent: agent.to_owned() }
        }
        RequestErrorKind::TimedOut => late(),
        _ => refused(error.to_string()),
    })?;
    if !answer.payload.is_empty() {
        let cause = String::from_utf8_lossy(&answer.payload);
        return Err(refused(cause.chars().filter(|c| !c.is_control()).take(200).collect()));
    }
    let out = subject::to_agent(agent, &stream);
    Ok(Way { client: bus.client, out, incoming, cuts })
}

/// Both ends of a stream over loopback.
fn pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let own = near.local_addr()?;
    // Somebody else of this host may have been faster.
    let far = loop {
        let (far, from) = listener.accept()?;
        if from == own {
            break far;
        }
    };
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((near, far))
}

fn tokio_stream(socket: TcpStream) -> io::Result<tokio::net::TcpStream> {
    socket.set_nonblocking(true)?;
    tokio::net::TcpStream::from_std(socket)
}
