//! hyper as a target: no framework, a match over method and path.
mod app;

use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Arc;

use common::settings::{Reader, Settings, system};
use hyper::service::service_fn;

use crate::app::App;

fn main() -> ExitCode {
    let mut reader = Reader::new(&system);
    let settings = Settings::read(&mut reader);
    let app = Arc::new(App::new(&settings));
    let service = service_fn(move |request| {
        let app = app.clone();
        async move { Ok::<_, Infallible>(app.answer(request).await) }
    });
    common::program::run(reader.finish((settings, || async { Ok(service) })))
}
