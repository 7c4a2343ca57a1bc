//! What of Redis's protocol (RESP 2) `AUTH` and `INFO` need: commands out, one line or one text back.
//!
//! Invariants: answers are bounded; whatever a peer sends is an error and never a panic; no text made here holds a
//! password that the peer did not send.
//! Absent on purpose: TLS (`services`), arrays, numbers and RESP 3, which no answer to the two commands is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const LINE_BYTES_MAX: u64 = 4_096;
/// `INFO all` has some 10 KiB.
const TEXT_BYTES_MAX: usize = 4 << 20;
const NOT_UNDERSTOOD: &str = "its answer is not understood";

pub(in super::super) struct Wire {
    stream: BufReader<TcpStream>,
}

impl Wire {
    pub(super) fn connect(addr: SocketAddr, limit: Duration) -> Result<Self, String> {
        let open = || {
            let stream = TcpStream::connect_timeout(&addr, limit)?;
            stream.set_read_timeout(Some(limit))?;
            stream.set_write_timeout(Some(limit))?;
            stream.set_nodelay(true)?;
            Ok(Self { stream: BufReader::new(stream) })
        };
        open().map_err(|error: std::io::Error| format!("it cannot be reached: {error}"))
    }

    /// The answer to a command of these words.
    pub(super) fn ask(&mut self, words: &[&str]) -> Result<String, String> {
        let mut command = format!("*{}\r\n", words.len());
        for word in words {
            command += &format!("${}\r\n{word}\r\n", word.len());
        }
        self.stream.get_mut().write_all(command.as_bytes()).map_err(|error| broken(&error))?;
        let line = self.line()?;
        match line.split_at_checked(1) {
            Some(("+", text)) => Ok(text.to_owned()),
            Some(("-", error)) => Err(error.to_owned()),
            Some(("$", bytes)) => self.text(bytes),
            _ => Err(NOT_UNDERSTOOD.to_owned()),
        }
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.stream).take(LINE_BYTES_MAX);
        bounded.read_until(b'\n', &mut line).map_err(|error| broken(&error))?;
        let line = line.strip_suffix(b"\r\n").ok_or_else(|| NOT_UNDERSTOOD.to_owned())?;
        Ok(String::from_utf8_lossy(line).into_owned())
    }

    fn text(&mut self, bytes: &str) -> Result<String, String> {
        let bytes = bytes.parse::<usize>().ok().filter(|bytes| *bytes <= TEXT_BYTES_MAX);
        let mut text = vec![0; bytes.ok_or_else(|| NOT_UNDERSTOOD.to_owned())? + 2];
        self.stream.read_exact(&mut text).map_err(|error| broken(&error))?;
        let text = text.strip_suffix(b"\r\n").ok_or_else(|| NOT_UNDERSTOOD.to_owned())?;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

fn broken(error: &std::io::Error) -> String {
    format!("the connection broke: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What a command gives where the peer answers with these bytes and goes away; the peer gives what it was sent.
    fn asked(words: &[&str], answer: &'static [u8]) -> (Result<String, String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let peer = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(answer).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut sent = String::new();
            stream.read_to_string(&mut sent).unwrap();
            sent
        });
        let mut wire = Wire::connect(addr, Duration::from_secs(20)).unwrap();
        let answer = wire.ask(words);
        drop(wire);
        (answer, peer.join().unwrap())
    }

    #[test]
    fn commands_and_answers_are_as_redis_has_them() {
        let (answer, sent) = asked(&["INFO", "all"], b"$6\r\na:1\r\nb\r\n");
        assert_eq!(
            (answer.unwrap().as_str(), sent.as_str()),
            ("a:1\r\nb", "*2\r\n$4\r\nINFO\r\n$3\r\nall\r\n")
        );
        assert_eq!(asked(&["AUTH", "x"], b"+OK\r\n").0.unwrap(), "OK");
        assert_eq!(asked(&["AUTH", "x"], b"-WRONGPASS no\r\n").0.unwrap_err(), "WRONGPASS no");
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let answers: [&[u8]; 7] =
            [b"", b"$", b"+OK", b"$9999999999\r\n", b"$-1\r\n", b"$3\r\nab", "\u{e9}\r\n".as_bytes()];
        for answer in answers {
            asked(&["INFO"], answer).0.unwrap_err();
        }
    }
}
