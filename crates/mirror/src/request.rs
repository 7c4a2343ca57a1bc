//! Reads requests from the bytes of one connection, incrementally: head, then body by length or chunks.
//!
//! Invariant: any split of the same bytes gives the same requests; lengths are bounded; malformed bytes are an error once,
//! after which nothing is read any more.

use wire::Chunked;

/// Most bytes of a head; more is no request that this reads.
const HEAD_BYTES_MAX: usize = 64 << 10;
const FIELDS_MAX: usize = 128;

/// A request as it went by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) content_type: Option<String>,
    /// Its first bytes, as many as are kept.
    pub(crate) body: Vec<u8>,
    /// All bytes of the body.
    pub(crate) body_bytes: u64,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The first byte of a request.
    First,
    /// Its head; the answer may come from now on.
    Head { is_head: bool },
    /// All of it.
    Whole(Request),
}

/// Not HTTP/1.1, or more than is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotHttp;

#[derive(Debug)]
enum Body {
    /// Between requests, or within a head.
    Head,
    Length(u64),
    Chunks(Chunked),
}

/// One connection's requests.
#[derive(Debug)]
pub(crate) struct RequestReader {
    head: Vec<u8>,
    body: Body,
    open: Request,
    /// Bytes of a body that are kept.
    kept: usize,
}

impl RequestReader {
    /// Keeps the first `kept` bytes of each body.
    pub(crate) const fn new(kept: usize) -> Self {
        Self { head: Vec::new(), body: Body::Head, open: empty(), kept }
    }

    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, mut input: &[u8], see: &mut impl FnMut(Seen)) -> Result<(), NotHttp> {
        while !input.is_empty() {
            let taken = match &mut self.body {
                Body::Head => self.head(input, see)?,
                Body::Length(left) => {
                    let taken = usize::try_from(*left).map_or(input.len(), |left| left.min(input.len()));
                    keep(&mut self.open, &input[..taken], self.kept);
                    *left -= taken as u64;
                    if *left == 0 {
                        self.end(see);
                    }
                    taken
                }
                Body::Chunks(chunks) => {
                    let (open, kept) = (&mut self.open, self.kept);
                    let mut data = |bytes: &[u8]| keep(open, bytes, kept);
                    let (taken, whole) =
                        chunks.feed(input, &mut data, &mut Vec::new()).map_err(|_| NotHttp)?;
                    if whole {
                        self.end(see);
                    }
                    taken
                }
            };
            input = &input[taken..];
        }
        Ok(())
    }

    fn head(&mut self, input: &[u8], see: &mut impl FnMut(Seen)) -> Result<usize, NotHttp> {
        let before = self.head.len();
        if before == 0 {
            // Blank lines before a request are no part of it (RFC 9112 §2.2).
            let blank = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if blank > 0 {
                return Ok(blank);
            }
            see(Seen::First);
        }
        let room = HEAD_BYTES_MAX - before;
        self.head.extend_from_slice(&input[..input.len().min(room)]);
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut parsed = httparse::Request::new(&mut fields);
        let length = match parsed.parse(&self.head).map_err(|_| NotHttp)? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial if self.head.len() >= HEAD_BYTES_MAX => return Err(NotHttp),
            httparse::Status::Partial => return Ok(input.len()),
        };
        let (method, target) = parsed.method.zip(parsed.path).ok_or(NotHttp)?;
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let field = |name: &str| {
            let mut of_name = parsed.headers.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
            of_name.next_back().map(|field| field.value)
        };
        let coding = field("transfer-encoding").map(text);
        let is_chunked =
            coding.is_some_and(|coding| coding.trim_end().to_ascii_lowercase().ends_with("chunked"));
        let length_of_body: u64 = match field("content-length") {
            Some(value) => text(value).trim().parse().map_err(|_| NotHttp)?,
            None => 0,
        };
        let is_head = method == "HEAD";
        self.open = Request {
            method: method.to_owned(),
            target: target.to_owned(),
            content_type: field("content-type").map(text),
            ..empty()
        };
        self.head.clear();
        see(Seen::Head { is_head });
        match (is_chunked, length_of_body) {
            (true, _) => self.body = Body::Chunks(Chunked::new()),
            (false, 0) => self.end(see),
            (false, length) => self.body = Body::Length(length),
        }
        Ok(length - before)
    }

    fn end(&mut self, see: &mut impl FnMut(Seen)) {
        self.body = Body::Head;
        see(Seen::Whole(std::mem::replace(&mut self.open, empty())));
    }
}

fn keep(request: &mut Request, bytes: &[u8], most: usize) {
    let room = most.saturating_sub(request.body.len());
    request.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    request.body_bytes += bytes.len() as u64;
}

const fn empty() -> Request {
    Request {
        method: String::new(),
        target: String::new(),
        content_type: None,
        body: Vec::new(),
        body_bytes: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEPT: usize = 1_000;
    const THREE: &[u8] = b"\r\nPOST /a?x=1 HTTP/1.1\r\nHost: h\r\ncontent-type: text/plain\r\nContent-Length: 5\r\n\r\nhello\
        HEAD /b HTTP/1.1\r\nHost: h\r\n\r\n\
        PUT /c HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n";

    fn read(pieces: &[&[u8]]) -> (Vec<Seen>, bool) {
        let mut reader = RequestReader::new(KEPT);
        let mut seen = Vec::new();
        let fine = pieces.iter().all(|piece| reader.feed(piece, &mut |one| seen.push(one)).is_ok());
        (seen, fine)
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_requests(cuts in prop::collection::vec(0..THREE.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([THREE.len()]) {
                pieces.push(&THREE[from..cut]);
                from = cut;
            }
            let (seen, fine) = read(&pieces);
            prop_assert!(fine);
            let whole: Vec<_> = seen.iter().filter_map(|one| match one {
                Seen::Whole(request) => Some((request.method.as_str(), request.target.as_str(), request.body.as_slice())),
                _ => None,
            }).collect();
            let wanted: [(&str, &str, &[u8]); 3] =
                [("POST", "/a?x=1", b"hello"), ("HEAD", "/b", b""), ("PUT", "/c", b"abcde")];
            prop_assert_eq!(whole, wanted);
            prop_assert_eq!(seen.len(), 9, "first byte, head and end of each");
        }
    }

    #[test]
    fn what_is_no_http_ends_the_reading_and_bodies_are_kept_in_part() {
        for wrong in [
            &b"\x16\x03\x01\x02"[..],
            b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\n",
        ] {
            assert!(!read(&[wrong]).1, "{wrong:?}");
        }
        let long = vec![b'a'; HEAD_BYTES_MAX + 1];
        assert!(!read(&[b"GET /", &long]).1);
        let body = vec![b'x'; KEPT + 7];
        let head = format!("PUT / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        let (seen, fine) = read(&[head.as_bytes(), &body, b"GET /next HTTP/1.1\r\n\r\n"]);
        assert!(fine);
        let Some(Seen::Whole(request)) = seen.get(2) else { panic!("{} seen", seen.len()) };
        assert_eq!((request.body.len(), request.body_bytes), (KEPT, body.len() as u64));
    }
}
