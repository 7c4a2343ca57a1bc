//! Single keys while a load is shown: `q` ends it and reports, `p` holds the display still.
//!
//! Invariants: only in the foreground of a terminal; line editing and echo are off meanwhile and nothing else is
//! changed, so that Ctrl-C interrupts and lines end as ever; what was is put back when this is dropped, which a panic
//! does too, and as soon as the load is asked to stop, so that a second signal, which ends the process at once, finds
//! it put back; reading never waits.

use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    End,
    Pause,
}

/// A terminal that hands over each key as it is pressed.
pub(super) struct Keys {
    before: Termios,
}

impl Keys {
    /// `None` where there is no terminal to listen to.
    pub(super) fn listen() -> Option<Self> {
        if !isatty(stdin()) || !is_in_foreground() {
            return None;
        }
        let before = tcgetattr(stdin()).ok()?;
        let mut single = before.clone();
        single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        single.special_codes[SpecialCodeIndex::VMIN] = 0;
        single.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin(), OptionalActions::Now, &single).ok()?;
        Some(Self { before })
    }

    /// The next key that means something, if one was pressed.
    pub(super) fn pressed(&self) -> Option<Key> {
        let mut byte = [0_u8];
        while is_in_foreground() && rustix::io::read(stdin(), &mut byte).is_ok_and(|read| read > 0) {
            match byte[0] {
                b'q' | b'Q' => return Some(Key::End),
                b'p' | b'P' => return Some(Key::Pause),
                _ => {}
            }
        }
        None
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // In the background this would stop the process, and the shell has put the terminal right.
        if is_in_foreground() {
            let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
        }
    }
}

/// Whether the terminal is this process's to read and to change.
fn is_in_foreground() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
}
