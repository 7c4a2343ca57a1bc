//! A reading that may hang, on a thread of its own.
//!
//! Invariants: [`Apart::read`] returns within its limit; while the thread is still at an earlier reading nothing new is
//! asked of it; an answer that comes too late is dropped, since it is of another moment. The thread ends with its
//! `Apart`, once its reading returns.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

const ENDED: &str = "the thread that reads it has ended";

pub(super) struct Apart<T> {
    ask: Sender<()>,
    told: Receiver<T>,
    timeout: Duration,
    /// Asked and not yet answered.
    is_busy: bool,
}

impl<T: Send + 'static> Apart<T> {
    pub(super) fn new(mut read: impl FnMut() -> T + Send + 'static, timeout: Duration) -> Self {
        let (ask, asked) = channel();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                if tell.send(read()).is_err() {
                    break;
                }
            }
        });
        Self { ask, told, timeout, is_busy: false }
    }

    /// The answer, or why there is none yet.
    pub(super) fn read(&mut self) -> Result<T, &'static str> {
        if self.is_busy {
            match self.told.try_recv() {
                Ok(_) => self.is_busy = false,
                Err(TryRecvError::Empty) => return Err("it has not answered an earlier question; it hangs"),
                Err(TryRecvError::Disconnected) => return Err(ENDED),
            }
        }
        self.ask.send(()).map_err(|_| ENDED)?;
        self.is_busy = true;
        match self.told.recv_timeout(self.timeout) {
            Ok(answer) => {
                self.is_busy = false;
                Ok(answer)
            }
            Err(RecvTimeoutError::Timeout) => Err("no answer within 800 ms; it hangs or is overloaded"),
            Err(RecvTimeoutError::Disconnected) => Err(ENDED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_hangs_is_given_up_and_its_late_answer_dropped() {
        let (release, gate) = channel();
        let mut count = 0;
        let read = move || {
            count += 1;
            let _ = gate.recv();
            count
        };
        let mut apart = Apart::new(read, Duration::from_millis(20));
        assert!(apart.read().unwrap_err().contains("no answer"));
        assert!(apart.read().unwrap_err().contains("earlier"), "nothing new is asked");
        release.send(()).unwrap();
        release.send(()).unwrap();
        apart.timeout = Duration::from_secs(60);
        let answer = loop {
            if let Ok(answer) = apart.read() {
                break answer;
            }
            std::thread::yield_now();
        };
        assert_eq!(answer, 2, "the first answer was of another moment");
    }

    #[test]
    fn a_thread_that_panicked_is_an_error() {
        let mut apart = Apart::new(|| -> () { panic!("on purpose") }, Duration::from_secs(60));
        assert_eq!(apart.read().unwrap_err(), ENDED);
        assert_eq!(apart.read().unwrap_err(), ENDED);
    }
}
