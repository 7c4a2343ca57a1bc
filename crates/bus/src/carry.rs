//! One stream: what a socket says goes out in numbered pieces, and what comes in is written to it.
//!
//! Invariants: pieces are written in order and none twice; a gap ends the stream and is never passed over. At most
//! [`WINDOW`] pieces are under way, so an end that does not read holds the other back and fills no memory, here or in the
//! server. Either direction goes on while the other waits. However a stream ends, the other end hears it if the bus is
//! there.

use crate::client::Cuts;
use crate::frame::{Frame, PIECE_BYTES};
use async_nats::connection::State;
use async_nats::{Client, PublishError, Subscriber};
use futures_util::StreamExt as _;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

/// Pieces under way in one direction.
const WINDOW: u64 = 64;
/// Pieces after which the other end learns that they were taken.
const TAKEN_EACH: u64 = WINDOW / 4;
/// Time for the last word.
const LAST_WORD_MAX: Duration = Duration::from_secs(1);

/// The bus's side of a stream.
pub(crate) struct Way {
    pub(crate) client: Client,
    /// Subject of what goes out.
    pub(crate) out: String,
    pub(crate) incoming: Subscriber,
    pub(crate) cuts: Cuts,
}

/// Why a stream ended before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the socket: {0}")]
    Socket(#[from] io::Error),
    #[error("the bus: {0}")]
    Bus(#[from] PublishError),
    #[error("piece {came} came where {expected} was expected")]
    Gap { expected: u64, came: u64 },
    #[error("a message is no piece of a stream")]
    Garbled,
    #[error("the bus was away")]
    Away,
}

/// Carries bytes in both directions until an end closes or something is lost.
pub(crate) async fn carry(way: Way, socket: TcpStream) -> Result<(), Broken> {
    let Way { client, out, incoming, mut cuts } = way;
    let (reader, writer) = socket.into_split();
    let (taken, taken_seen) = watch::channel(0);
    let done = tokio::select! {
        done = send(&client, &out, reader, taken_seen) => done,
        done = receive(&client, &out, incoming, writer, &taken) => done,
        _ = cuts.changed() => Err(Broken::Away),
    };
    // Over a bus that is away nobody hears it, and the other end has noticed.
    if client.connection_state() == State::Connected {
        let last_word = async {
            let _ = client.publish(out.clone(), Frame::Over.to_bytes()).await;
            let _ = client.flush().await;
        };
        let _ = tokio::time::timeout(LAST_WORD_MAX, last_word).await;
    }
    done
}

async fn send(
    client: &Client,
    out: &str,
    mut reader: OwnedReadHalf,
    mut taken: watch::Receiver<u64>,
) -> Result<(), Broken> {
    let mut piece = vec![0; PIECE_BYTES];
    for number in 0.. {
        // The other half of this stream sends it, and lives as long.
        let _ = taken.wait_for(|taken| taken.saturating_add(WINDOW) > number).await;
        let length = reader.read(&mut piece).await?;
        if length == 0 {
            break;
        }
        client.publish(out.to_owned(), Frame::Data(number, &piece[..length]).to_bytes()).await?;
    }
    Ok(())
}

async fn receive(
    client: &Client,
    out: &str,
    mut incoming: Subscriber,
    mut writer: OwnedWriteHalf,
    taken: &watch::Sender<u64>,
) -> Result<(), Broken> {
    let mut expected = 0;
    while let Some(message) = incoming.next().await {
        match Frame::parse(&message.payload) {
            Some(Frame::Data(came, _)) if came != expected => return Err(Broken::Gap { expected, came }),
            Some(Frame::Data(_, piece)) => {
                writer.write_all(piece).await?;
                expected += 1;
                if expected % TAKEN_EACH == 0 {
                    client.publish(out.to_owned(), Frame::Taken(expected).to_bytes()).await?;
                }
            }
            Some(Frame::Taken(number)) => drop(taken.send_replace(number)),
            Some(Frame::Over) => return Ok(()),
            None => return Err(Broken::Garbled),
        }
    }
    Err(Broken::Away)
}
