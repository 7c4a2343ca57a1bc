//! Records from the gRPC backend: TLS checked against one certificate, one connection kept for all requests.
//!
//! The messages are those of services/grpc/proto/records.proto, written by hand so that a build needs no
//! protoc.
use std::time::Duration;

use axum::http::uri::PathAndQuery;
use common::contract::Failure;
use common::settings::Reader;
use prost::Message;
use serde::Serialize;
use tonic::client::Grpc;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use crate::services::unavailable;

const LIST: PathAndQuery = PathAndQuery::from_static("/prony.v1.Records/List");
/// A call that takes longer is a fault, not a measurement.
const CALL_LIMIT: Duration = Duration::from_secs(10);
/// 8000 records are 0.6 MB.
const ANSWER_BYTES_MAX: usize = 4 << 20;

#[derive(Clone, PartialEq, Message)]
struct ListRequest {
    #[prost(int32, tag = "1")]
    n: i32,
}

#[derive(Clone, PartialEq, Message)]
struct ListReply {
    #[prost(message, repeated, tag = "1")]
    records: Vec<Remote>,
}

/// A record as the backend sent it, and as it is answered.
#[derive(Clone, PartialEq, Message, Serialize)]
pub struct Remote {
    #[prost(int32, tag = "1")]
    id: i32,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "3")]
    email: String,
    #[prost(int32, tag = "4")]
    age: i32,
    #[prost(bool, tag = "5")]
    active: bool,
    #[prost(double, tag = "6")]
    score: f64,
    #[prost(string, repeated, tag = "7")]
    tags: Vec<String>,
}

/// Address and certificate.
pub struct BackendSettings {
    address: (String, u16),
    certificate: Vec<u8>,
}

impl BackendSettings {
    /// None where there is no address; what is wrong stays in `reader`.
    pub fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let address = reader.address("GRPC")?;
        let file = reader.text("GRPC_CA_FILE").unwrap_or_default();
        match std::fs::read(&file) {
            Ok(certificate) => Some(Self { address, certificate }),
            Err(error) => {
                reader.fail(format!(
                    "GRPC_CA_FILE={file:?} must be the file of the backend's certificate ({error})"
                ));
                None
            }
        }
    }
}

/// The connection.
pub struct Backend(Channel);

impl Backend {
    /// Connects to nothing yet. Must be called inside a runtime.
    ///
    /// # Errors
    /// The address or the certificate is none.
    pub fn new(settings: BackendSettings) -> Result<Self, tonic::transport::Error> {
        let (host, port) = settings.address;
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(settings.certificate));
        let endpoint = Endpoint::from_shared(format!("https://{host}:{port}"))?.tls_config(tls)?;
        Ok(Self(endpoint.timeout(CALL_LIMIT).connect_timeout(CALL_LIMIT).tcp_nodelay(true).connect_lazy()))
    }

    /// Reaches the server once.
    pub async fn ping(&self) -> Result<(), Failure> {
        self.list(1).await.map(drop)
    }

    /// The records 1 to 8n.
    ///
    /// # Errors
    /// Status 503 where the backend fails.
    pub async fn list(&self, n: u64) -> Result<Vec<Remote>, Failure> {
        let n = i32::try_from(n).unwrap_or(i32::MAX);
        let reply = self.call(ListRequest { n }).await;
        reply
            .map(|reply| reply.records)
            .map_err(|status| unavailable(format!("the gRPC backend failed: {status}")))
    }

    async fn call(&self, request: ListRequest) -> Result<ListReply, Status> {
        let mut client = Grpc::new(self.0.clone()).max_decoding_message_size(ANSWER_BYTES_MAX);
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let codec: ProstCodec<ListRequest, ListReply> = ProstCodec::default();
        Ok(client.unary(Request::new(request), LIST, codec).await?.into_inner())
    }
}
