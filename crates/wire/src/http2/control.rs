//! SETTINGS, PING, WINDOW_UPDATE, RST_STREAM and GOAWAY.

use super::code::ErrorCode;
use super::connection::Connection;
use super::events::{Events, Refusal};
use super::fault::Fault;
use super::frame::{Frame, ID_MASK, flag, kind, number, put};
use super::limits::SETTINGS_FRAMES_MAX;
use super::receive::Fate;
use super::ring::{Found, State};

impl Connection {
    pub(super) fn settings(
        &mut self,
        frame: Frame,
        payload: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        if frame.has(flag::ACK) {
            self.unacknowledged = self.unacknowledged.checked_sub(1).ok_or(Fault::UnaskedAck)?;
            return Ok(Fate::Open);
        }
        self.strain.settings += 1;
        self.counts.settings += 1;
        if self.strain.settings > SETTINGS_FRAMES_MAX {
            return Err(Fault::SettingsFlood);
        }
        let before = self.peer;
        self.peer.apply(payload)?;
        self.encoder.limit(self.peer.header_table_bytes);
        let by = i64::from(self.peer.window_bytes) - i64::from(before.window_bytes);
        if by != 0 {
            self.streams.iter_open().try_for_each(|stream| stream.send.shift(by))?;
        }
        self.answers_peer()?;
        put(kind::SETTINGS, flag::ACK, 0, &[], out);
        let is_first = !std::mem::replace(&mut self.is_established, true);
        on.settings(&self.peer);
        if is_first || by > 0 || self.peer.streams_max != before.streams_max {
            on.room_changed();
        }
        Ok(Fate::Open)
    }

    pub(super) fn ping(&mut self, frame: Frame, payload: &[u8], out: &mut Vec<u8>) -> Result<Fate, Fault> {
        self.barren()?;
        if !frame.has(flag::ACK) {
            self.answers_peer()?;
            self.counts.pings += 1;
            put(kind::PING, flag::ACK, 0, payload, out);
        }
        Ok(Fate::Open)
    }

    pub(super) fn window_update(
        &mut self,
        frame: Frame,
        payload: &[u8],
        on: &mut impl Events,
        out: &mut Vec<u8>,
    ) -> Result<Fate, Fault> {
        let by = number(payload).unwrap_or_default() & ID_MASK;
        if frame.stream == 0 {
            let had_room = self.send.room() > 0;
            self.send.grow(by)?;
            if !had_room && self.send.room() > 0 && !self.held.is_empty() {
                on.room_changed();
            }
            return Ok(Fate::Open);
        }
        let Found::Open(at) = self.streams.find(frame.stream) else {
            // It was on its way when the stream ended.
            self.barren()?;
            return Ok(Fate::Open);
        };
        let stream = self.streams.get(at);
        let had_room = stream.send.room() > 0;
        if let Err(fault) = stream.send.grow(by) {
            return Ok(self.break_off(at, fault, on, out));
        }
        if !had_room && stream.send.room() > 0 && !stream.is_sent {
            on.room_changed();
        }
        Ok(Fate::Open)
    }

    pub(super) fn reset(
        &mut self,
        frame: Frame,
        payload: &[u8],
        on: &mut impl Events,
    ) -> Result<Fate, Fault> {
        let Found::Open(at) = self.streams.find(frame.stream) else {
            // It was on its way when the stream ended, or follows an answer whose request was not read.
            self.barren()?;
            return Ok(Fate::Open);
        };
        self.counts.resets += 1;
        let code = ErrorCode(number(payload).unwrap_or_default());
        let place = self.end_stream(at, State::Closed);
        if code == ErrorCode::REFUSED_STREAM {
            on.refused(place, Refusal::Stream);
        } else {
            on.reset(place, code);
        }
        Ok(Fate::Settled)
    }

    pub(super) fn goaway(&mut self, payload: &[u8], on: &mut impl Events) -> Result<Fate, Fault> {
        let last = number(payload).unwrap_or_default() & ID_MASK;
        let code = ErrorCode(number(&payload[4..]).unwrap_or_default());
        if self.last_taken.is_some_and(|before| last > before) {
            return Err(Fault::RisingGoaway);
        }
        self.barren()?;
        self.last_taken = Some(last);
        self.counts.goaways += 1;
        on.goaway(last, code, &payload[8..]);
        while let Some(at) = self.streams.any_after(last) {
            let place = self.end_stream(at, State::Cancelled);
            on.refused(place, Refusal::GoAway(code));
        }
        on.room_changed();
        Ok(Fate::Settled)
    }
}
