//! A server of HTTP/2 that shares no code with prony (the crate `h2`), and what it counted.

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http::{Request, Response};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// What the server does.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Streams of a connection that it allows at a time.
    pub(crate) streams_max: u32,
    /// Its windows.
    pub(crate) window: u32,
    /// It leaves a connection in good order after so many requests.
    pub(crate) leaves_after: Option<u64>,
    /// Each so many-th request is reset with this code.
    pub(crate) resets: Option<(u64, Reason)>,
    /// Interim answers before each final one.
    pub(crate) interim: bool,
    /// The body of each answer.
    pub(crate) body: Vec<u8>,
    /// What it does with the n-th request, counted from 1, in place of all that.
    pub(crate) script: Option<fn(u64) -> Reply>,
    /// The answer to a method and path.
    pub(crate) routes: Option<Routes>,
    /// What it does with the messages of each stream, in place of all that.
    pub(crate) talk: Option<Talk>,
}

/// What a server does with the messages of a stream of gRPC.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Talk {
    /// Answers each message with itself, and ends with the request.
    Echo,
    /// Sends so many messages once the request has ended.
    Sends(u32),
    /// Answers with one message once the request has ended.
    Collects,
    /// As [`Talk::Echo`], but ends well after so many messages, whatever still comes.
    EndsAfter(u32),
    /// As [`Talk::Echo`], but resets the stream at the message after so many.
    ResetsAfter(u32),
    /// Reads and says nothing.
    Silent,
    /// Sends messages for as long as the stream lasts.
    Endless,
    /// Answers the first message with one that is longer than it says, and ends.
    Cut,
    /// Answers each message twice.
    Twice,
}

/// An answer written by hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(&'static str, &'static str)>,
    /// The body, in the pieces in which it is sent.
    pub(crate) body: Vec<Vec<u8>>,
    pub(crate) trailers: Vec<(&'static str, &'static str)>,
    /// The answer ends with its header section.
    pub(crate) is_bare: bool,
    /// The answer never ends.
    pub(crate) is_open: bool,
    /// The last piece comes again and again, until the stream ends.
    pub(crate) is_endless: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            streams_max: 1000,
            window: 65_535,
            leaves_after: None,
            resets: None,
            interim: false,
            body: b"ok".to_vec(),
            script: None,
            routes: None,
            talk: None,
        }
    }
}

/// Answers by method and path.
pub(crate) type Routes = fn(&str, &str) -> Reply;

/// What it counted.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) answers: AtomicU64,
    pub(crate) resets: AtomicU64,
    /// Bytes of requests' bodies.
    pub(crate) body_bytes: AtomicU64,
    /// Messages that came and that were sent on streams.
    pub(crate) messages: AtomicU64,
    pub(crate) said: AtomicU64,
    /// Header fields and body of the last request.
    pub(crate) last_fields: Mutex<http::HeaderMap>,
    pub(crate) last_body: Mutex<Vec<u8>>,
    /// The header `traceparent` of every request that has one.
    pub(crate) traces: Mutex<Vec<String>>,
    open: AtomicU64,
    /// Most requests at a time, of all connections.
    pub(crate) open_max: AtomicU64,
}

impl Seen {
    pub(crate) fn get(&self) -> [u64; 3] {
        [&self.requests, &self.answers, &self.resets].map(|count| count.load(SeqCst))
    }
}

/// A server that ends with this handle.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) seen: Arc<Seen>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(setup: Setup) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let addr = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let (stop, stopped) = oneshot::channel();
        let counts = seen.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                let accepting = tokio::spawn(accept(listener, setup, counts));
                let _ = stopped.await;
                accepting.abort();
            });
        });
        Self { addr, seen, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, setup: Setup, seen: Arc<Seen>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        seen.connections.fetch_add(1, SeqCst);
        let _ = socket.set_nodelay(true);
        connections.spawn(connection(socket, setup.clone(), seen.clone()));
    }
}

