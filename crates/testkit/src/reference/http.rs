//! The little of HTTP/1.1 that the reference target speaks: where a request ends, and fixed answers.

/// Answer to `/ping` and everything else.
pub(super) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 31\r\n\r\n{\"code\":0,\"msg\":\"ok\",\"data\":{}}";
/// Answer to `/health`, at once and outside the queue.
pub(super) const HEALTH: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}";
/// Answer to a request that is to fail.
pub(super) const ERROR: &[u8] =
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nfault\n";
/// Answer to what is no request; the connection is closed after it.
pub(super) const BAD_REQUEST: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Longest request that is taken, body included.
pub(super) const REQUEST_BYTES_MAX: usize = 1 << 20;

/// What stands at the front of a connection's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    Partial,
    /// A whole request of this many bytes, body included.
    Request {
        length: usize,
        route: Route,
        close: bool,
    },
    Bad,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Queue,
    Health,
    Stats,
    Metrics,
}

pub(super) fn front(bytes: &[u8]) -> Front {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut fields);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < REQUEST_BYTES_MAX => return Front::Partial,
        _ => return Front::Bad,
    };
    let value = |name: &str| request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    let body = match value("content-length")
        .map(|field| std::str::from_utf8(field.value).unwrap_or("").trim().parse())
    {
        None => 0_usize,
        Some(Ok(length)) if length <= REQUEST_BYTES_MAX => length,
        Some(_) => return Front::Bad,
    };
    if value("transfer-encoding").is_some() {
        return Front::Bad;
    }
    if bytes.len() < head + body {
        return Front::Partial;
    }
    let route = route(request.path.unwrap_or_default().as_bytes());
    let close = value("connection").is_some_and(|field| field.value.eq_ignore_ascii_case(b"close"));
    Front::Request { length: head + body, route, close }
}

/// What a path asks for.
pub(super) fn route(path: &[u8]) -> Route {
    match path {
        b"/health" => Route::Health,
        b"/stats" => Route::Stats,
        b"/metrics" => Route::Metrics,
        _ => Route::Queue,
    }
}

/// An answer of this type and body.
pub(super) fn text(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// The body of one of the answers above.
pub(super) fn body_of(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    end.map_or(&[], |end| &answer[end + 4..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fronts() {
        let whole = b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(front(whole), Front::Request { length: whole.len(), route: Route::Queue, close: false });
        assert_eq!(front(&whole[..20]), Front::Partial);
        let post = b"POST /health HTTP/1.1\r\nContent-Length: 3\r\nConnection: Close\r\n\r\nabcGET";
        let end = post.len() - 3;
        assert_eq!(front(post), Front::Request { length: end, route: Route::Health, close: true });
        assert_eq!(front(&post[..end - 1]), Front::Partial);
        for bad in [
            "\0\0",
            "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(front(bad.as_bytes()), Front::Bad, "{bad:?}");
        }
    }

    #[test]
    fn fixed_answers_have_their_length() {
        for answer in [OK, HEALTH, ERROR, BAD_REQUEST] {
            let mut fields = [httparse::EMPTY_HEADER; 8];
            let mut response = httparse::Response::new(&mut fields);
            let Ok(httparse::Status::Complete(head)) = response.parse(answer) else {
                panic!("not an answer")
            };
            let length = response.headers.iter().find(|field| field.name == "Content-Length").unwrap().value;
            assert_eq!(std::str::from_utf8(length).unwrap(), (answer.len() - head).to_string());
        }
    }
}
