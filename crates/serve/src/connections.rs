//! The server itself: its address, its connections and its routes.
//!
//! Invariants: at most so many connections, each with limits on headers and on the time for them; no request but a
//! stream or a download takes longer than its limit; one thread serves, few others wait for files.

use crate::access::Access;
use crate::assets::Assets;
use crate::error::{ApiError, ServeError};
use crate::lab::{Lab, Parts, Shared};
use crate::quiet::Quiet;
use crate::starts::Starts;
use crate::{downloads, experiments, front, guard, metrics, overview, runs};
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use index::Index;
use schema::said;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

const CONNECTIONS_MAX: usize = 256;
const HEADERS_MAX: usize = 64;
const HEADER_BYTES_MAX: usize = 32 * 1024;
const HEADER_WAIT_MAX: Duration = Duration::from_secs(20);
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(120);
/// Threads that wait for files.
const FILE_THREADS: usize = 4;
/// After an error of accept, such as too many descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// For what is under way when the server ends.
const END_WAIT: Duration = Duration::from_millis(500);

/// What a lab is opened with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder of the run folders.
    pub runs: PathBuf,
    /// Folder of the experiment files; none can be started without one.
    pub experiments: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The token; needed where others can reach the address.
    pub token: Option<String>,
    /// Names besides addresses and `localhost` under which the lab may be reached.
    pub names: Vec<String>,
    /// prony's own binary.
    pub launcher: PathBuf,
    /// The pages.
    pub assets: Assets,
    /// Whether to lower the priority of this process and leave the CPUs of generators.
    pub is_quiet: bool,
    /// Whether to answer monitoring alone, without pages and interface.
    pub only_metrics: bool,
}

/// A lab that listens.
pub struct Server {
    runtime: Runtime,
    listener: tokio::net::TcpListener,
    addr: SocketAddr,
    lab: Shared,
    only_metrics: bool,
}

impl Server {
    /// Opens a lab; it answers once it is run.
    ///
    /// # Errors
    /// A folder is missing, the address cannot be had, or it needs a token.
    pub fn bind(options: Options) -> Result<Self, ServeError> {
        if !options.runs.is_dir() {
            return Err(ServeError::NoRuns(options.runs));
        }
        if let Some(folder) = options.experiments.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(ServeError::NoExperiments(folder.clone()));
        }
        if !options.listen.ip().is_loopback() && options.token.is_none() {
            return Err(ServeError::NeedsToken(options.listen));
        }
        let refused = |source| ServeError::Listen { addr: options.listen, source };
        let listener = TcpListener::bind(options.listen).map_err(refused)?;
        let addr = listener.local_addr().map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        // Before the priority is lowered: what is started has the one of now.
        let starts = Starts::begin(&options.launcher, &options.runs)?;
        let quiet = options.is_quiet.then(|| Quiet::begin(starts.thread())).flatten();
        let system = |source| ServeError::System { what: "begin the threads of the server", source };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(FILE_THREADS)
            .thread_name("files")
            .build()
            .map_err(system)?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(refused)?
        };
        let index = Index::open(&options.runs)?;
        let access = Access { addr, names: options.names, token: options.token };
        let lab = Lab::new(Parts {
            runs: options.runs,
            experiments: options.experiments,
            access,
            assets: options.assets,
            starts,
            quiet,
            index,
        });
        Ok(Self { runtime, listener, addr, lab: Arc::new(lab), only_metrics: options.only_metrics })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves until SIGINT or SIGTERM.
    ///
    /// # Errors
    /// The system refuses to report signals.
    pub fn run_until_interrupted(self) -> Result<(), ServeError> {
        use tokio::signal::unix::{SignalKind, signal};
        let system = |source| ServeError::System { what: "wait for signals", source };
        let (mut interrupt, mut terminate) = {
            let _inside = self.runtime.enter();
            let watch = |kind| signal(kind).map_err(system);
            (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?)
        };
        self.run_until(std::future::poll_fn(move |context| {
            let told = interrupt.poll_recv(context).is_ready() || terminate.poll_recv(context).is_ready();
            if told { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        }));
        Ok(())
    }

    /// Serves until something else is done.
    pub fn run_until(self, end: impl Future<Output = ()>) {
        let app = if self.only_metrics { for_monitoring() } else { for_people() };
        let app = guarded(app, self.lab);
        let listener = self.listener;
        self.runtime.block_on(async move {
            tokio::spawn(accept(listener, app));
            end.await;
        });
        self.runtime.shutdown_timeout(END_WAIT);
    }
}

pub(crate) async fn accept(listener: tokio::net::TcpListener, app: Router) {
    let free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // It is never closed.
        let Ok(place) = free.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Events are small and wait for nothing.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_WAIT_MAX)
                .max_headers(HEADERS_MAX)
                .max_buf_size(HEADER_BYTES_MAX)
                .serve_connection(TokioIo::new(stream), service);
            // How a client leaves is its own affair.
            let _ = connection.await;
            drop(place);
        });
    }
}

fn for_monitoring() -> Router<Shared> {
    Router::new().route("/metrics", get(metrics::metrics))
}

fn for_people() -> Router<Shared> {
    for_monitoring()
        .route("/", get(front::index))
        .route("/assets/{name}", get(front::asset))
        .route("/api/lab", get(overview::info))
        .route("/api/login", post(overview::login))
        .route("/api/runs", get(runs::list))
        .route("/api/runs/{id}", get(runs::detail))
        .route("/api/runs/{id}/page", get(runs::page))
        .route("/api/runs/{id}/trials/{trial}", get(runs::trial))
        .route("/api/runs/{id}/trials/{trial}/files/{name}", get(downloads::of_trial))
        .route("/api/runs/{id}/files/{name}", get(downloads::of_run))
        .route("/api/runs/{id}/events", get(runs::events))
        .route("/api/runs/{id}/stop", post(runs::stop))
        .route("/api/runs/{id}/label", put(runs::label))
        .route("/api/compare", get(runs::compare))
        .route("/api/experiments", get(experiments::list))
        .route("/api/experiments/{name}/history", get(experiments::history))
        .route("/api/experiments/{name}/values", get(experiments::values))
        .route("/api/experiments/{name}/start", post(experiments::start))
        .route("/api/starts/{id}/log", get(experiments::log))
}

fn guarded(app: Router<Shared>, lab: Shared) -> Router {
    app.fallback(unknown)
        .method_not_allowed_fallback(method)
        .layer(middleware::from_fn(in_time))
        .layer(middleware::from_fn_with_state(lab.clone(), guard::guard))
        .with_state(lab)
}

/// The answer must begin in time; a stream or a download then takes as long as it takes.
async fn in_time(request: Request, next: Next) -> Response {
    tokio::time::timeout(ANSWER_WAIT_MAX, next.run(request)).await.unwrap_or_else(|_| {
        let error = ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            said!("lab.too_slow", "the answer took too long"),
            said!("lab.ask_again", "ask again; the run may be very large, then look at its report.html"),
        );
        error.into_response()
    })
}

async fn unknown() -> ApiError {
    ApiError::not_found(said!("lab.no_address", "such address"))
}

async fn method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        said!("lab.no_method", "this address does not take that method"),
        said!("lab.see_guide", "see the guide to prony serve"),
    )
}
