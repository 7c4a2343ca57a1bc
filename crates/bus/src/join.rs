//! An agent's end: on the bus under its name, each stream that is asked for leads to its port.

use crate::carry::{Way, carry};
use crate::client::{Bus, Server, connect};
use crate::error::BusError;
use crate::{subject, thread};
use async_nats::Subscriber;
use futures_util::StreamExt as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Most streams of an agent: more than links and handshakes that it takes, so that the port decides who goes.
pub const STREAMS_MAX: usize = 256;
/// How long a stream waits for the end of another where there are so many.
const ROOM_MAX: Duration = Duration::from_secs(1);
/// Time for streams to end by themselves, and then to say that they are over.
const END_MAX: Duration = Duration::from_secs(2);

/// An agent's place on the bus; dropping it ends all its streams.
#[derive(Debug)]
pub struct Joined {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Joined {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Joins a bus: streams to the agent of this name lead to `port`. When the server goes, `say` gets a line.
///
/// # Errors
/// The server cannot be reached now. Later it is tried for as long as it takes.
pub fn join(
    server: Server,
    agent: &str,
    port: SocketAddr,
    say: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Joined, BusError> {
    let (stop, stopped) = oneshot::channel();
    let agent = agent.to_owned();
    let thread = thread::begin(
        async move || Member::enter(&server, agent, port, say).await,
        async |member| member.serve(stopped).await,
    )?;
    Ok(Joined { stop: Some(stop), thread: Some(thread) })
}

/// An agent on the bus.
struct Member {
    bus: Bus,
    agent: String,
    port: SocketAddr,
    asked: Subscriber,
    room: Arc<Semaphore>,
}

impl Member {
    async fn enter(
        server: &Server,
        agent: String,
        port: SocketAddr,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, BusError> {
        let bus = connect(server, say).await?;
        let refused = |cause: String| BusError::Unreachable { server: server.address.clone(), cause };
        // One of several agents of a name gets each stream, so that two never talk into one.
        let asked = bus.client.queue_subscribe(subject::open(&agent), "one".to_owned()).await;
        let asked = asked.map_err(|error| refused(error.to_string()))?;
        // From here on it can be asked.
        bus.client.flush().await.map_err(|error| refused(error.to_string()))?;
        let room = Arc::new(Semaphore::new(STREAMS_MAX));
        Ok(Self { bus, agent, port, asked, room })
    }

    async fn serve(mut self, mut stopped: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                asked = self.asked.next() => {
                    let Some(message) = asked else { break };
                    let answer = self.open(&message.payload).await.err().unwrap_or_default();
                    if let Some(reply) = message.reply {
                        // Who hears no answer asks again.
                        let _ = self.bus.client.publish(reply, answer.into()).await;
                    }
                }
            }
        }
        // What the agent said last is on its way, and who hears it ends the stream.
        let all_over = || tokio::time::timeout(END_MAX, self.room.acquire_many(STREAMS_MAX as u32));
        if all_over().await.is_err() {
            self.bus.cuts.send_modify(|times| *times += 1);
            let _ = all_over().await;
        }
    }

    /// Opens the stream that is asked for; why not, in words for its controller.
    async fn open(&self, stream: &[u8]) -> Result<(), String> {
        let stream = std::str::from_utf8(stream).ok().filter(|text| subject::is_stream(text));
        let cuts = self.bus.cuts.subscribe();
        let stream = stream.ok_or("what names the stream is no name")?;
        let place = tokio::time::timeout(ROOM_MAX, self.room.clone().acquire_owned()).await;
        let place = place.ok().and_then(Result::ok);
        let place = place.ok_or_else(|| format!("it has {STREAMS_MAX} streams already"))?;
        let text = |error: io::Error| error.to_string();
        let socket = TcpStream::connect(self.port).await.map_err(text)?;
        socket.set_nodelay(true).map_err(text)?;
        let client = self.bus.client.clone();
        let incoming = client.subscribe(subject::to_agent(&self.agent, stream)).await;
        let incoming = incoming.map_err(|error| error.to_string())?;
        let out = subject::to_controller(&self.agent, stream);
        let way = Way { client, out, incoming, cuts };
        tokio::spawn(carry_in(way, socket, place));
        Ok(())
    }
}

/// A stream that keeps its place until it is over.
async fn carry_in(way: Way, socket: TcpStream, place: OwnedSemaphorePermit) {
    // Both ends of it see that it ended.
    let _ = carry(way, socket).await;
    drop(place);
}
