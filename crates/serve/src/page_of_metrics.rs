//! One page under `/metrics`, made anew for each request, by a thread of its own.

use crate::connections::accept;
use crate::error::ServeError;
use crate::metrics::rendered;
use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use export::Family;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// A page that is answered until this is dropped.
pub struct MetricsPage {
    addr: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsPage {
    /// Begins to answer at an address; port 0 takes a free one.
    ///
    /// # Errors
    /// The address cannot be had, or is another than loopback: whoever reaches it could read the page.
    pub fn begin(
        listen: SocketAddr,
        make: impl Fn() -> Vec<Family> + Send + Sync + 'static,
    ) -> Result<Self, ServeError> {
        if !listen.ip().is_loopback() {
            return Err(ServeError::NeedsToken(listen));
        }
        let refused = |source| ServeError::Listen { addr: listen, source };
        let listener = TcpListener::bind(listen).map_err(refused)?;
        let addr = listener.local_addr().map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let system = |source| ServeError::System { what: "begin the threads of the server", source };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(system)?;
        let make = Arc::new(make);
        let page = move |headers: HeaderMap| {
            let make = Arc::clone(&make);
            async move { rendered(&headers, &make()) }
        };
        let app = Router::new().route("/metrics", get(page));
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async move {
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    tokio::spawn(accept(listener, app));
                    let _ = stopped.await;
                }
            });
        };
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(serve).map_err(system)?;
        Ok(Self { addr, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it answers.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for MetricsPage {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