async fn connection(socket: TcpStream, setup: Setup, seen: Arc<Seen>) {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(setup.streams_max)
        .initial_window_size(setup.window)
        // Else many small messages that it has not read yet are a flood to it.
        .data_frame_budget(usize::MAX >> 1)
        .initial_connection_window_size(setup.window.max(65_535));
    let Ok(mut connection) = builder.handshake::<_, Bytes>(socket).await else { return };
    let mut requests = JoinSet::new();
    let mut count = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        count += 1;
        requests.spawn(serve(request, respond, setup.clone(), seen.clone()));
        if setup.leaves_after == Some(count) {
            connection.graceful_shutdown();
        }
        while requests.try_join_next().is_some() {}
    }
}

async fn serve(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    setup: Setup,
    seen: Arc<Seen>,
) {
    let number = seen.requests.fetch_add(1, SeqCst) + 1;
    let open = seen.open.fetch_add(1, SeqCst) + 1;
    seen.open_max.fetch_max(open, SeqCst);
    let trace = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    seen.traces.lock().unwrap().extend(trace.map(str::to_owned));
    if let Some(talk) = setup.talk {
        if converse(request.into_body(), &mut respond, talk, &seen).await.is_ok() {
            seen.answers.fetch_add(1, SeqCst);
        }
        seen.open.fetch_sub(1, SeqCst);
        return;
    }
    let is_head = request.method() == http::Method::HEAD;
    let (head, mut body) = request.into_parts();
    seen.last_fields.lock().unwrap().clone_from(&head.headers);
    let mut received = Vec::new();
    while let Some(Ok(data)) = body.data().await {
        let _ = body.flow_control().release_capacity(data.len());
        seen.body_bytes.fetch_add(data.len() as u64, SeqCst);
        received.extend_from_slice(&data);
    }
    *seen.last_body.lock().unwrap() = received;
    let written = (setup.script.map(|script| script(number)))
        .or_else(|| setup.routes.map(|routes| routes(head.method.as_str(), head.uri.path())));
    if let Some(written) = written {
        if reply(&mut respond, written).await.is_ok() {
            seen.answers.fetch_add(1, SeqCst);
        }
    } else if let Some((each, reason)) = setup.resets
        && number.is_multiple_of(each)
    {
        seen.resets.fetch_add(1, SeqCst);
        respond.send_reset(reason);
    } else if answer(&mut respond, &setup, is_head).await.is_ok() {
        seen.answers.fetch_add(1, SeqCst);
    }
    seen.open.fetch_sub(1, SeqCst);
}

async fn answer(respond: &mut SendResponse<Bytes>, setup: &Setup, is_head: bool) -> Result<(), h2::Error> {
    if setup.interim {
        respond.send_informational(Response::builder().status(103).body(()).unwrap())?;
    }
    let response = Response::builder().status(200).header("content-length", setup.body.len());
    let mut stream = respond.send_response(response.body(()).unwrap(), is_head)?;
    if is_head {
        return Ok(());
    }
    let mut rest = Bytes::from(setup.body.clone());
    while !rest.is_empty() {
        stream.reserve_capacity(rest.len());
        match poll_fn(|context| stream.poll_capacity(context)).await {
            Some(room) => {
                let part = rest.split_to(room?.min(rest.len()));
                stream.send_data(part, rest.is_empty())?;
            }
            None => return Err(Reason::CANCEL.into()),
        }
    }
    Ok(())
}

/// Sends an answer written by hand.
async fn reply(respond: &mut SendResponse<Bytes>, reply: Reply) -> Result<(), h2::Error> {
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.fields {
        response = response.header(name, value);
    }
    let mut stream = respond.send_response(response.body(()).unwrap(), reply.is_bare)?;
    if reply.is_bare {
        return Ok(());
    }
    let last = reply.body.last().cloned().unwrap_or_default();
    for piece in reply.body {
        send(&mut stream, piece).await?;
    }
    if reply.is_endless {
        loop {
            send(&mut stream, last.clone()).await?;
        }
    }
    if reply.is_open {
        let _ = poll_fn(|context| stream.poll_reset(context)).await;
        return Err(Reason::CANCEL.into());
    }
    let mut trailers = http::HeaderMap::new();
    for (name, value) in reply.trailers {
        trailers.append(name, http::HeaderValue::from_static(value));
    }
    if trailers.is_empty() { stream.send_data(Bytes::new(), true) } else { stream.send_trailers(trailers) }
}

