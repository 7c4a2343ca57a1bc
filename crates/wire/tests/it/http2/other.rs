//! The codec against a server that shares no code with it: the crate `h2`. What each side sent is what the other saw.

use crate::http2::client::{Client, Event, request};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use wire::http2::{Config, Given, Put, Room, Windows};

/// More than all of a case needs, so that neither side waits for the other to read.
const PIPE_BYTES: usize = 8 << 20;
/// A case that hangs fails; it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

type Fields = Vec<(String, String)>;

/// A request and its answer.
#[derive(Clone, Debug)]
struct Exchange {
    method: &'static str,
    fields: Fields,
    body: Vec<u8>,
    chunk_bytes: usize,
    status: u16,
    interim: bool,
    answer_fields: Fields,
    answer_body: Vec<u8>,
    says_length: bool,
    trailers: Fields,
}

/// How both sides are set up.
#[derive(Clone, Debug)]
struct Setup {
    window: u32,
    streams_max: u32,
    table_bytes: u32,
    our_windows: Windows,
    our_table_bytes: u32,
    /// Bytes that are read at a time.
    read_bytes: usize,
}

fn header_map(fields: &Fields) -> HeaderMap {
    let parsed = |(name, value): &(String, String)| {
        (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
    };
    let mut map = HeaderMap::new();
    for (name, value) in fields.iter().map(parsed) {
        map.append(name, value);
    }
    map
}

/// In an order of their own: a map keeps that of equal names alone.
fn sorted(map: &HeaderMap) -> Fields {
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), value.to_str().unwrap().to_owned())
    };
    let mut fields: Fields = map.iter().map(text).collect();
    fields.sort();
    fields
}

