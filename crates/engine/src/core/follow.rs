//! Redirects that are followed: where an answer leads, and the hops of its request.
//!
//! A followed request stays one request of the load. Its intended and written stamps are those of the first hop and its
//! end is that of the last, so both times cover the whole chain; its checks see the last answer only. Hops are counted
//! apart. The response time-out is for each hop. Without streams a connection carries one request at a time, so a hop is
//! written where the answer came from, or on a new connection where that one has ended.
//!
//! No allocation per request once the buffers of a place are warm, but for hops over HTTP/2; a load without redirects has no
//! such buffers.

use crate::failure::clean;
use units::Nanos;
use wire::{Astray, Header, LOCATION_BYTES_MAX, Origin};

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

/// The redirect that a place's request met, and the request that it becomes. Its memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    pub(super) location: Vec<u8>,
    /// Why the location is of no use.
    pub(super) astray: Option<Astray>,
    pub(super) next: Vec<u8>,
    /// When the last part of the present hop was handed to the system.
    pub(crate) written: Nanos,
}

/// Why a redirect ends its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
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

    /// Why a redirect was not followed, for people.
    pub(super) fn words(&self, stray: Stray) -> String {
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
