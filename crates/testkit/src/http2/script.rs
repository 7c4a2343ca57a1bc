//! What a scripted server of HTTP/2 may do, and what it counts.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// A server that hangs fails its test, which takes milliseconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// One thing to do on a connection.
#[derive(Clone, Debug)]
pub enum Act {
    /// Send SETTINGS with these entries, and acknowledge the client's.
    Settings(Vec<(u16, u32)>),
    /// Read until so many more requests have begun.
    Await(usize),
    /// Answer so many of the oldest requests that were read: 200 without a body.
    Answer(usize),
    /// Reset the oldest request that was read with this code.
    Reset(u32),
    /// Leave, with this code, after the first so many requests of the connection.
    Goaway {
        /// Requests that are still answered.
        taken: u32,
        /// Error code.
        code: u32,
    },
    /// Wait until so many connections were accepted in all.
    AwaitConnections(u64),
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send these bytes again and again, until the client closes.
    Flood(Vec<u8>),
    /// Answer this many requests, each at once.
    ServeSome(usize),
    /// Do nothing for this long: a delay that is part of what is played.
    Pause(Duration),
    /// Again and again: read until so many requests are open, wait, and answer all of them; until the client closes.
    ServeWaves {
        /// Requests of a wave.
        size: usize,
        /// From the last of them to the answers.
        delay: Duration,
    },
    /// As [`Act::Serve`], at the far end of a path with this round trip: windows are given back, and requests answered, so
    /// long after what they follow.
    ServeFar(Duration),
    /// Answer every request at once, and give back windows, until the client closes.
    Serve,
    /// Answer every request, once it is read, with these frames, made for its stream; until the client closes.
    ServeFrames(fn(u32) -> Vec<u8>),
    /// Talk so on every stream, as a server of gRPC, until the client closes.
    Talk(Talk),
    /// Close the sending direction only.
    HalfClose,
    /// Read until the client closes.
    Hold,
}

/// What is done with the messages of each stream.
#[derive(Clone, Copy, Debug)]
pub enum Talk {
    /// Answers each message with itself, and ends with the request.
    Echo,
    /// Sends so many messages once the request has ended.
    Sends(u32),
    /// Answers with one message once the request has ended.
    Collects,
    /// Reads, and says nothing.
    Silent,
    /// Answers the first message byte by byte, with such a pause before each; reads nothing meanwhile.
    Drips(Duration),
    /// As [`Talk::Echo`], but resets the stream at the message after so many.
    ResetsAfter(u32),
    /// Answers the first message with one that says that it is longer than 4 MiB.
    TooLong,
    /// As [`Talk::Echo`], but ends without trailers.
    NoTrailers,
}

/// What it counted.
#[derive(Debug, Default)]
pub struct Seen {
    /// Connections that were accepted.
    pub connections: AtomicU64,
    /// Requests that were begun.
    pub requests: AtomicU64,
    /// Streams that the client gave up.
    pub cancels: AtomicU64,
    /// Messages of streams that came ([`Act::Talk`]).
    pub messages: AtomicU64,
    /// Messages that were sent in full.
    pub said: AtomicU64,
    /// GOAWAY frames of the client.
    pub goaways: AtomicU64,
    /// PING frames of the client, which only answers.
    pub pongs: AtomicU64,
    /// The window of each answer that a client offered last; 0 where it said nothing.
    pub window: AtomicU64,
    /// By how much a client widened a connection's window first.
    pub widened: AtomicU64,
    /// GOAWAY frames that were sent.
    pub left: AtomicU64,
    /// When each answer was sent, in order over all connections.
    pub answers: Mutex<Vec<Instant>>,
    /// How long each [`Act::Pause`] really was.
    pub pauses: Mutex<Vec<Duration>>,
}
