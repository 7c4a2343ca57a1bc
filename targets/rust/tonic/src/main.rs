//! tonic as a target: `prony.contract.v1.Contract`, the standard health service and reflection, in plain text over HTTP/2.
//! Deliberately absent: TLS, HTTP/1.1, and any log per call, which would add to what is measured.
mod methods;
mod records;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// What is generated from the contract's file.
mod pb {
    tonic::include_proto!("prony.contract.v1");

    /// The file itself, for reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/contract.bin"));
}

/// The contract gives 5 s from the signal to the free port.
const GRACE: Duration = Duration::from_millis(4_500);
const STREAMS_MAX: u32 = 1_000;

fn main() -> ExitCode {
    let run = || -> Result<(), Box<dyn Error>> {
        let streams_max = streams_max(std::env::var("STREAMS_MAX").ok().as_deref())?;
        let address = std::env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:50051".to_owned());
        tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
            let listener = TcpListener::bind(&address).await.map_err(|error| {
                format!(
                    "cannot listen on {address}: set LISTEN to a free host:port of this machine ({error})"
                )
            })?;
            eprintln!("listening on {}", listener.local_addr()?);
            serve(listener, streams_max).await
        })
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Calls of a connection at a time.
fn streams_max(text: Option<&str>) -> Result<u32, String> {
    match text {
        None | Some("") => Ok(STREAMS_MAX),
        Some(text) => match text.parse() {
            Ok(number @ 1..=1_000_000) => Ok(number),
            _ => Err(format!("STREAMS_MAX={text:?} is no whole number from 1 to 1000000")),
        },
    }
}

async fn serve(listener: TcpListener, streams_max: u32) -> Result<(), Box<dyn Error>> {
    let (health, health_service) = tonic_health::server::health_reporter();
    let reflection = || {
        tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(pb::DESCRIPTORS)
    };
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (stop, stopped) = tokio::sync::oneshot::channel();
    // The builder's own `tcp_nodelay` is for listeners of its own.
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let served = Server::builder()
        .max_concurrent_streams(streams_max)
        .add_service(pb::contract_server::ContractServer::new(methods::Target::default()))
        .add_service(health_service)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .serve_with_incoming_shutdown(incoming, async {
            let _ = stopped.await;
        });
    let served = tokio::spawn(served);
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
    let _ = stop.send(());
    match tokio::time::timeout(GRACE, served).await {
        Ok(ended) => Ok(ended??),
        Err(_) => {
            Err(format!("calls still open {} ms after the stop signal were cut off", GRACE.as_millis())
                .into())
        }
    }
}
