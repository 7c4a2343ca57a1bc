//! The process: settings, runtime, signals, exit status. 0 after a clean stop, 1 with a message on stderr
//! otherwise.
use std::error::Error;
use std::future::Future;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Buf;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::Service;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::log;
use crate::serve::{listen, serve};
use crate::settings::{Settings, SettingsError};

/// What is still blocked when the process ends is not waited for longer.
const LAST_WAIT: Duration = Duration::from_millis(100);

/// Serves what `make` makes, until SIGTERM or SIGINT. A second signal ends the process at once.
pub fn run<S, B, F>(settings: Result<(Settings, impl FnOnce() -> F), SettingsError>) -> ExitCode
where
    F: Future<Output = Result<S, Box<dyn Error>>>,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let ended = settings.map_err(Into::into).and_then(|(settings, make)| {
        start_log(&settings)?;
        let runtime = runtime(&settings)?;
        let ended = runtime.block_on(until_signal(&settings, make));
        runtime.shutdown_timeout(LAST_WAIT);
        ended
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start_log(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let path = &settings.access_log;
    let writer = log::writer(path).map_err(|error| {
        format!("ACCESS_LOG={path:?} cannot be written ({error}): set it to a file that can")
    })?;
    Ok(tracing::subscriber::set_global_default(writer)?)
}

fn runtime(settings: &Settings) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    // Without a number Tokio takes the CPUs that the process may use, or the CPU limit of its cgroup.
    if let Some(threads) = settings.worker_threads {
        builder.worker_threads(threads);
    }
    builder.enable_all().build()
}

async fn until_signal<S, B, F>(settings: &Settings, make: impl FnOnce() -> F) -> Result<(), Box<dyn Error>>
where
    F: Future<Output = Result<S, Box<dyn Error>>>,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let mut signals = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
    let service = make().await?;
    let listener = listen(&settings.listen).await?;
    eprintln!("listening on {}", listener.local_addr()?);
    let (tell, told) = tokio::sync::oneshot::channel();
    let stop = async { drop(told.await) };
    let serving = serve(listener, service, settings, stop);
    let twice = async {
        any(&mut signals).await;
        let _ = tell.send(());
        any(&mut signals).await;
    };
    tokio::select! {
        ended = serving => Ok(ended?),
        () = twice => Err("ended by a second signal, with requests in flight".into()),
    }
}

async fn any([terminate, interrupt]: &mut [Signal; 2]) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
