//! Redirects that are followed: where an answer leads, and the hops of its request.
//!
//! A followed request stays one request of the load. Its intended and written stamps are those of the first hop and its
//! end is that of the last, so both times cover the whole chain; its checks see the last answer only. Hops are counted
//! apart. The response time-out is for each hop. A connection carries one request at a time, so a hop is written where
//! the answer came from, or on a new connection where that one has ended.
//!
//! No allocation per request once the buffers of a slot are warm; a load without redirects has no such buffers.

use super::{Core, fate};
use crate::book::Book;
use crate::driver::{SlotId, Sockets};
use crate::failure::clean;
use crate::slot::{InFlight, Slot, State};
use request::{Answer, Bytes};
use schema::load::ErrorClass;
use units::Nanos;
use wire::{Astray, Header, LOCATION_BYTES_MAX, Origin, redirected};

/// Characters of a Location in a message.
const SHOWN_CHARS: usize = 120;

/// Which redirects are followed.
#[derive(Clone, Debug)]
pub(crate) struct Follow {
    /// Hops of one request at most.
    pub(crate) hops_max: u32,
    /// The only place that they may lead to.
    pub(crate) origin: Origin,
}

/// The redirect that a slot's request met, and the request that it becomes. Its memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    location: Vec<u8>,
    /// Why the location is of no use.
    astray: Option<Astray>,
    next: Vec<u8>,
    /// When the last part of the present hop was handed to the system.
    pub(crate) written: Nanos,
}

/// Why a redirect ends its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stray {
    At(Astray),
    TooMany(u32),
}

impl Trail {
    /// Keeps the Location of a redirect.
    pub(super) fn hear(&mut self, headers: &[Header<'_>]) {
        self.location.clear();
        self.astray = Some(Astray::Missing);
        for field in headers.iter().filter(|field| field.name.eq_ignore_ascii_case("location")) {
            self.astray = match self.astray {
                Some(Astray::Missing) if field.value.len() > LOCATION_BYTES_MAX => Some(Astray::TooLong),
                Some(Astray::Missing) => {
                    self.location.extend_from_slice(field.value);
                    None
                }
                None if self.location != field.value => Some(Astray::Several),
                before => before,
            };
        }
    }

    fn words(&self, stray: Stray) -> String {
        let shown = || clean(&self.location, SHOWN_CHARS);
        match stray {
            Stray::TooMany(1) => "more than 1 redirect".to_owned(),
            Stray::TooMany(hops) => format!("more than {hops} redirects"),
            Stray::At(Astray::Elsewhere) => {
                format!("redirected to {}: another origin; give that URL", shown())
            }
            Stray::At(why @ Astray::Unreadable) => format!("{why}: {}", shown()),
            Stray::At(why) => why.to_string(),
        }
    }
}

impl Core {
    /// A complete redirect for `request` while redirects are followed: the next hop is sent, or the request has failed
    /// and the slot is free. `reusable` tells whether the connection may serve again.
    #[cold]
    pub(super) fn redirected<S: Sockets>(
        &mut self,
        sockets: &mut S,
        id: SlotId,
        mut request: InFlight,
        reusable: bool,
        done: Nanos,
    ) {
        if let Err(stray) = self.aim(id, &request) {
            self.stray(id, &request, stray, done);
            self.release(sockets, id, reusable, done);
            return;
        }
        self.book.redirected(request.answer.status(), request.intended, done);
        let slot = &mut self.slots[id as usize];
        if let Some(user) = &mut slot.user {
            user.learn_cookies(&slot.notes);
        }
        if let Some(heard) = &mut slot.heard {
            heard.forget();
        }
        request.hops += 1;
        (request.bytes, request.first_byte) = (Bytes::Rendered, None);
        request.answer = Answer::to(self.outgoing.global(request.which));
        slot.request = Some(request);
        if reusable && !self.is_over(id, done) {
            self.write_hop(sockets, id, done);
        } else {
            self.close(sockets, id);
            self.connect(sockets, id);
        }
    }

