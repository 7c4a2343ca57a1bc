//! `nginx.status`: the page of nginx's stub_status.
//!
//! | key | kind | in the answer |
//! |---|---|---|
//! | `active` | gauge | `Active connections`, those of readings included |
//! | `reading`, `writing`, `waiting` | gauge | `Reading`, `Writing`, `Waiting` (idle, kept alive) |
//! | `accepted`, `handled`, `requests` | delta | the three numbers below `server accepts handled requests` |
//!
//! `handled` below `accepted` means that nginx closed connections at once, for want of `worker_connections`.

use crate::error::ParseError;
use crate::reading::Reading;
use crate::text::{number, utf8};

/// Name of the source.
pub const NAME: &str = "nginx.status";

/// Parses the page.
///
/// # Errors
/// It is not that of stub_status.
pub fn parse(body: &[u8]) -> Result<Reading, ParseError> {
    let mut words = utf8(body)?.split_ascii_whitespace();
    let mut reading = Reading::default();
    expect(&mut words, &["Active", "connections:"])?;
    reading.gauges.insert("active", gauge(&mut words)?);
    expect(&mut words, &["server", "accepts", "handled", "requests"])?;
    for name in ["accepted", "handled", "requests"] {
        let word = words.next().ok_or(ParseError::Missing("a count"))?;
        reading.counters.insert(name, number(name, word)?);
    }
    for (label, name) in [("Reading:", "reading"), ("Writing:", "writing"), ("Waiting:", "waiting")] {
        expect(&mut words, &[label])?;
        reading.gauges.insert(name, gauge(&mut words)?);
    }
    Ok(reading)
}

fn expect<'a>(words: &mut impl Iterator<Item = &'a str>, labels: &[&'static str]) -> Result<(), ParseError> {
    labels.iter().try_for_each(|label| match words.next() {
        Some(word) if word == *label => Ok(()),
        _ => Err(ParseError::Missing(label)),
    })
}

fn gauge<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<f64, ParseError> {
    let word = words.next().ok_or(ParseError::Missing("a number of connections"))?;
    Ok(f64::from(number::<u32>("connections", word)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: &[u8] = include_bytes!("../../fixtures/php/nginx.txt");

    #[test]
    fn a_real_answer_of_nginx_1_22() {
        let reading = parse(REAL).unwrap();
        assert_eq!(
            (reading.gauge("active"), reading.gauge("writing"), reading.gauge("waiting")),
            (Some(1.0), Some(1.0), Some(0.0))
        );
        assert_eq!(
            (reading.counter("accepted"), reading.counter("handled"), reading.counter("requests")),
            (Some(5), Some(5), Some(5))
        );
    }

    #[test]
    fn anything_else_is_an_error() {
        for text in [
            "",
            "Active connections: x",
            "<html>",
            "Active connections: 1\nserver accepts handled requests\n1 2",
        ] {
            parse(text.as_bytes()).expect_err(text);
        }
        (0..REAL.len() - 4).for_each(|end| assert!(parse(&REAL[..end]).is_err(), "{end}"));
    }
}
