//! Redirects of a contract check, followed as the load follows them.

use super::ContractFault;
use crate::tail::clean;
use probe::{Answer, ProbeError};
use wire::{Astray, Framing, LOCATION_BYTES_MAX, Origin, is_redirect};

/// Characters of a Location that are shown.
const SHOWN_CHARS: usize = 200;

/// Which redirects are followed.
#[derive(Clone, Copy, Debug)]
pub struct Follow<'a> {
    /// The only place that they may lead to.
    pub origin: &'a Origin,
    /// How many of one request, at least 1.
    pub hops_max: u32,
}

/// Sends `request`, which the framing `F` made, by `exchange`, and what its redirects make of it, until an answer is none or
/// may not be followed.
pub(super) fn to_the_end<F: Framing>(
    mut request: Vec<u8>,
    follow: Option<Follow<'_>>,
    exchange: impl Fn(&[u8]) -> Result<Answer, ProbeError>,
) -> Result<Answer, ContractFault> {
    let mut hops = 0;
    loop {
        let answer = exchange(&request)?;
        let Some(follow) = follow.filter(|_| is_redirect(answer.status)) else { return Ok(answer) };
        if hops == follow.hops_max {
            return Err(ContractFault::Redirects(follow.hops_max));
        }
        hops += 1;
        request = next::<F>(&request, &answer, follow.origin)?;
    }
}

fn next<F: Framing>(request: &[u8], answer: &Answer, origin: &Origin) -> Result<Vec<u8>, ContractFault> {
    let mut locations = answer.headers.iter().filter(|(name, _)| name == "location").map(|(_, value)| value);
    let location = locations.next().map_or("", String::as_str);
    let astray = |why| ContractFault::Astray { why, location: clean(location, SHOWN_CHARS) };
    if !answer.headers.iter().any(|(name, _)| name == "location") {
        return Err(astray(Astray::Missing));
    }
    if location.len() > LOCATION_BYTES_MAX {
        return Err(astray(Astray::TooLong));
    }
    if locations.any(|other| other != location) {
        return Err(astray(Astray::Several));
    }
    let (status, mut out) = (answer.status, Vec::new());
    F::redirected(request, (status, location.as_bytes()), origin, std::iter::empty(), &mut out)
        .map_err(astray)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(location: &str, hops_max: u32) -> Result<(u16, u32), String> {
        let origin = Origin { is_https: false, host: "h".to_owned(), port: 80 };
        let asked = std::cell::Cell::new(0);
        let exchange = |request: &[u8]| {
            asked.set(asked.get() + 1);
            let is_end = request.starts_with(b"GET /end ");
            let headers = if is_end { vec![] } else { vec![("location".to_owned(), location.to_owned())] };
            Ok(Answer { status: if is_end { 200 } else { 302 }, headers, ..Answer::default() })
        };
        let follow = Some(Follow { origin: &origin, hops_max });
        to_the_end::<wire::Http1>(b"GET / HTTP/1.1\r\n\r\n".to_vec(), follow, exchange)
            .map(|answer| (answer.status, asked.get()))
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_hop_over_http2_is_framed_as_the_first_request_is() {
        let origin = Origin { is_https: false, host: "h".to_owned(), port: 80 };
        let framed = |target| {
            let head = wire::RequestHead { method: "GET", target, host: "h", headers: &[] };
            head.framed::<wire::Http2>(b"", None).unwrap()
        };
        let asked = std::cell::RefCell::new(Vec::new());
        let exchange = |request: &[u8]| {
            asked.borrow_mut().push(request.to_vec());
            let is_first = asked.borrow().len() == 1;
            let headers = vec![("location".to_owned(), "/end".to_owned())];
            Ok(Answer { status: if is_first { 302 } else { 200 }, headers, ..Answer::default() })
        };
        let follow = Some(Follow { origin: &origin, hops_max: 1 });
        let answer = to_the_end::<wire::Http2>(framed("/"), follow, exchange).unwrap();
        let asked = asked.into_inner();
        // But for the flag that its header block may be sent again.
        assert_eq!((answer.status, &asked[1][2..]), (200, &framed("/end")[2..]));
    }

    #[test]
    fn redirects_are_followed_within_the_origin_and_not_for_ever() {
        assert_eq!(end("end", 1), Ok((200, 2)));
        assert_eq!(end("/loop", 3), Err("more than 3 redirects".to_owned()));
        assert!(end("http://other/end", 3).unwrap_err().contains("another origin"));
        assert!(end("", 3).unwrap_err().contains("empty"));
    }
}
