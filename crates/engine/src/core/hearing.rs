//! Where answers go while they are read: to the judgement of their request, and to whoever else listens.

use super::outgoing::Outgoing;
use super::place::{Place, PlaceId, Places};
use crate::book::Book;
use crate::failure::Failure;
use crate::protocol::{Events, Protocol};
use units::{Clock as _, MonotonicClock, Nanos};
use wire::{Header, Visit as _, is_redirect};

/// Judges answers and, where somebody listens, keeps them, or where they lead. Calls are looked for where requests have
/// streams only.
pub(super) struct Hearing<'a, P: Protocol> {
    pub(super) places: &'a mut Places,
    pub(super) outgoing: &'a Outgoing<P::Framing>,
    pub(super) book: &'a mut Book,
    pub(super) clock: &'a MonotonicClock,
    /// Streams that may have a message to send.
    pub(super) speakers: &'a mut Vec<PlaceId>,
    /// When the bytes came that are being read, once a message has asked for it.
    pub(super) now: Option<Nanos>,
    /// Answers that turned out to be of no use since this was last asked; each once.
    pub(super) spoilt: Vec<(PlaceId, Failure)>,
}

impl<P: Protocol> Events for Hearing<'_, P> {
    #[inline]
    fn kind(&self, at: PlaceId) -> u32 {
        u32::from(self.places[at].request.which.entry)
    }

    #[inline]
    fn head(&mut self, at: PlaceId, status: u16, headers: &[Header<'_>]) -> bool {
        let Place { request, notes, heard, trail, call, .. } = &mut self.places[at];
        let check = self.outgoing.check(request.which.entry);
        request.answer.judge(check, notes).head(status, headers);
        if P::HAS_STREAMS
            && let (Some(rule), Some(call)) = (check.call(), call)
        {
            return call.head(rule, status, headers, notes) && request.answer.is_judged_by_status(check);
        }
        if let Some(heard) = heard.as_mut() {
            heard.head(headers);
        }
        if let (Some(trail), true) = (trail.as_mut(), is_redirect(status)) {
            trail.hear(headers);
        }
        heard.is_none() && trail.is_none() && request.answer.is_judged_by_status(check)
    }

    #[inline]
    fn head_again(&mut self, at: PlaceId, status: u16) {
        let Place { request, notes, .. } = &mut self.places[at];
        let check = self.outgoing.check(request.which.entry);
        request.answer.judge(check, notes).head(status, &[]);
    }

    #[inline]
    fn body(&mut self, at: PlaceId, bytes: &[u8]) {
        let Place { request, notes, heard, call, dialogue, .. } = &mut self.places[at];
        let check = self.outgoing.check(request.which.entry);
        if P::HAS_STREAMS
            && let (Some(rule), Some(call)) = (check.call(), call)
        {
            let before = call.messages();
            let fault = call.body(rule, bytes, notes);
            let messages = call.messages().wrapping_sub(before);
            if messages > 0
                && let Some(dialogue) = dialogue.as_deref_mut().filter(|dialogue| dialogue.is_stream())
            {
                // All of them were there when these bytes were read.
                let now = *self.now.get_or_insert_with(|| self.clock.now());
                let mut has_room = false;
                for _ in 0..messages {
                    has_room |= dialogue.heard(self.book, now);
                }
                if has_room && !std::mem::replace(&mut dialogue.is_listed, true) {
                    self.speakers.push(at);
                }
            }
            if let Some(fault) = fault
                && self.spoilt.iter().all(|(place, _)| *place != at)
            {
                self.spoilt.push((at, fault.into()));
            }
            if rule.reads_message() {
                return request.answer.count_body(bytes.len());
            }
        }
        request.answer.judge(check, notes).body(bytes);
        if let Some(heard) = heard {
            heard.body(bytes);
        }
    }

    fn trailers(&mut self, at: PlaceId, fields: &[Header<'_>]) {
        if P::HAS_STREAMS {
            let Place { request, notes, call, .. } = &mut self.places[at];
            if let (Some(rule), Some(call)) = (self.outgoing.check(request.which.entry).call(), call) {
                call.trailers(rule, fields, notes);
            }
        }
    }

    #[inline]
    fn spoilt(&mut self) -> Option<(PlaceId, Failure)> {
        if P::HAS_STREAMS { self.spoilt.pop() } else { None }
    }
}
