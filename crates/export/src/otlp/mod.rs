//! What a collector of OpenTelemetry is sent: families as metrics, requests that stand out as spans.

mod common;
mod metrics;
mod spans;

pub use common::{OTLP_TYPE, otlp_refused};
pub use metrics::otlp;
pub use spans::otlp_spans;