/// Answers as the exchanges say, and returns what was seen: the number of each request and whether it was as it should be.
async fn serve(io: DuplexStream, setup: Setup, exchanges: Arc<Vec<Exchange>>) -> Vec<(usize, String)> {
    let mut builder = h2::server::Builder::new();
    builder
        .initial_window_size(setup.window)
        .max_concurrent_streams(setup.streams_max)
        .header_table_size(setup.table_bytes);
    let mut connection = builder.handshake::<_, Bytes>(io).await.unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    while let Some(accepted) = connection.accept().await {
        let Ok((request, respond)) = accepted else { break };
        let (seen, exchanges) = (seen.clone(), exchanges.clone());
        tasks.push(tokio::spawn(async move {
            let number: usize = request.uri().path()[1..].parse().unwrap();
            let wrong = answer(request, respond, &exchanges[number]).await;
            seen.lock().unwrap().push((number, wrong));
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let mut sorted = std::mem::take(&mut *seen.lock().unwrap());
    sorted.sort();
    sorted
}

/// What is wrong with the request; it is answered whatever that is, unless it was given up.
async fn answer(
    request: Request<h2::RecvStream>,
    respond: h2::server::SendResponse<Bytes>,
    exchange: &Exchange,
) -> String {
    let (parts, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(data)) = stream.data().await {
        stream.flow_control().release_capacity(data.len()).unwrap();
        body.extend(data);
    }
    let mut wanted = exchange.fields.clone();
    if exchange.chunk_bytes == 0 && (!body.is_empty() || exchange.method == "POST") {
        wanted.push(("content-length".to_owned(), exchange.body.len().to_string()));
    }
    wanted.sort();
    let is_right = parts.method == exchange.method
        && parts.uri.authority().is_some_and(|authority| authority == "h:1")
        && parts.uri.scheme_str() == Some("http")
        && sorted(&parts.headers) == wanted
        && body == exchange.body;
    let _ = reply(respond, exchange);
    if is_right { String::new() } else { format!("{parts:?} {body:?}, wanted: {exchange:?}") }
}

fn reply(mut respond: h2::server::SendResponse<Bytes>, exchange: &Exchange) -> Result<(), h2::Error> {
    if exchange.interim {
        respond.send_informational(Response::builder().status(103).body(()).unwrap())?;
    }
    let mut response = Response::builder().status(exchange.status).body(()).unwrap();
    *response.headers_mut() = header_map(&exchange.answer_fields);
    if exchange.says_length {
        response.headers_mut().insert("content-length", exchange.answer_body.len().into());
    }
    let is_bodiless = exchange.method == "HEAD" || exchange.status == 204;
    if is_bodiless || (exchange.answer_body.is_empty() && exchange.trailers.is_empty()) {
        return respond.send_response(response, true).map(|_| ());
    }
    let mut stream = respond.send_response(response, false)?;
    let has_trailers = !exchange.trailers.is_empty();
    stream.send_data(Bytes::from(exchange.answer_body.clone()), !has_trailers)?;
    if has_trailers { stream.send_trailers(header_map(&exchange.trailers)) } else { Ok(()) }
}

/// Sends all requests, as many at a time as there is room for, and returns what was shown of each.
async fn ask(mut io: DuplexStream, setup: &Setup, requests: &[Vec<u8>]) -> Vec<Vec<Event>> {
    let mut client = Client::fresh(Config {
        streams_max: 5,
        windows: setup.our_windows,
        table_bytes: setup.our_table_bytes,
        ..Config::default()
    });
    client.connection.hello(&mut client.out);
    let mut buffer = vec![0; setup.read_bytes];
    let mut next = 0;
    let mut ended = 0;
    while ended < requests.len() {
        while next < requests.len() && matches!(client.connection.room(), Room::Places(_)) {
            let put = client.put(next as u32, &requests[next]);
            assert!(matches!(put, Put::Whole | Put::Held), "{put:?}");
            next += 1;
        }
        while let Some(held) = client.connection.next_ready() {
            client.connection.go_on(held, &requests[held.place as usize], &mut client.out);
        }
        io.write_all(&client.out).await.unwrap();
        client.out.clear();
        client.connection.flushed();
        let length = io.read(&mut buffer).await.unwrap();
        assert!(length > 0, "the server went away: {:?}", client.seen.events);
        client.take(&buffer[..length]).unwrap_or_else(|fault| panic!("{fault}: {:?}", client.seen.events));
        ended = client.seen.events.iter().filter(|event| matches!(event, Event::Done(_))).count();
    }
    client.connection.leave(&mut client.out);
    io.write_all(&client.out).await.unwrap();
    by_place(client.seen.events, requests.len())
}

fn by_place(events: Vec<Event>, count: usize) -> Vec<Vec<Event>> {
    let mut shown = vec![Vec::new(); count];
    for event in events {
        let place = match &event {
            Event::Head(place, ..) | Event::Again(place, ..) | Event::Body(place, _) => *place,
            Event::Trailers(place, _) | Event::Done(place) => *place,
            Event::Settings(_) | Event::Room => continue,
            other => panic!("{other:?}"),
        };
        let of_place: &mut Vec<Event> = &mut shown[place as usize];
        match (of_place.last_mut(), event) {
            (Some(Event::Body(_, body)), Event::Body(_, more)) => body.extend(more),
            (_, event) => of_place.push(event),
        }
    }
    shown
}

/// What has to be shown of an answer.
fn wanted(place: u32, exchange: &Exchange) -> Vec<Event> {
    let mut fields = exchange.answer_fields.clone();
    if exchange.says_length {
        fields.push(("content-length".to_owned(), exchange.answer_body.len().to_string()));
    }
    fields.sort();
    let mut events = vec![Event::Head(place, exchange.status, fields)];
    let is_bodiless = exchange.method == "HEAD" || exchange.status == 204;
    if !is_bodiless && !exchange.answer_body.is_empty() {
        events.push(Event::Body(place, exchange.answer_body.clone()));
    }
    if !is_bodiless && !exchange.trailers.is_empty() {
        let mut trailers = exchange.trailers.clone();
        trailers.sort();
        events.push(Event::Trailers(place, trailers));
    }
    events.push(Event::Done(place));
    events
}

fn in_order(mut events: Vec<Event>) -> Vec<Event> {
    for event in &mut events {
        if let Event::Head(_, _, fields) | Event::Trailers(_, fields) = event {
            fields.sort();
        }
    }
    events
}

fn check(setup: &Setup, exchanges: Vec<Exchange>) {
    let requests: Vec<Vec<u8>> = exchanges
        .iter()
        .enumerate()
        .map(|(number, exchange)| {
            let fields: Vec<_> =
                exchange.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            request(exchange.method, &format!("/{number}"), &fields, &exchange.body, exchange.chunk_bytes)
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let exchanges = Arc::new(exchanges);
    let (ours, theirs) = duplex(PIPE_BYTES);
    let served = exchanges.clone();
    let (shown, seen) = runtime.block_on(async {
        let server = tokio::spawn(serve(theirs, setup.clone(), served));
        let both = async { (ask(ours, setup, &requests).await, server.await.unwrap()) };
        tokio::time::timeout(PATIENCE, both).await.expect("both sides wait for each other")
    });
    let right: Vec<_> = (0..exchanges.len()).map(|number| (number, String::new())).collect();
    assert_eq!(seen, right);
    for (place, (events, exchange)) in shown.into_iter().zip(exchanges.iter()).enumerate() {
        assert_eq!(in_order(events), wanted(place as u32, exchange));
    }
}

fn fields() -> impl Strategy<Value = Fields> {
    let name = prop_oneof![
        prop::sample::select(vec!["accept", "x-a", "x-b", "user-agent"]).prop_map(str::to_owned),
        "x-[a-z]{1,12}",
    ];
    let value = prop_oneof![Just("same".to_owned()), "[!-~]{0,30}", "[!-~]{1,10} [!-~]{1,60}"];
    prop::collection::vec((name, value), 0..5)
}

fn some_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => Just(vec![]),
        3 => prop::collection::vec(any::<u8>(), 1..40),
        1 => (1_usize..150_000, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
    ]
}

fn exchange() -> impl Strategy<Value = Exchange> {
    let request = (
        prop::sample::select(vec!["GET", "POST", "HEAD"]),
        fields(),
        some_bytes(),
        prop_oneof![Just(0), 1000_usize..9000],
    );
    let status = prop::sample::select(vec![200_u16, 204, 404, 500, 299]);
    let answer = (status, any::<bool>(), fields(), some_bytes(), any::<bool>(), fields());
    (request, answer).prop_map(|((method, fields, body, chunk_bytes), answer)| {
        let (status, interim, answer_fields, answer_body, says_length, trailers) = answer;
        let says_length = says_length && status != 204;
        Exchange {
            method,
            fields,
            body: if method == "POST" { body } else { vec![] },
            chunk_bytes,
            status,
            interim,
            answer_fields,
            answer_body,
            says_length,
            trailers,
        }
    })
}

fn setup() -> impl Strategy<Value = Setup> {
    let windows =
        prop_oneof![Just(Windows::DEFAULT), Just(Windows::of_bits(30, 30)), Just(Windows::of_bits(12, 20))];
    let table = prop::sample::select(vec![0_u32, 100, 4096, 65_536]);
    let read_bytes = prop::sample::select(vec![1_usize, 7, 100, 16_384]);
    (
        prop::sample::select(vec![100_u32, 65_535, 1 << 20]),
        1_u32..8,
        table.clone(),
        windows,
        table,
        read_bytes,
    )
        .prop_map(|(window, streams_max, table_bytes, our_windows, our_table_bytes, read_bytes)| Setup {
            window,
            streams_max,
            table_bytes,
            our_windows,
            our_table_bytes,
            read_bytes,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn another_server_sees_and_says_the_same(setup in setup(), exchanges in prop::collection::vec(exchange(), 1..16)) {
        check(&setup, exchanges);
    }
}

#[test]
fn streams_that_are_given_up_do_not_disturb_the_others() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (mut io, theirs) = duplex(PIPE_BYTES);
    let exchange = Exchange {
        method: "GET",
        fields: vec![("x-a".to_owned(), "b".to_owned())],
        body: vec![],
        chunk_bytes: 0,
        status: 200,
        interim: false,
        answer_fields: vec![("server".to_owned(), "h2".to_owned())],
        answer_body: vec![b'x'; 10_000],
        says_length: true,
        trailers: vec![],
    };
    let setup = Setup {
        window: 65_535,
        streams_max: 5,
        table_bytes: 4096,
        our_windows: Windows::DEFAULT,
        our_table_bytes: 4096,
        read_bytes: 0,
    };
    let rounds = async {
        let server = tokio::spawn(serve(theirs, setup, Arc::new(vec![exchange])));
        let mut client = Client::fresh(Config { streams_max: 5, ..Config::default() });
        client.connection.hello(&mut client.out);
        let request = request("GET", "/0", &[("x-a", "b")], b"", 0);
        let mut buffer = vec![0; 5_000];
        let mut done = 0;
        for round in 0..1000 {
            if matches!(client.connection.room(), Room::Places(_)) {
                client.put(round, &request);
            }
            // Now and then the answer of the last is not waited for.
            if round % 7 == 0 && client.connection.cancel(round, &mut client.out) == Given::Stream {
                client.connection.tick();
            }
            io.write_all(&client.out).await.unwrap();
            client.out.clear();
            client.connection.flushed();
            let length = io.read(&mut buffer).await.unwrap();
            client.take(&buffer[..length]).unwrap();
            done += client.seen.events.iter().filter(|event| matches!(event, Event::Done(_))).count();
            let broken =
                client.seen.events.iter().find(|event| matches!(event, Event::Broken(..) | Event::Reset(..)));
            assert_eq!(broken, None);
            client.seen.events.clear();
        }
        drop(io);
        server.await.unwrap();
        done
    };
    let done = runtime.block_on(async { tokio::time::timeout(PATIENCE, rounds).await.unwrap() });
    assert!(done > 100, "{done}");
}
