//! Every fault with its name, what it does, and what a right client makes of it.
//!
//! Classes are given by the key of `schema::load::ErrorClass`; `tls` stands for every failure of TLS itself.

use std::fmt;

/// What a fault is counted by, and happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The whole listener, from the start to the end.
    Listener,
    /// Single connections, as they are accepted.
    Connection,
    /// Single requests.
    Request,
}

/// Which request brings the fault out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Any; GET does.
    Any,
    /// HEAD.
    Head,
    /// A call of gRPC.
    Call,
    /// One with a body too large for the buffers of sockets: 8 MiB or more.
    LargeBody,
}

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It serves the next request.
    Kept,
    /// The client replaces it; the next request is right on a new one.
    Replaced,
    /// It looks sound until the next request is on it, which then fails with this class.
    NextFails(&'static str),
}

/// One line of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The fault.
    pub fault: Fault,
    /// Its name on the command line.
    pub name: &'static str,
    /// The heading under which it is listed.
    pub group: &'static str,
    /// What it happens to.
    pub unit: Unit,
    /// Which request brings it out.
    pub ask: Ask,
    /// Whether it needs a client that speaks TLS.
    pub tls: bool,
    /// Class of the request that meets it; none where that request is answered rightly.
    pub class: Option<&'static str>,
    /// What becomes of the connection.
    pub after: After,
    /// What the server does, in one line.
    pub about: &'static str,
}

macro_rules! catalogue {
    ($($group:literal $unit:ident $tls:literal {
        $($fault:ident $name:literal $ask:ident $class:expr, $after:expr, $about:literal;)*
    })*) => {
        /// One way of being wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[doc = $about] $fault,)*)*
        }

        impl Fault {
            /// Every fault, in the order of the list.
            pub const ALL: &[Self] = &[$($(Self::$fault,)*)*];

            /// The fault's line in the catalogue.
            #[must_use]
            pub const fn entry(self) -> Entry {
                match self {
                    $($(Self::$fault => Entry {
                        fault: self,
                        name: $name,
                        group: $group,
                        unit: Unit::$unit,
                        ask: Ask::$ask,
                        tls: $tls,
                        class: $class,
                        after: $after,
                        about: $about,
                    },)*)*
                }
            }
        }
    };
}

/// Answered rightly.
const RIGHT: Option<&str> = None;
const RESET: Option<&str> = Some("reset");
const CLOSED: Option<&str> = Some("premature_close");
const LATE: Option<&str> = Some("timeout");
const MALFORMED: Option<&str> = Some("malformed");
const STATUS: Option<&str> = Some("unexpected_status");
const BODY: Option<&str> = Some("wrong_body");
const TLS: Option<&str> = Some("tls");
const FLOOD: Option<&str> = Some("flood");
const PROTOCOL: Option<&str> = Some("protocol");

use After::{Kept, NextFails, Replaced};

