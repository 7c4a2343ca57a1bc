//! Each method as the contract says, over a real connection on loopback.

use tokio::net::TcpListener;
use tokio_stream::StreamExt as _;
use tonic::Code;

use crate::pb::contract_client::ContractClient;
use crate::pb::{CountRequest, PingRequest, RecordsRequest, UploadRequest};
use crate::{serve, streams_max};

const SHA256_OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn payload(text: &str) -> UploadRequest {
    UploadRequest { payload: text.as_bytes().to_vec() }
}

#[tokio::test]
async fn methods_answer_as_the_contract_says() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move { serve(listener, 100).await.map_err(|error| error.to_string()) });
    let mut client = ContractClient::connect(address).await.unwrap();
    let ping = client.ping(PingRequest {}).await.unwrap().into_inner();
    assert_eq!((ping.code, ping.msg.as_str()), (0, "ok"));
    let data = client.records(RecordsRequest { n: 3 }).await.unwrap().into_inner().data;
    assert_eq!((data.len(), data[23].name.as_str(), data[23].age), (24, "user-000024", 36));
    assert_eq!(data[23].tags, ["alpha", "beta", "gamma"]);
    for n in [0, -1, 1001] {
        let status = client.records(RecordsRequest { n }).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{n}");
    }
    let upload = client.upload(payload("abc")).await.unwrap().into_inner();
    assert_eq!((upload.bytes, upload.sha256.as_str()), (3, SHA256_OF_ABC));
    assert_eq!(client.count(CountRequest {}).await.unwrap().into_inner().calls, 6);
    let watched: Vec<_> = client.watch(RecordsRequest { n: 2 }).await.unwrap().into_inner().collect().await;
    assert_eq!(watched.len(), 16);
    let filled = client.fill(tokio_stream::iter([payload("a"), payload("bc")])).await.unwrap().into_inner();
    assert_eq!((filled.bytes, filled.sha256.as_str()), (3, SHA256_OF_ABC));
    let mut echo = client.echo(tokio_stream::iter([payload("x")])).await.unwrap().into_inner();
    assert_eq!(echo.next().await.unwrap().unwrap().payload, b"x");
    served.abort();
}

#[test]
fn a_wrong_setting_is_named() {
    assert_eq!((streams_max(None), streams_max(Some("7"))), (Ok(1000), Ok(7)));
    assert!(streams_max(Some("x")).unwrap_err().contains("STREAMS_MAX"));
}
