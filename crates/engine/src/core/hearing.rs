//! Where answers go while they are read: to the judgement of their request, and to whoever else listens.

use super::outgoing::Outgoing;
use super::place::{Place, PlaceId, Places};
use crate::protocol::Events;
use wire::{Framing, Header, Visit as _, is_redirect};

/// Judges answers and, where somebody listens, keeps them, or where they lead.
pub(super) struct Hearing<'a, F: Framing> {
    pub(super) places: &'a mut Places,
    pub(super) outgoing: &'a Outgoing<F>,
}

impl<F: Framing> Events for Hearing<'_, F> {
    #[inline]
    fn kind(&self, at: PlaceId) -> u32 {
        u32::from(self.places[at].request.which.entry)
    }

    #[inline]
    fn head(&mut self, at: PlaceId, status: u16, headers: &[Header<'_>]) -> bool {
        let Place { request, notes, heard, trail, .. } = &mut self.places[at];
        let check = self.outgoing.check(request.which.entry);
        request.answer.judge(check, notes).head(status, headers);
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
        let Place { request, notes, heard, .. } = &mut self.places[at];
        let check = self.outgoing.check(request.which.entry);
        request.answer.judge(check, notes).body(bytes);
        if let Some(heard) = heard {
            heard.body(bytes);
        }
    }
}
