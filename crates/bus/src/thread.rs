//! A thread with a runtime of its own: nothing of a bus runs on a thread of somebody else.

use crate::error::BusError;
use std::io;
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
use tokio::runtime;

/// Begins a thread that opens something and then works with it; returns once it is open.
///
/// # Errors
/// It could not be opened, or the system gives no thread.
pub(crate) fn begin<T>(
    open: impl AsyncFnOnce() -> Result<T, BusError> + Send + 'static,
    work: impl AsyncFnOnce(T) + Send + 'static,
) -> Result<JoinHandle<()>, BusError> {
    let (say, opened) = channel();
    let thread = Builder::new().name("bus".to_owned()).spawn(move || {
        let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(say.send(Err(error.into()))),
        };
        runtime.block_on(async {
            match open().await {
                Ok(open) => {
                    let _ = say.send(Ok(()));
                    work(open).await;
                }
                Err(error) => drop(say.send(Err(error))),
            }
        });
    })?;
    opened.recv().unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::BrokenPipe).into()))?;
    Ok(thread)
}