    /// Sends the hop that the slot holds on the slot's connection.
    pub(super) fn write_hop<S: Sockets>(&mut self, sockets: &mut S, id: SlotId, now: Nanos) {
        let slot = &mut self.slots[id as usize];
        slot.parser.begin(slot.request.as_ref().is_some_and(|request| request.is_head));
        slot.state = State::Sending { sent: 0 };
        self.write_on(sockets, id, now);
    }

    /// Makes the request of the next hop, into the slot's memory.
    fn aim(&mut self, id: SlotId, request: &InFlight) -> Result<(), Stray> {
        let Slot { trail, rendered, notes, .. } = &mut self.slots[id as usize];
        let (Some(follow), Some(trail)) = (&self.follow, trail) else {
            return Err(Stray::At(Astray::Missing));
        };
        if u32::from(request.hops) >= follow.hops_max {
            return Err(Stray::TooMany(follow.hops_max));
        }
        trail.astray.map_or(Ok(()), |astray| Err(Stray::At(astray)))?;
        let sent = self.outgoing.bytes(request.bytes, rendered);
        let to = (request.answer.status(), trail.location.as_slice());
        redirected(sent, to, &follow.origin, notes.cookies(), &mut trail.next).map_err(Stray::At)?;
        std::mem::swap(&mut trail.next, rendered);
        Ok(())
    }

    /// A redirect that leads nowhere is the last answer of its request, which fails.
    fn stray(&mut self, id: SlotId, request: &InFlight, stray: Stray, done: Nanos) {
        let status = request.answer.status();
        let slot = &mut self.slots[id as usize];
        let objection = self.outgoing.show_answer(status, slot.heard.as_deref_mut());
        let trail = slot.trail.as_deref();
        let book: &mut Book = &mut self.book;
        book.status(status, request, done);
        book.answered_wrongly(request, done);
        match objection {
            Some(error) => {
                book.fail_with(fate(request, true), ErrorClass::Script, || error.to_string(), done);
            }
            None => {
                let words = || trail.map_or_else(String::new, |trail| trail.words(stray));
                book.fail_with(fate(request, true), ErrorClass::Redirect, words, done);
            }
        }
        if slot.user.is_some() {
            self.step_ended(id, false, done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(locations: &[&[u8]]) -> Trail {
        let mut trail = Trail { location: b"old".to_vec(), ..Trail::default() };
        let fields = locations.iter().map(|value| Header { name: "LOCATION", value });
        let other = Header { name: "Content-Location", value: b"/other" };
        trail.hear(&fields.chain([other]).collect::<Vec<_>>());
        trail
    }

    #[test]
    fn one_location_is_heard() {
        for (locations, heard) in [
            (&[][..], Some(Astray::Missing)),
            (&[&b"/a"[..]], None),
            (&[b"/a", b"/a"], None),
            (&[b"/a", b"/b"], Some(Astray::Several)),
            (&[b"/a", b"/b", b"/a"], Some(Astray::Several)),
            (&[&[b'/'; LOCATION_BYTES_MAX + 1]], Some(Astray::TooLong)),
        ] {
            assert_eq!(hear(locations).astray, heard, "{locations:?}");
        }
    }

    #[test]
    fn a_stray_redirect_is_told_in_words() {
        let trail = hear(&[b"https://h\x1b/\xff"]);
        assert_eq!(
            trail.words(Stray::At(Astray::Elsewhere)),
            "redirected to https://h\u{fffd}/\u{fffd}: another origin; give that URL"
        );
        assert_eq!(trail.words(Stray::TooMany(5)), "more than 5 redirects");
        assert_eq!(trail.words(Stray::TooMany(1)), "more than 1 redirect");
        assert_eq!(trail.words(Stray::At(Astray::Missing)), "a redirect without a Location");
        let long = hear(&[&[b'x'; 5_000]]).words(Stray::At(Astray::Elsewhere));
        assert!(long.chars().count() < 200, "{long}");
    }
}
