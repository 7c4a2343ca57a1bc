//! `/metrics`: runs in progress, or the newest one, as Prometheus asks for them.
//!
//! The format is the best that the asker names: protobuf with native histograms, OpenMetrics, else the older text.

use crate::blocking::blocking;
use crate::error::ApiError;
use crate::lab::Shared;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use export::{Family, OPENMETRICS_TYPE, PROTOBUF_TYPE, TEXT_TYPE, families, openmetrics, protobuf, text};
use schema::said;

pub(crate) async fn metrics(State(lab): State<Shared>, headers: HeaderMap) -> Result<Response, ApiError> {
    let families = blocking(move || {
        let mut feed = lab.feed.lock().map_err(|_| {
            ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                said!("lab.feed_in_change", "the export of metrics was left in the middle of a change"),
                said!("lab.start_again", "start prony serve again"),
            )
        })?;
        feed.look();
        if let Some(quiet) = &lab.quiet {
            quiet.keep_off(feed.pins());
        }
        Ok(families(&feed))
    })
    .await?;
    Ok(rendered(&headers, &families))
}

/// The families in the best format that the asker names.
pub(crate) fn rendered(headers: &HeaderMap, families: &[Family]) -> Response {
    let accepted: String =
        headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let (kind, body) = match Format::accepted(&accepted) {
        Format::Protobuf => (PROTOBUF_TYPE, protobuf(families)),
        Format::OpenMetrics => (OPENMETRICS_TYPE, openmetrics(families).into_bytes()),
        Format::Text => (TEXT_TYPE, text(families).into_bytes()),
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], body).into_response()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Protobuf,
    OpenMetrics,
    Text,
}

impl Format {
    /// Prometheus lists what it takes with falling weight; protobuf only where it wants native histograms.
    fn accepted(list: &str) -> Self {
        let takes = |kind: &str| list.split(',').any(|range| range.trim().starts_with(kind));
        if takes("application/vnd.google.protobuf") {
            Self::Protobuf
        } else if takes("application/openmetrics-text") {
            Self::OpenMetrics
        } else {
            Self::Text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_the_best_that_the_asker_takes() {
        for (list, format) in [
            ("", Format::Text),
            ("*/*", Format::Text),
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1",
                Format::OpenMetrics,
            ),
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
                 application/openmetrics-text;version=1.0.0;q=0.5",
                Format::Protobuf,
            ),
        ] {
            assert_eq!(Format::accepted(list), format, "{list}");
        }
    }
}
