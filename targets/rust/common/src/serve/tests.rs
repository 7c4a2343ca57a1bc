//! Tests over loopback sockets: what a client sees of keep-alive, of limits and of the stop.
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::*;
use crate::settings::Reader;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
/// Far beyond what any step takes; a test that waits so long has failed.
const LIMIT: Duration = Duration::from_secs(20);

struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), ServeError>>,
    /// A request has arrived.
    arrived: Arc<Notify>,
    /// Lets it be answered.
    go_on: Arc<Notify>,
}

async fn start(variables: &'static [(&str, &str)]) -> Server {
    let lookup =
        |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let mut reader = Reader::new(&lookup);
    let settings = Settings::read(&mut reader);
    let settings = reader.finish(settings).unwrap();
    let listener = listen("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (arrived.clone(), go_on.clone());
    let ended = tokio::spawn(async move {
        let service = service_fn(move |_: Request<Incoming>| {
            let (tell, wait) = (tell.clone(), wait.clone());
            async move {
                tell.notify_one();
                wait.notified().await;
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"done"))))
            }
        });
        serve(listener, service, &settings, async { stopped.await.unwrap() }).await
    });
    Server { address, stop, ended, arrived, go_on }
}

async fn limited<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("in time")
}

async fn rest(client: &mut TcpStream) -> String {
    let mut text = String::new();
    limited(client.read_to_string(&mut text)).await.unwrap();
    text
}

/// One answer, as far as its body.
async fn answer(client: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\ndone") {
        bytes.push(limited(client.read_u8()).await.unwrap());
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn a_stop_answers_what_is_in_flight_and_frees_the_port() {
    let server = start(&[]).await;
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    limited(server.arrived.notified()).await;
    server.stop.send(()).unwrap();
    // The connection without a request ends at once, before the other is answered.
    assert_eq!(rest(&mut idle).await, "");
    server.go_on.notify_one();
    let text = rest(&mut client).await;
    assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("done"), "{text}");
    limited(server.ended).await.unwrap().unwrap();
    listen(&server.address.to_string()).await.unwrap();
}

#[tokio::test]
async fn a_connection_serves_again_unless_keepalive_is_off() {
    for (variables, kept) in [(&[][..], true), (&[("KEEPALIVE", "false")][..], false)] {
        let server = start(variables).await;
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(REQUEST).await.unwrap();
        server.go_on.notify_one();
        let first = answer(&mut client).await;
        assert_eq!(!first.contains("connection: close"), kept, "{first}");
        if kept {
            client.write_all(REQUEST).await.unwrap();
            server.go_on.notify_one();
            answer(&mut client).await;
        } else {
            assert_eq!(rest(&mut client).await, "");
        }
        server.stop.send(()).unwrap();
        limited(server.ended).await.unwrap().unwrap();
    }
}

/// The preface of RFC 9113 §3.4 and an empty SETTINGS.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[tokio::test]
async fn http2_is_taken_only_where_it_is_asked_for_and_http_1_1_always() {
    for (variables, is_taken) in [(&[][..], false), (&[("HTTP2", "true")][..], true)] {
        let server = start(variables).await;
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(HTTP2).await.unwrap();
        let mut begin = [0; 9];
        // Without HTTP/2 the connection may also end with no word.
        let got = limited(client.read_exact(&mut begin)).await;
        // Its SETTINGS come first, of kind 4.
        assert_eq!(got.is_ok() && begin[3] == 4, is_taken, "{begin:?}");
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(REQUEST).await.unwrap();
        server.go_on.notify_one();
        assert!(answer(&mut client).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_time() {
    let server = start(&[("KEEPALIVE_TIMEOUT", "20ms")]).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    server.go_on.notify_one();
    answer(&mut client).await;
    assert_eq!(rest(&mut client).await, "");
}

#[tokio::test]
async fn a_header_that_is_too_long_is_refused() {
    let server = start(&[]).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(HEADER_BYTES_MAX));
    // The server may close while the client still writes.
    let _ = client.write_all(long.as_bytes()).await;
    let mut start = [0; 12];
    limited(client.read_exact(&mut start)).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 431");
}

#[tokio::test]
async fn an_address_that_cannot_be_had_is_told() {
    let first = listen("127.0.0.1:0").await.unwrap();
    let taken = listen(&first.local_addr().unwrap().to_string()).await.unwrap_err();
    assert!(matches!(taken, ServeError::Taken(_)), "{taken}");
    for address in ["192.0.2.1:1", "no port", "127.0.0.1:99999"] {
        let error = listen(address).await.unwrap_err().to_string();
        assert!(error.contains(address) && error.contains("LISTEN"), "{error}");
    }
}
