//! DATA frames, and the windows that they take from.

use super::connection::Connection;
use super::events::Events;
use super::fault::Fault;
use super::frame::{Frame, flag, put_window_update};
use super::input::{Data, Reading};
use super::receive::Fate;
use super::ring::{Found, UNKNOWN};

impl Connection {
    /// The windows are judged by the header, so that a split changes nothing.
    #[inline]
    pub(super) fn begin_data(
        &mut self,
        frame: Frame,
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        self.of_request(frame)?;
        self.receive.take(frame.length)?;
        if let Found::Open(at) = self.streams.find(frame.stream) {
            self.streams.get(at).receive.take(frame.length)?;
        }
        if !frame.has(flag::PADDED) {
            return self.open_data(frame, frame.length, 0, on, out);
        }
        if frame.length == 0 {
            return Err(Fault::Padding);
        }
        self.input.reading = Reading::PadLength(frame);
        Ok(Fate::Open)
    }

    pub(super) fn open_padded(
        &mut self,
        frame: Frame,
        padding: u32,
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        let data = (frame.length - 1).checked_sub(padding).ok_or(Fault::Padding)?;
        self.open_data(frame, data, padding, on, out)
    }

    /// It is known how much of the frame is body.
    #[inline]
    fn open_data(
        &mut self,
        frame: Frame,
        length: u32,
        padding: u32,
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        match length {
            0 if !frame.has(flag::END_STREAM) => self.barren()?,
            0 => {}
            1 => {
                self.counts.tiny_data += 1;
                self.strain.barren = 0;
            }
            _ => self.strain.barren = 0,
        }
        let (mut place, mut fate) = (None, Fate::Open);
        if let Found::Open(at) = self.streams.find(frame.stream) {
            let stream = self.streams.get(at);
            place = Some(stream.place);
            let fault = if !stream.has_head {
                Some(Fault::NoHead)
            } else if (stream.is_bodiless && length > 0) || stream.length_left < u64::from(length) {
                Some(Fault::BodyLength)
            } else {
                if stream.length_left != UNKNOWN {
                    stream.length_left -= u64::from(length);
                }
                None
            };
            if let Some(fault) = fault {
                (place, fate) = (None, self.break_off(at, fault, on, out));
            }
        }
        if length + padding == 0 {
            return Ok(if self.end_data(frame, on, out) == Fate::Settled { Fate::Settled } else { fate });
        }
        self.input.reading = Reading::Data(Data { frame, place, left: length, padding });
        Ok(fate)
    }

    #[inline]
    pub(super) fn read_data(
        &mut self,
        mut data: Data,
        rest: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Fate), Fault> {
        let body = rest.len().min(data.left as usize);
        if let Some(place) = data.place.filter(|_| body > 0) {
            on.body(place, &rest[..body]);
        }
        data.left -= body as u32;
        let padding = (rest.len() - body).min(data.padding as usize);
        data.padding -= padding as u32;
        let fate = if data.left + data.padding > 0 {
            self.input.reading = Reading::Data(data);
            Fate::Open
        } else {
            self.end_data(data.frame, on, out)
        };
        Ok((body + padding, fate))
    }

    /// The frame has ended: windows are filled up, and perhaps the answer is whole.
    #[inline]
    fn end_data(&mut self, frame: Frame, on: &mut impl Events, out: &mut Vec<u8>) -> Fate {
        self.input.reading = Reading::Header;
        if let Some(by) = self.receive.top_up() {
            put_window_update(0, by, out);
        }
        let Found::Open(at) = self.streams.find(frame.stream) else { return Fate::Open };
        if frame.has(flag::END_STREAM) {
            return self.end_answer(at, on, out);
        }
        if let Some(by) = self.streams.get(at).receive.top_up() {
            put_window_update(frame.stream, by, out);
        }
        Fate::Open
    }
}
