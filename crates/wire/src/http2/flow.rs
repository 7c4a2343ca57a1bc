//! Flow control (RFC 9113 §5.2 and §6.9).

use super::fault::Fault;

/// The largest window.
pub(super) const WINDOW_MAX: u32 = (1 << 31) - 1;

/// What a peer still takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendWindow(i64);

impl SendWindow {
    pub(super) const fn new(bytes: u32) -> Self {
        Self(bytes as i64)
    }

    /// Bytes that may be sent; a window that has shrunk below what was sent allows none.
    #[inline]
    pub(super) const fn room(self) -> usize {
        if self.0 > 0 { self.0 as usize } else { 0 }
    }

    #[inline]
    pub(super) const fn spend(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    /// WINDOW_UPDATE.
    ///
    /// # Errors
    /// By nothing, or beyond the largest window.
    pub(super) const fn grow(&mut self, by: u32) -> Result<(), Fault> {
        if by == 0 { Err(Fault::WindowZero) } else { self.shift(by as i64) }
    }

    /// The first size of windows has changed: this one moves along, below zero even.
    ///
    /// # Errors
    /// It moves beyond the largest window.
    pub(super) const fn shift(&mut self, by: i64) -> Result<(), Fault> {
        self.0 += by;
        if self.0 > WINDOW_MAX as i64 { Err(Fault::WindowOverflow) } else { Ok(()) }
    }
}

/// What we still take. Bytes are used as they come, so the window is filled up again when half of it is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    size: u32,
    left: u32,
}

impl ReceiveWindow {
    pub(super) const fn new(size: u32) -> Self {
        Self { size, left: size }
    }

    /// Takes a frame's bytes, padding included.
    ///
    /// # Errors
    /// They are more than was allowed.
    #[inline]
    pub(super) const fn take(&mut self, bytes: u32) -> Result<(), Fault> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Fault::WindowExceeded),
        }
    }

    /// By how much to fill it up, if half is gone; it is full again then.
    #[inline]
    pub(super) const fn top_up(&mut self) -> Option<u32> {
        let gone = self.size - self.left;
        if gone == 0 || gone < self.size.div_ceil(2) {
            return None;
        }
        self.left = self.size;
        Some(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn send_windows_shrink_below_zero_and_never_overflow() {
        let mut window = SendWindow::new(100);
        window.spend(80);
        assert_eq!((window.shift(-90), window.room()), (Ok(()), 0));
        assert_eq!((window.grow(70), window.room()), (Ok(()), 0));
        assert_eq!((window.grow(1), window.room()), (Ok(()), 1));
        assert_eq!(window.grow(0), Err(Fault::WindowZero));
        assert_eq!(window.grow(WINDOW_MAX - 1), Ok(()));
        assert_eq!(window.grow(1), Err(Fault::WindowOverflow));
    }

    #[test]
    fn receive_windows_are_filled_up_at_half() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!((window.take(49), window.top_up()), (Ok(()), None));
        assert_eq!((window.take(1), window.top_up(), window.top_up()), (Ok(()), Some(50), None));
        assert_eq!(window.take(101), Err(Fault::WindowExceeded));
        assert_eq!((window.take(100), window.top_up()), (Ok(()), Some(100)));
        assert_eq!(ReceiveWindow::new(0).top_up(), None);
    }
}