catalogue! {
    "Listener" Listener false {
        Refused "refused" Any Some("refused"), Replaced, "nothing listens on the port";
        AcceptQueueFull "accept-queue-full" Any Some("connect_timeout"), Replaced, "the accept queue is full, so the system drops every attempt to connect";
        BlackHole "black-hole" Any LATE, Replaced, "the system takes connections, but nobody reads or answers";
    }
    "Connections" Connection false {
        CloseOnAccept "close-on-accept" Any RIGHT, Replaced, "closes a new connection before any request; a client that notices connects again";
        ResetOnAccept "reset-on-accept" Any RIGHT, Replaced, "resets a new connection before any request; a client that notices connects again";
        Unsolicited "unsolicited" Any RIGHT, Replaced, "sends an answer on a new connection before any request";
    }
    "Reset and close" Request false {
        ResetUnread "reset-unread" Any RESET, Replaced, "resets when a request has come, without reading it";
        ResetBeforeHeaders "reset-before-headers" Any RESET, Replaced, "reads the request and resets";
        ResetInHeaders "reset-in-headers" Any RESET, Replaced, "resets in the midst of a header field";
        ResetAfterHeaders "reset-after-headers" Any RESET, Replaced, "resets between the header section and the body";
        ResetMidBody "reset-mid-body" Any RESET, Replaced, "resets in the midst of the body";
        ResetAfterAnswer "reset-after-answer" Any RIGHT, NextFails("reset"), "resets after a complete answer";
        CloseBeforeAnswer "close-before-answer" Any CLOSED, Replaced, "reads the request and closes";
        CloseInHeaders "close-in-headers" Any CLOSED, Replaced, "closes in the midst of a header field";
        CloseMidBody "close-mid-body" Any CLOSED, Replaced, "closes in the midst of a body of known length";
        CloseMidChunk "close-mid-chunk" Any CLOSED, Replaced, "closes in the midst of a chunk";
        CloseBeforeLastChunk "close-before-last-chunk" Any CLOSED, Replaced, "closes after a whole chunk, without the last one";
        CloseWhenIdle "close-when-idle" Any RIGHT, NextFails("premature_close"), "closes after a complete answer that promised to keep the connection";
        CloseAnnounced "close-announced" Any RIGHT, Replaced, "answers with Connection: close and closes";
        HalfCloseBeforeAnswer "half-close-before-answer" Any CLOSED, Replaced, "closes its sending direction instead of answering, and goes on reading";
        HalfCloseAfterAnswer "half-close-after-answer" Any RIGHT, Replaced, "ends an answer without a length by closing its sending direction only";
    }
    "Slow and stalled" Request false {
        Drip "drip" Any RIGHT, Kept, "sends the right answer one byte at a time";
        DripForever "drip-forever" Any LATE, Replaced, "sends header fields without end, one byte every 20 ms";
        StallBeforeAnswer "stall-before-answer" Any LATE, Replaced, "reads the request and never answers";
        StallInHeaders "stall-in-headers" Any LATE, Replaced, "stops in the midst of a header field";
        StallInBody "stall-in-body" Any LATE, Replaced, "stops in the midst of a body of known length";
        StallInChunk "stall-in-chunk" Any LATE, Replaced, "stops after a chunk size";
        StallReading "stall-reading" LargeBody LATE, Replaced, "reads the header section of a request and never its body";
    }
    "Status line" Request false {
        StatusLineMissing "status-line-missing" Any MALFORMED, Replaced, "sends header fields and a body without a status line";
        StatusLineOtherProtocol "status-line-other-protocol" Any MALFORMED, Replaced, "greets as an SSH server";
        StatusLineHttp2 "status-line-http2" Any MALFORMED, Replaced, "calls itself HTTP/2.0 in an HTTP/1.1 answer";
        StatusLineHttp09 "status-line-http09" Any MALFORMED, Replaced, "sends a bare body, as HTTP/0.9 did";
        StatusLineAfterBlank "status-line-after-blank" Any MALFORMED, Replaced, "sends a blank line before the status line";
        StatusTwoDigits "status-two-digits" Any MALFORMED, Replaced, "answers with status 99";
        StatusBelow100 "status-below-100" Any MALFORMED, Replaced, "answers with status 099";
        StatusFourDigits "status-four-digits" Any MALFORMED, Replaced, "answers with status 1000";
        StatusNegative "status-negative" Any MALFORMED, Replaced, "answers with status -200";
        Status500 "status-500" Any STATUS, Kept, "answers with status 500";
        Status999 "status-999" Any STATUS, Kept, "answers with status 999";
        ReasonMissing "reason-missing" Any RIGHT, Kept, "leaves the reason phrase out, which is allowed";
    }
    "Header fields" Request false {
        HeaderBomb "header-bomb" Any MALFORMED, Replaced, "sends header fields without end";
        HeaderOneLong "header-one-long" Any MALFORMED, Replaced, "sends one header field of 80 KiB";
        HeaderCount "header-count" Any MALFORMED, Replaced, "sends 2000 small header fields";
        HeaderNoColon "header-no-colon" Any MALFORMED, Replaced, "sends a header field without a colon";
        HeaderSpaceInName "header-space-in-name" Any MALFORMED, Replaced, "puts a space before the colon of Content-Length";
        HeaderNul "header-nul" Any MALFORMED, Replaced, "puts a NUL byte into a header field";
        HeaderFolded "header-folded" Any RIGHT, Kept, "folds a header field over two lines, which clients must still read";
        HeaderBareLineFeeds "header-bare-line-feeds" Any RIGHT, Kept, "ends lines with a line feed alone, which clients may read";
    }
    "Lengths" Request false {
        LengthConflict "length-conflict" Any MALFORMED, Replaced, "gives two different lengths";
        LengthList "length-list" Any MALFORMED, Replaced, "gives two different lengths in one field";
        LengthTwice "length-twice" Any RIGHT, Kept, "gives the same length twice, which is allowed";
        LengthAndChunked "length-and-chunked" Any MALFORMED, Replaced, "gives a length and chunked coding";
        LengthNegative "length-negative" Any MALFORMED, Replaced, "gives the length -1";
        LengthPlus "length-plus" Any MALFORMED, Replaced, "gives the length with a plus sign";
        LengthNotANumber "length-not-a-number" Any MALFORMED, Replaced, "gives the length in words";
        LengthEmpty "length-empty" Any MALFORMED, Replaced, "gives an empty length";
        LengthOverflow "length-overflow" Any MALFORMED, Replaced, "gives the length 2^64 + 31, which is 31 to those who overflow";
        LengthTooShort "length-too-short" Any BODY, Replaced, "gives a length shorter than the body";
        LengthTooLong "length-too-long" Any LATE, Replaced, "gives a length longer than the body and waits";
        LengthHuge "length-huge" Any LATE, Replaced, "gives a length of 10^17 bytes and begins to send them";
    }
    "Chunks" Request false {
        ChunkNotHex "chunk-not-hex" Any MALFORMED, Replaced, "gives a chunk size that is no number";
        ChunkEmptySize "chunk-empty-size" Any MALFORMED, Replaced, "leaves a chunk size out";
        ChunkNegative "chunk-negative" Any MALFORMED, Replaced, "gives a negative chunk size";
        ChunkPrefix "chunk-prefix" Any MALFORMED, Replaced, "gives a chunk size with 0x before it";
        ChunkOverflow "chunk-overflow" Any MALFORMED, Replaced, "gives the chunk size 2^64 + 31, which is 31 to those who overflow";
        ChunkZeros "chunk-zeros" Any MALFORMED, Replaced, "gives a chunk size with a thousand leading zeros";
        ChunkBadEnd "chunk-bad-end" Any MALFORMED, Replaced, "does not end a chunk with a line end";
        ChunkTiny "chunk-tiny" Any RIGHT, Kept, "sends the right body in chunks of one byte";
        ChunkExtensions "chunk-extensions" Any RIGHT, Kept, "gives chunk extensions and trailers, which is allowed";
        ChunkExtensionBomb "chunk-extension-bomb" Any MALFORMED, Replaced, "gives a chunk extension without end";
        ChunkBomb "chunk-bomb" Any LATE, Replaced, "sends chunks without end";
        TrailerBomb "trailer-bomb" Any MALFORMED, Replaced, "sends trailer fields without end";
    }
    "Bodies" Request false {
        BodyWrong "body-wrong" Any BODY, Kept, "sends a body of the right length with one wrong byte";
        BodyEmpty "body-empty" Any BODY, Kept, "sends an empty body";
        BodyWith204 "body-with-204" Any STATUS, Replaced, "sends a body after status 204, which has none";
        BodyWith304 "body-with-304" Any STATUS, Replaced, "sends a body after status 304, which has none";
        BodyWithHead "body-with-head" Head RIGHT, Replaced, "sends a body in answer to HEAD, which has none";
        BodyUntilClose "body-until-close" Any RIGHT, Replaced, "answers as HTTP/1.0 and ends the body by closing";
    }
    "Interim answers" Request false {
        InterimSome "interim-some" Any RIGHT, Kept, "sends 100 and 103 before the right answer";
        InterimStorm "interim-storm" Any MALFORMED, Replaced, "sends interim answers without end";
        InterimThenStall "interim-then-stall" Any LATE, Replaced, "sends 102 and never the answer";
        InterimThenClose "interim-then-close" Any CLOSED, Replaced, "sends 102 and closes";
        Upgrade "upgrade" Any MALFORMED, Replaced, "switches protocols, though nobody asked";
    }
    "Too early, too much" Request false {
        EarlyAnswer "early-answer" LargeBody RIGHT, Replaced, "sends the right answer and never reads the request's body";
        EarlyRefusal "early-refusal" LargeBody STATUS, Replaced, "answers 413 before the request's body is read, closes its sending direction and reads on";
        AnswerTwice "answer-twice" Any RIGHT, Replaced, "sends the right answer twice";
        GarbageAfterAnswer "garbage-after-answer" Any RIGHT, Replaced, "sends garbage after the right answer";
        GarbageAfterClose "garbage-after-close" Any RIGHT, Replaced, "sends garbage after an answer that said Connection: close";
    }
    "TLS handshake" Connection true {
        TlsAlert "tls-alert" Any TLS, Replaced, "answers the hello with a fatal alert";
        TlsClose "tls-close" Any TLS, Replaced, "reads the hello and closes";
        TlsReset "tls-reset" Any RESET, Replaced, "reads the hello and resets";
        TlsStall "tls-stall" Any Some("connect_timeout"), Replaced, "reads the hello and never answers";
        TlsGarbage "tls-garbage" Any TLS, Replaced, "answers the hello with bytes that are not TLS";
        TlsPlainHttp "tls-plain-http" Any TLS, Replaced, "answers the hello in plain HTTP";
        TlsWantsClient "tls-wants-client" Any TLS, Replaced, "demands a client certificate";
        CertExpired "cert-expired" Any TLS, Replaced, "shows a certificate that ended in 2001";
        CertNotYetValid "cert-not-yet-valid" Any TLS, Replaced, "shows a certificate that begins in 3000";
        CertWrongName "cert-wrong-name" Any TLS, Replaced, "shows a certificate for another name";
        CertSelfSigned "cert-self-signed" Any TLS, Replaced, "shows a certificate that has signed itself";
        CertUnknownIssuer "cert-unknown-issuer" Any TLS, Replaced, "shows a certificate of an authority that nobody trusts";
        CertWrongUsage "cert-wrong-usage" Any TLS, Replaced, "shows a certificate that is good for clients only";
        CertBadSignature "cert-bad-signature" Any TLS, Replaced, "shows a certificate whose signature is damaged";
    }
    "TLS records" Request true {
        TlsSplit "tls-split" Any RIGHT, Kept, "sends the right answer in records of one byte";
        TlsTruncated "tls-truncated" Any CLOSED, Replaced, "ends a body without a length by closing without a closing alert";
        TlsCutMidBody "tls-cut-mid-body" Any CLOSED, Replaced, "closes in the midst of a body, without a closing alert";
        TlsResetMidBody "tls-reset-mid-body" Any RESET, Replaced, "resets in the midst of a body";
        TlsAlertMidBody "tls-alert-mid-body" Any TLS, Replaced, "sends a fatal alert in the midst of a body";
        TlsDamagedRecord "tls-damaged-record" Any TLS, Replaced, "sends the body in a record that was damaged on its way";
    }
    "HTTP/2 floods" Connection false {
        H2HpackBomb "h2-hpack-bomb" Any FLOOD, Replaced, "puts a field of 4 kB into the table of HPACK and names it twenty times";
        H2ContinuationFlood "h2-continuation-flood" Any FLOOD, Replaced, "sends a header block in CONTINUATION frames without end";
        H2SettingsFlood "h2-settings-flood" Any FLOOD, Replaced, "sends SETTINGS without end";
        H2SettingsLong "h2-settings-long" Any FLOOD, Replaced, "sends SETTINGS with 65 entries";
        H2PingFlood "h2-ping-flood" Any FLOOD, Replaced, "sends PING without end";
        H2EmptyFrames "h2-empty-frames" Any FLOOD, Replaced, "sends DATA frames without a byte and without end";
        H2InterimStorm "h2-interim-storm" Any FLOOD, Kept, "sends forty interim answers";
    }
    "HTTP/2 windows and streams" Connection false {
        H2WindowUpdateZero "h2-window-update-zero" Any PROTOCOL, Replaced, "widens the connection's window by 0";
        H2WindowOverflow "h2-window-overflow" Any PROTOCOL, Replaced, "widens the connection's window beyond 2^31 - 1";
        H2WindowNegative "h2-window-negative" LargeBody LATE, Kept, "takes the window of streams back below what was sent";
        H2WindowZero "h2-window-zero" LargeBody LATE, Kept, "offers a window of 0 and never widens it";
        H2StreamsZero "h2-streams-zero" Any LATE, Kept, "allows no stream";
        H2HeadersIdle "h2-headers-idle" Any PROTOCOL, Replaced, "answers on a stream that nobody has opened";
        H2HeadersEven "h2-headers-even" Any PROTOCOL, Replaced, "answers on a stream with an even number";
        H2PushPromise "h2-push-promise" Any PROTOCOL, Replaced, "pushes an answer, though push is switched off";
        H2GoawayRising "h2-goaway-rising" Any PROTOCOL, Replaced, "leaves twice, the second time with a higher stream";
        H2GoawaySilent "h2-goaway-silent" Any LATE, Replaced, "leaves, and never answers what it said it would";
        H2HalfClose "h2-half-close" Any CLOSED, Replaced, "closes its sending direction instead of answering, and goes on reading";
    }
    "HTTP/2 frames and fields" Connection false {
        H2FrameTooLong "h2-frame-too-long" Any PROTOCOL, Replaced, "sends a frame of 16,385 bytes";
        H2Interleaved "h2-interleaved" Any PROTOCOL, Replaced, "sends DATA in the midst of a header block";
        H2LengthWrong "h2-length-wrong" Any PROTOCOL, Kept, "gives a length one byte longer than the body";
        H2PseudoTrailers "h2-pseudo-trailers" Any PROTOCOL, Kept, "sends a status in the fields after the body";
        H2Uppercase "h2-uppercase" Any PROTOCOL, Kept, "sends a field name with a capital letter";
    }
    "HTTP/2 calls of gRPC" Connection false {
        H2StatusMissing "h2-grpc-status-missing" Call PROTOCOL, Kept, "ends a call without a status";
        H2StatusTwice "h2-grpc-status-twice" Call PROTOCOL, Kept, "ends a call with two statuses";
        H2StatusNoNumber "h2-grpc-status-no-number" Call PROTOCOL, Kept, "ends a call with a status that is no number";
        H2MessageCut "h2-grpc-message-cut" Call PROTOCOL, Kept, "ends a call in the midst of a message";
        H2MessageLong "h2-grpc-message-long" Call PROTOCOL, Kept, "says that a message is longer than 4 MiB";
        H2MessageUncoded "h2-grpc-message-uncoded" Call PROTOCOL, Kept, "calls a message compressed without naming a coding";
    }
}

impl Fault {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// Whether it is one of HTTP/2: the server then speaks nothing else, by prior knowledge.
    #[must_use]
    pub fn is_http2(self) -> bool {
        self.name().starts_with("h2-")
    }

    /// The fault of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::load::ErrorClass;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_classes_exist() {
        let names: HashSet<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        assert_eq!(names.len(), Fault::ALL.len());
        assert!(names.len() >= 36, "{}", names.len());
        let is_class = |key: &str| key == "tls" || ErrorClass::ALL.iter().any(|class| class.key() == key);
        for fault in Fault::ALL {
            let entry = fault.entry();
            assert!(entry.class.is_none_or(is_class), "{fault}");
            assert!(!matches!(entry.after, NextFails(key) if !is_class(key)), "{fault}");
            assert!(
                entry
                    .name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
        }
    }
}
