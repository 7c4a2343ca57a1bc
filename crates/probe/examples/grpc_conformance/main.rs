//! The client under test of the conformance suite of gRPC by connectrpc.com: calls over prony's own framing of HTTP/2 and
//! gRPC, one after the other, as its runner asks for them on standard input.
//!
//! `cargo test -p prony --test it conformance -- --ignored` runs the suite. Absent on purpose: other protocols of the suite,
//! TLS, and calls that the client gives up, which a load does by time-outs alone.

mod call;
mod protobuf;

use call::{Asked, CallError, Outcome};
use protobuf::{Value, fields, put_bytes, put_number};
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};

/// `ClientCompatRequest.test_name` and `.response` of the answer to it.
const NAME: u64 = 1;
const RESPONSE: u64 = 2;

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut length = [0; 4];
    while input.read_exact(&mut length).is_ok() {
        let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
        input.read_exact(&mut bytes)?;
        let asked = Asked::read(&bytes).ok_or(io::ErrorKind::InvalidData)?;
        let mut answer = Vec::new();
        put_bytes(NAME, &asked.name, &mut answer);
        put_bytes(RESPONSE, &response(&asked.call()), &mut answer);
        output.write_all(&(answer.len() as u32).to_be_bytes())?;
        output.write_all(&answer)?;
        output.flush()?;
    }
    Ok(())
}

/// `ClientResponseResult`.
fn response(outcome: &Outcome) -> Vec<u8> {
    let mut out = Vec::new();
    put_headers(1, &outcome.headers, &mut out);
    for message in &outcome.messages {
        // Every response of the service has its payload in field 1; an empty one leaves it out.
        let fields = fields(message).unwrap_or_default();
        let payload = fields.into_iter().find_map(|(field, value)| match (field, value) {
            (1, Value::Bytes(payload)) => Some(payload),
            _ => None,
        });
        put_bytes(2, payload.unwrap_or_default(), &mut out);
    }
    if let Some(error) = &outcome.error {
        put_bytes(3, &error_message(error), &mut out);
    }
    put_headers(4, &outcome.trailers, &mut out);
    if outcome.http_status > 0 {
        put_number(6, outcome.http_status, &mut out);
    }
    out
}

/// `Header`: each name with all of its values.
fn put_headers(field: u64, headers: &[(String, String)], out: &mut Vec<u8>) {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in headers {
        by_name.entry(name).or_default().push(value);
    }
    for (name, values) in by_name {
        let mut header = Vec::new();
        put_bytes(1, name.as_bytes(), &mut header);
        values.iter().for_each(|value| put_bytes(2, value.as_bytes(), &mut header));
        put_bytes(field, &header, out);
    }
}

/// `Error`.
fn error_message(error: &CallError) -> Vec<u8> {
    let mut out = Vec::new();
    put_number(1, u64::from(error.code.number()), &mut out);
    put_bytes(2, error.words.as_bytes(), &mut out);
    error.details.iter().for_each(|detail| put_bytes(3, detail, &mut out));
    out
}
