//! How far the answer of a connection has come.

/// A longer head is an error.
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 32;

/// What some bytes brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// The answer is not whole.
    Part,
    /// The answer is whole.
    Whole,
    /// It is none that counts.
    Bad,
}

/// The state of one answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Bytes of the body still to come.
    body_left: usize,
    /// The beginning of a head that was cut.
    cut: Vec<u8>,
}

impl Answer {
    /// Takes the next bytes. One request is in flight, so that an answer never carries bytes of the next.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Came {
        if self.body_left > 0 {
            return self.take_body(bytes.len());
        }
        if self.cut.is_empty() {
            return self.take_head(bytes);
        }
        let mut whole = std::mem::take(&mut self.cut);
        whole.extend_from_slice(bytes);
        self.take_head(&whole)
    }

    fn take_head(&mut self, bytes: &[u8]) -> Came {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut head = httparse::Response::new(&mut headers);
        match head.parse(bytes) {
            Ok(httparse::Status::Complete(end)) => {
                let length = head.headers.iter().find(|h| h.name.eq_ignore_ascii_case("content-length"));
                let length = length.and_then(|h| std::str::from_utf8(h.value).ok()?.parse::<usize>().ok());
                match (head.code, length) {
                    (Some(200), Some(length)) => {
                        self.body_left = length;
                        self.take_body(bytes.len() - end)
                    }
                    _ => Came::Bad,
                }
            }
            Ok(httparse::Status::Partial) if bytes.len() <= HEAD_BYTES_MAX => {
                self.cut.extend_from_slice(bytes);
                Came::Part
            }
            _ => Came::Bad,
        }
    }

    fn take_body(&mut self, bytes: usize) -> Came {
        match self.body_left.checked_sub(bytes) {
            None => Came::Bad,
            Some(left) => {
                self.body_left = left;
                if left == 0 { Came::Whole } else { Came::Part }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

    #[test]
    fn every_cut_gives_one_whole_answer() {
        for at in 1..ANSWER.len() {
            let mut answer = Answer::default();
            assert_eq!(answer.take(&ANSWER[..at]), Came::Part, "{at}");
            assert_eq!(answer.take(&ANSWER[at..]), Came::Whole, "{at}");
            assert_eq!(answer.take(ANSWER), Came::Whole);
        }
    }

    #[test]
    fn what_does_not_count_is_bad() {
        for bytes in [
            &b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
            b"nonsense\r\n\r\n",
        ] {
            assert_eq!(Answer::default().take(bytes), Came::Bad);
        }
    }
}
