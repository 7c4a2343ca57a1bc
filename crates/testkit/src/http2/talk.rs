//! What a scripted server does with the messages of gRPC's streams: rightly, or as a server that does not keep to the rules.
//!
//! Windows are given back as bytes come; those of the client are not watched, so that answers stay below them together.

use super::frames::flag::{END_HEADERS, END_STREAM};
use super::frames::kind::{DATA, HEADERS, RST_STREAM, WINDOW_UPDATE};
use super::frames::{STATUS_200, field, frame};
use super::peer::{Heard, Line, Peer};
use super::script::Talk;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// INTERNAL_ERROR.
const CODE: u32 = 2;
/// Bytes before each message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;
/// Field 1 of protobuf being 1.
const MESSAGE: &[u8] = &[0, 0, 0, 0, 2, 8, 1];

/// A stream that is talked on.
#[derive(Debug, Default)]
struct Call {
    /// The begin of a message.
    begun: Vec<u8>,
    has_head: bool,
    messages: u32,
}

impl Call {
    /// The messages that are whole with these bytes, with their prefixes.
    fn hear(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.begun.extend_from_slice(bytes);
        let mut whole = Vec::new();
        while let Some(prefix) = self.begun.first_chunk::<PREFIX_BYTES>() {
            let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
            if self.begun.len() < PREFIX_BYTES + length {
                break;
            }
            whole.push(self.begun.drain(..PREFIX_BYTES + length).collect());
        }
        whole
    }

    /// The header section, if it was not sent yet.
    fn head(&mut self, stream: u32) -> Vec<u8> {
        if std::mem::replace(&mut self.has_head, true) {
            return Vec::new();
        }
        let block = [vec![STATUS_200], field("content-type", "application/grpc")].concat();
        frame(HEADERS, END_HEADERS, stream, &block)
    }
}

fn trailers(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &field("grpc-status", "0"))
}

impl<T: Line> Peer<'_, T> {
    /// Talks on every stream until the client closes.
    pub(super) fn talk(&mut self, talk: Talk) -> io::Result<()> {
        let mut calls: HashMap<u32, Call> = HashMap::new();
        self.listen();
        loop {
            for heard in self.heard() {
                self.widen(&heard)?;
                let call = calls.entry(heard.stream).or_default();
                let messages = call.hear(&heard.bytes);
                self.seen().messages.fetch_add(messages.len() as u64, SeqCst);
                if self.is_open(heard.stream) {
                    self.answer_messages(talk, call, &heard, &messages)?;
                }
                if heard.is_end {
                    calls.remove(&heard.stream);
                }
            }
            self.read()?;
        }
    }

    /// Gives back the windows of what was read.
    fn widen(&mut self, heard: &Heard) -> io::Result<()> {
        if heard.bytes.is_empty() {
            return Ok(());
        }
        let by = (heard.bytes.len() as u32).to_be_bytes();
        let update = |stream| frame(WINDOW_UPDATE, 0, stream, &by);
        self.send(&if heard.is_end { update(0) } else { [update(0), update(heard.stream)].concat() })
    }

    fn answer_messages(
        &mut self,
        talk: Talk,
        call: &mut Call,
        heard: &Heard,
        messages: &[Vec<u8>],
    ) -> io::Result<()> {
        let stream = heard.stream;
        match talk {
            Talk::Silent => return Ok(()),
            Talk::Echo | Talk::NoTrailers => {
                messages.iter().try_for_each(|message| self.say(call, stream, message))?;
            }
            Talk::ResetsAfter(most) => {
                for message in messages {
                    if call.messages == most {
                        self.close(stream);
                        return self.send(&frame(RST_STREAM, 0, stream, &CODE.to_be_bytes()));
                    }
                    call.messages += 1;
                    self.say(call, stream, message)?;
                }
            }
            Talk::Sends(count) if heard.is_end => {
                (0..count).try_for_each(|_| self.say(call, stream, MESSAGE))?;
            }
            Talk::Collects if heard.is_end => self.say(call, stream, MESSAGE)?,
            Talk::Drips(pause) if !messages.is_empty() => self.drip(call, stream, pause)?,
            Talk::TooLong if !messages.is_empty() => {
                let head = call.head(stream);
                self.send(&[head, frame(DATA, 0, stream, &[0, 0, 0x40, 0, 1, 8])].concat())?;
                self.close(stream);
                return Ok(());
            }
            Talk::Sends(_) | Talk::Collects | Talk::Drips(_) | Talk::TooLong => {}
        }
        if !heard.is_end {
            return Ok(());
        }
        self.close(stream);
        let head = call.head(stream);
        let end = match talk {
            Talk::NoTrailers => frame(DATA, END_STREAM, stream, &[]),
            _ => trailers(stream),
        };
        self.send(&[head, end].concat())
    }

    fn say(&mut self, call: &mut Call, stream: u32, message: &[u8]) -> io::Result<()> {
        let head = call.head(stream);
        self.seen().said.fetch_add(1, SeqCst);
        self.send(&[head, frame(DATA, 0, stream, message)].concat())
    }

    fn drip(&mut self, call: &mut Call, stream: u32, pause: Duration) -> io::Result<()> {
        let head = call.head(stream);
        self.send(&head)?;
        for byte in MESSAGE {
            std::thread::sleep(pause);
            self.send(&frame(DATA, 0, stream, &[*byte]))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_whatever_their_pieces() {
        let bytes = [MESSAGE, &[0; PREFIX_BYTES], MESSAGE].concat();
        for size in 1..=bytes.len() {
            let mut call = Call::default();
            let found: Vec<Vec<u8>> = bytes.chunks(size).flat_map(|piece| call.hear(piece)).collect();
            assert_eq!(found, [MESSAGE, &[0; PREFIX_BYTES], MESSAGE], "pieces of {size}");
        }
    }

    #[test]
    fn a_header_section_comes_once() {
        let mut call = Call::default();
        assert!(!call.head(1).is_empty());
        assert!(call.head(1).is_empty());
    }
}
