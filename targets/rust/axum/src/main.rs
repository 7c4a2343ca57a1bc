//! axum as a target: extractors for parameters, `Json` for answers, layers of tower for the middleware.
mod answer;
mod backend;
mod cache;
mod database;
mod layers;
mod routes;
mod services;
mod trace_context;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use common::settings::{Reader, Settings, system};
use hyper_util::service::TowerToHyperService;

use crate::services::{App, ServiceSettings};

fn main() -> ExitCode {
    let mut reader = Reader::new(&system);
    let settings = Settings::read(&mut reader);
    let services = ServiceSettings::read(&mut reader);
    let read = (settings.clone(), || async move {
        let app = App::new(&settings, services)?;
        Ok(TowerToHyperService::new(routes::router(app, settings.logger)))
    });
    common::program::run(reader.finish(read))
}
