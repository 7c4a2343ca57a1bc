//! The right answer, which every fault departs from.

use super::request::{NoRequest, Requests};
use super::scripts;
use crate::channel::Channel;

const BAD_REQUEST: &str = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Reads a request and gives it the right answer. Returns whether the connection goes on.
pub(super) fn answer_rightly(requests: &mut Requests, channel: &mut dyn Channel) -> bool {
    match requests.head(channel) {
        Ok(head) => {
            let answered = requests.body(&head, channel)
                && channel.send(scripts::right(head.is_head, head.close).as_bytes());
            if head.close {
                channel.finish();
            }
            answered && !head.close
        }
        Err(NoRequest::Bad) => refuse(channel),
        Err(NoRequest::Gone) => false,
    }
}

pub(super) fn refuse(channel: &mut dyn Channel) -> bool {
    channel.send(BAD_REQUEST.as_bytes());
    channel.finish();
    false
}
