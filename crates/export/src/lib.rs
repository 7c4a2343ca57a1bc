//! Runs as other systems read them: what a run folder holds so far as families of metrics, these in the formats that
//! Prometheus and OpenTelemetry read, and dashboards over them; results as k6 and JMeter write theirs, and as
//! Bencher and github-action-benchmark read them.
//!
//! Invariants: everything is read from files of run folders, so that a measurement never waits for a reader, and one
//! that comes or goes changes nothing; counters only grow while a run lasts; times of the warm-up are in no histogram;
//! at most [`SERIES_MAX`] series a run; nothing that a target sent becomes a label. The one page that no run stands behind is that of [`Chain`]. Absent on purpose: sockets (`serve`
//! answers, the command pushes), statistics (`analyze`).

mod agent_families;
mod benchmarks;
mod buckets;
mod chain;
mod dashboard;
mod family;
mod feed;
mod follow;
mod jtl;
mod k6_summary;
mod native;
mod otlp;
mod remote_write;
mod run_families;
mod text;
mod totals;
mod traced;

pub use benchmarks::{bencher, github_benchmark};
pub use chain::{Chain, Evidence, QUANTILE, SLOPE_PER_S, Stored};
pub use dashboard::{fleet_dashboard, run_dashboard};
pub use family::{Family, Kind, Sample, Value};
pub use feed::{Feed, INTERVALS, LOG, ROUNDING_NS, TAG};
pub use follow::{Begun, Event, Follow};
pub use jtl::{JTL_HEAD, jtl_line};
pub use k6_summary::k6_summary;
pub use native::{PROTOBUF_TYPE, protobuf};
pub use otlp::{OTLP_TYPE, otlp, otlp_refused, otlp_spans};
pub use remote_write::{
    REMOTE_WRITE_ENCODING, REMOTE_WRITE_TYPE, REMOTE_WRITE_VERSION, remote_write, remote_write_native,
};
pub use run_families::{SERIES_MAX, families};
pub use text::{OPENMETRICS_TYPE, TEXT_TYPE, openmetrics, text};
pub use traced::TracedRequest;
