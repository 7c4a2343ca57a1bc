//! What the engine must know of the way to a target beyond its address.

use crate::GenerateError;
use engine::{Proxy, Way};
use plan::net::HttpUrl;
use plan::{LoadJob, origins};

/// The way of a job.
pub(crate) fn of(job: &LoadJob) -> Result<Way, GenerateError> {
    let proxy = job.proxy.as_ref().map(|proxy| Proxy { address: job.to, request: proxy.request().into() });
    Ok(Way {
        origin: Some(HttpUrl::parse(&job.url)?.to_origin()),
        proxy,
        namespace: job.network.clone(),
        further: job.further.iter().map(|further| further.to).collect(),
        origin_of: origins::numbers(&job.scenario, &job.further),
        first_stream: None,
    })
}
