//! The methods of the contract. Records are built for each call, because that work belongs to the request.

use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};

use sha2::{Digest as _, Sha256};
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use crate::pb::contract_server::Contract;
use crate::pb::{
    CountReply, CountRequest, PingReply, PingRequest, Record, RecordsReply, RecordsRequest, UploadReply,
    UploadRequest,
};
use crate::records::{count, record};

/// Answers the contract and counts its calls.
#[derive(Debug, Default)]
pub struct Target {
    calls: AtomicI64,
}

type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl Target {
    fn begin(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

fn records(request: &RecordsRequest) -> Result<i32, Status> {
    let n = request.n;
    count(n).ok_or_else(|| Status::invalid_argument(format!("n is {n}, must be from 1 to 1000")))
}

#[tonic::async_trait]
impl Contract for Target {
    type WatchStream = Messages<Record>;
    type EchoStream = Messages<UploadRequest>;

    async fn ping(&self, _: Request<PingRequest>) -> Result<Response<PingReply>, Status> {
        self.begin();
        Ok(Response::new(PingReply { code: 0, msg: "ok".to_owned() }))
    }

    async fn records(&self, request: Request<RecordsRequest>) -> Result<Response<RecordsReply>, Status> {
        self.begin();
        let data = (1..=records(request.get_ref())?).map(record).collect();
        Ok(Response::new(RecordsReply { code: 0, msg: "ok".to_owned(), data }))
    }

    async fn upload(&self, request: Request<UploadRequest>) -> Result<Response<UploadReply>, Status> {
        self.begin();
        let mut sum = Sum::default();
        sum.add(request.get_ref());
        Ok(Response::new(sum.reply()))
    }

    async fn count(&self, _: Request<CountRequest>) -> Result<Response<CountReply>, Status> {
        Ok(Response::new(CountReply { calls: self.calls.load(Ordering::Relaxed) }))
    }

    async fn watch(&self, request: Request<RecordsRequest>) -> Result<Response<Self::WatchStream>, Status> {
        self.begin();
        let ids = 1..=records(request.get_ref())?;
        Ok(Response::new(Box::pin(tokio_stream::iter(ids.map(|id| Ok(record(id)))))))
    }

    async fn fill(
        &self,
        request: Request<Streaming<UploadRequest>>,
    ) -> Result<Response<UploadReply>, Status> {
        self.begin();
        let (mut sum, mut messages) = (Sum::default(), request.into_inner());
        while let Some(message) = messages.next().await {
            sum.add(&message?);
        }
        Ok(Response::new(sum.reply()))
    }

    async fn echo(
        &self,
        request: Request<Streaming<UploadRequest>>,
    ) -> Result<Response<Self::EchoStream>, Status> {
        self.begin();
        Ok(Response::new(Box::pin(request.into_inner())))
    }
}

/// Length and checksum of payloads.
#[derive(Default)]
struct Sum {
    bytes: i64,
    hash: Sha256,
}

impl Sum {
    fn add(&mut self, request: &UploadRequest) {
        self.bytes += request.payload.len() as i64;
        self.hash.update(&request.payload);
    }

    fn reply(self) -> UploadReply {
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        UploadReply { bytes: self.bytes, sha256 }
    }
}
