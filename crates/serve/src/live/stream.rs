//! A viewer's stream of events.
//!
//! Invariant: a viewer has a short queue of its own, and a stream that is silent sends a comment, so that both ends see a
//! break.

use super::frame::Frame;
use super::hub::Followed;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

const SILENCE_MAX: Duration = Duration::from_secs(10);
/// A viewer that takes nothing for so long is gone.
const TAKES_NOTHING_MAX: Duration = Duration::from_secs(60);
const QUEUE: usize = 16;

/// The answer to a viewer.
pub(crate) fn stream(followed: Arc<Followed>) -> Response {
    let (send, receive) = mpsc::channel(QUEUE);
    tokio::spawn(forward(followed, send));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Proxies that collect answers would hold events back.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(Received(receive))).into_response()
}

/// Brings events to one viewer until the run ends or the viewer leaves.
async fn forward(followed: Arc<Followed>, send: mpsc::Sender<Frame>) {
    let (mut beginning, mut frames) = followed.join();
    loop {
        for frame in std::mem::take(&mut beginning.first) {
            if !deliver(&send, frame).await {
                return;
            }
        }
        if beginning.has_ended {
            return;
        }
        match tokio::time::timeout(SILENCE_MAX, frames.recv()).await {
            Ok(Ok(frame)) => {
                beginning.has_ended = frame.starts_with(b"event: end\n");
                beginning.first.push(frame);
            }
            Ok(Err(RecvError::Lagged(_))) => (beginning, frames) = followed.join(),
            Ok(Err(RecvError::Closed)) => return,
            Err(_) => beginning.first.push(Bytes::from_static(b": still there\n\n")),
        }
    }
}

async fn deliver(send: &mpsc::Sender<Frame>, frame: Frame) -> bool {
    matches!(tokio::time::timeout(TAKES_NOTHING_MAX, send.send(frame)).await, Ok(Ok(())))
}

/// What comes out of a queue, as a body.
pub(crate) struct Received<T>(pub(crate) mpsc::Receiver<T>);

impl Stream for Received<Bytes> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|frame| frame.map(Ok))
    }
}

impl Stream for Received<std::io::Result<Bytes>> {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
