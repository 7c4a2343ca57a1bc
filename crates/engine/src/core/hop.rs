//! The hops of a request whose redirects are followed: each is made, written, and ends or leads to the next.
//!
//! A connection with streams carries other requests meanwhile, so a hop has its turn there as they have. What it waits for is
//! a part of the service time, which has begun with the first hop.

use super::Core;
use super::carrier::Writing;
use super::follow::Stray;
use super::place::{Phase, Place, PlaceId};
use crate::book::Book;
use crate::driver::Sockets;
use crate::fate::Fate;
use crate::protocol::Protocol;
use request::{Answer, Bytes};
use schema::load::ErrorClass;
use units::Nanos;
use wire::{Astray, Framing as _};

impl<P: Protocol> Core<P> {
    /// A complete redirect for the request of a place while redirects are followed: the next hop is sent, or the request
    /// has failed and the place is free. `reusable` says whether the connection may serve again. Returns as
    /// [`Core::complete`].
    #[cold]
    pub(super) fn redirected<S: Sockets>(
        &mut self,
        sockets: &mut S,
        at: PlaceId,
        reusable: bool,
        done: Nanos,
    ) -> Option<Nanos> {
        if let Err(stray) = self.aim(at) {
            self.stray(at, stray, done);
            return self.release(sockets, at, reusable, done);
        }
        let place = &mut self.places[at];
        let id = place.carrier;
        self.book.redirected(place.request.answer.status(), place.request.intended, done);
        if let Some(user) = &mut place.user {
            user.learn_cookies(&place.notes);
        }
        if let Some(heard) = &mut place.heard {
            heard.forget();
        }
        place.bytes = Bytes::Rendered;
        place.request.hops += 1;
        place.request.first_byte = None;
        place.request.answer = Answer::to(self.outgoing.global(place.request.which));
        place.stamp_written(done);
        if P::HAS_STREAMS {
            return self.hop_in_turn(sockets, at, done);
        }
        if reusable && !self.is_over(id, done) {
            self.write_hop(sockets, at, done);
        } else {
            self.close(sockets, id);
            self.await_connection(sockets, at, done);
        }
        None
    }

    /// Gives the next hop to the connection that its seat's requests go to now. Returns as [`Core::complete`].
    fn hop_in_turn<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) -> Option<Nanos> {
        self.waits.settle(at);
        let id = self.places[at].carrier;
        let present = self.places.present(id);
        let place = &mut self.places[at];
        (place.phase, place.carrier) = (Phase::Waiting, present);
        self.wait_for(at, now);
        // The stream that has ended may be the room of a request that has waited longer.
        self.put_all_waiting(sockets, present, now);
        if self.replace_if_left(sockets, id, now) {
            return None;
        }
        self.succeed(sockets, id);
        self.carriers[id as usize].is_connected().then_some(now)
    }

    /// Sends the present hop of a place's request on its connection.
    pub(super) fn write_hop<S: Sockets>(&mut self, sockets: &mut S, at: PlaceId, now: Nanos) {
        let put = self.open(at);
        if P::HAS_STREAMS {
            return self.was_put(sockets, at, put, now);
        }
        let id = self.places[at].carrier;
        self.carriers[id as usize].writing = Some(Writing { at, sent: 0 });
        self.write_on(sockets, id, now);
    }

    /// Makes the request of the next hop, into the place's memory.
    fn aim(&mut self, at: PlaceId) -> Result<(), Stray> {
        let Place { trail, rendered, notes, request, bytes, .. } = &mut self.places[at];
        let (Some(follow), Some(trail)) = (&self.follow, trail) else {
            return Err(Stray::At(Astray::Missing));
        };
        if u32::from(request.hops) >= follow.hops_max {
            return Err(Stray::TooMany(follow.hops_max));
        }
        trail.astray.map_or(Ok(()), |astray| Err(Stray::At(astray)))?;
        let sent = self.outgoing.bytes(*bytes, rendered);
        let to = (request.answer.status(), trail.location.as_slice());
        P::Framing::redirected(sent, to, &follow.origin, notes.cookies(), &mut trail.next)
            .map_err(Stray::At)?;
        std::mem::swap(&mut trail.next, rendered);
        Ok(())
    }

    /// A redirect that leads nowhere is the last answer of its request, which fails.
    fn stray(&mut self, at: PlaceId, stray: Stray, done: Nanos) {
        let place = &mut self.places[at];
        let request = &place.request;
        let objection = self.outgoing.show_answer(request.answer.status(), place.heard.as_deref_mut());
        let trail = place.trail.as_deref();
        let book: &mut Book = &mut self.book;
        book.status(request.answer.status(), request, done);
        book.answered_wrongly(request, done);
        match objection {
            Some(error) => {
                book.fail_with(Fate::of(request), ErrorClass::Script, || error.to_string(), done);
            }
            None => {
                let words = || trail.map_or_else(String::new, |trail| trail.words(stray));
                book.fail_with(Fate::of(request), ErrorClass::Redirect, words, done);
            }
        }
        if place.user.is_some() {
            self.step_ended(at, false, done);
        }
    }
}
