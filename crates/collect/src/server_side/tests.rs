//! Readings of scripted servers, and what two readings give.

use super::*;
use std::io::{Read, Write};
use std::net::TcpListener;

/// Answers so many connections, each with the next body, then goes away.
fn serve(bodies: Vec<&'static str>) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for body in bodies {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut request = [0; 2048];
            let _ = stream.read(&mut request);
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    Endpoint { addr, host: addr.to_string(), tls: None }
}

fn metrics(text: &str) -> Metrics {
    serde_json::from_str(text).unwrap()
}

const JSON: &str = r#"{"requests":{"path":"/stats","pointer":"/http/requests"}}"#;

#[test]
fn a_count_at_a_pointer() {
    let at = serve(vec![r#"{"http":{"requests":41}}"#, r#"{"http":{"requests":1041}}"#]);
    let (first, none) = read(&at, &metrics(JSON));
    let (last, _) = read(&at, &metrics(JSON));
    assert!(none.is_empty());
    assert_eq!(between(&first, &last), Counted { requests: Some(1000), ..Counted::default() });
    let back = between(&last, &first);
    assert!(back.requests.is_none() && back.missing[0].contains("started again"), "{back:?}");
}

#[test]
fn what_is_no_count_is_told_with_its_address() {
    for (body, expected) in [
        ("{}", "at /http/requests is no whole number"),
        (r#"{"http":{"requests":-1}}"#, "no whole number"),
        (r#"{"http":{"requests":"7"}}"#, "no whole number"),
        ("<html>", "not the agreed JSON"),
    ] {
        let (reading, errors) = read(&serve(vec![body]), &metrics(JSON));
        assert_eq!(reading, Reading::default());
        let text = errors[0].to_string();
        assert!(text.contains(expected) && text.contains("/stats"), "{text}");
    }
    let (_, errors) = read(&serve(vec![]), &metrics(JSON));
    assert!(errors[0].to_string().contains("/stats"), "{errors:?}");
}

#[test]
fn series_of_prometheus_give_count_and_percentile() {
    let at = serve(vec![
        "n_total 5\nh_bucket{le=\"0.01\"} 1\nh_bucket{le=\"+Inf\"} 2\n",
        "n_total 105\nh_bucket{le=\"0.01\"} 95\nh_bucket{le=\"+Inf\"} 102\n",
    ]);
    let wanted = metrics(r#"{"prometheus":{"path":"/metrics","counter":"n_total","histogram":"h"}}"#);
    let ((first, _), (last, _)) = (read(&at, &wanted), read(&at, &wanted));
    let counted = between(&first, &last);
    // 94 of 100 took at most 10 ms, so the 95th percentile is above.
    assert_eq!(counted.requests, Some(100));
    assert_eq!(counted.p95, Some(QuantileBucket { above_ns: 10_000_000, up_to_ns: None }));
    let only = PrometheusAt { counter: None, ..wanted.prometheus.unwrap() };
    let text = b"h_bucket{le=\"0.01\"} 1\nh_bucket{le=\"+Inf\"} 2\n";
    assert_eq!(parse_prometheus(text, &only).unwrap().requests, Some(2), "the histogram counts too");
}

#[test]
fn a_histogram_that_began_anew_is_told() {
    let wanted = metrics(r#"{"prometheus":{"path":"/metrics","histogram":"h"}}"#).prometheus.unwrap();
    let of = |text: &str| parse_prometheus(text.as_bytes(), &wanted).unwrap();
    let (many, few) = (of("h_bucket{le=\"+Inf\"} 9\n"), of("h_bucket{le=\"+Inf\"} 2\n"));
    let counted = between(&many, &few);
    assert_eq!((counted.requests, counted.p95, counted.missing.len()), (None, None, 2));
}
