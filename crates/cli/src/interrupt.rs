//! Ctrl-C and SIGTERM: the first asks for a clean end with the results so far, the second ends at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first signal sets. Targets are ended by their guards even after the second.
pub(crate) fn stop_flag() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the shutdown looks at the flag before the same signal sets it.
        flag::register_conditional_shutdown(signal, crate::exit::INTERRUPTED.into(), stop.clone())?;
        flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}