/// Sends a piece of a body as the window allows.
async fn send(stream: &mut h2::SendStream<Bytes>, piece: Vec<u8>) -> Result<(), h2::Error> {
    let mut rest = Bytes::from(piece);
    while !rest.is_empty() {
        stream.reserve_capacity(rest.len());
        match poll_fn(|context| stream.poll_capacity(context)).await {
            Some(room) => {
                let part = rest.split_to(room?.min(rest.len()));
                stream.send_data(part, false)?;
            }
            None => return Err(Reason::CANCEL.into()),
        }
    }
    Ok(())
}

/// A message of three bytes with its prefix.
const SAID: &[u8] = b"\0\0\0\0\x03abc";

/// Reads the messages of a stream and says what `talk` asks for.
async fn converse(
    mut body: RecvStream,
    respond: &mut SendResponse<Bytes>,
    talk: Talk,
    seen: &Seen,
) -> Result<(), h2::Error> {
    let head = Response::builder().status(200).header("content-type", "application/grpc");
    let mut stream = respond.send_response(head.body(()).unwrap(), false)?;
    let say = async |stream: &mut h2::SendStream<Bytes>, message: &[u8]| {
        send(stream, message.to_vec()).await?;
        seen.said.fetch_add(1, SeqCst);
        Ok::<(), h2::Error>(())
    };
    let (mut received, mut count) = (Vec::new(), 0);
    while let Some(data) = body.data().await {
        let data = data?;
        let _ = body.flow_control().release_capacity(data.len());
        received.extend_from_slice(&data);
        while let Some(message) = next_message(&mut received) {
            count += 1;
            seen.messages.fetch_add(1, SeqCst);
            match talk {
                Talk::ResetsAfter(after) if count > after => {
                    seen.resets.fetch_add(1, SeqCst);
                    stream.send_reset(Reason::INTERNAL_ERROR);
                    return Err(Reason::INTERNAL_ERROR.into());
                }
                Talk::Echo | Talk::EndsAfter(_) | Talk::ResetsAfter(_) => say(&mut stream, &message).await?,
                Talk::Twice => {
                    say(&mut stream, &message).await?;
                    say(&mut stream, &message).await?;
                }
                Talk::Cut => {
                    send(&mut stream, b"\0\0\0\0\x09abc".to_vec()).await?;
                    return end_well(&mut stream);
                }
                Talk::Sends(_) | Talk::Collects | Talk::Silent | Talk::Endless => {}
            }
            if matches!(talk, Talk::EndsAfter(after) if count == after) {
                return end_well(&mut stream);
            }
        }
    }
    match talk {
        Talk::Sends(messages) => {
            for _ in 0..messages {
                say(&mut stream, SAID).await?;
            }
        }
        Talk::Collects => say(&mut stream, SAID).await?,
        Talk::Endless => loop {
            say(&mut stream, SAID).await?;
        },
        Talk::Silent => {
            let _ = poll_fn(|context| stream.poll_reset(context)).await;
            return Err(Reason::CANCEL.into());
        }
        Talk::Echo | Talk::EndsAfter(_) | Talk::ResetsAfter(_) | Talk::Cut | Talk::Twice => {}
    }
    end_well(&mut stream)
}

fn end_well(stream: &mut h2::SendStream<Bytes>) -> Result<(), h2::Error> {
    let mut trailers = http::HeaderMap::new();
    trailers.append("grpc-status", http::HeaderValue::from_static("0"));
    stream.send_trailers(trailers)
}

/// Takes the first whole message, with its prefix.
fn next_message(received: &mut Vec<u8>) -> Option<Vec<u8>> {
    let &[_, l0, l1, l2, l3] = received.first_chunk()?;
    let length = 5 + u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    (received.len() >= length).then(|| received.drain(..length).collect())
}
