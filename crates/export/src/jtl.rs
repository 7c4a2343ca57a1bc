//! Rows of `prony load --each` as lines of JMeter's result files (JTL, CSV with its usual columns).
//!
//! `elapsed` is the service time, as JMeter counts it, from the sending on; `timeStamp` is when it was written. What
//! JMeter counts and prony does not (threads, bytes sent, the URL) is 0 or `null`, as JMeter writes what it was set not to
//! keep. Requests of the warm-up, and those that never ended, have no line.

use schema::each::{EachHead, EachOutcome, EachPhase, EachRow};

/// The first line.
pub const JTL_HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
                            failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

const NS_PER_MS: u64 = 1_000_000;

/// The line of a row, without its end; `None` for one of the warm-up or without an end.
#[must_use]
pub fn jtl_line(head: &EachHead, row: &EachRow) -> Option<String> {
    if row.phase != EachPhase::Measured || row.outcome == EachOutcome::Censored {
        return None;
    }
    let elapsed_ns = row.service_ns.or(row.response_ns)?;
    let waited_ns = row.pacer_lag_ns.unwrap_or(0).saturating_add(row.connection_wait_ns.unwrap_or(0));
    let begin_ns = head.origin_unix_ns.saturating_add(row.intended_ns).saturating_add(waited_ns);
    let is_right = row.outcome == EachOutcome::Completed;
    let error = row.error.map_or("", |class| class.key());
    let code = match row.status {
        Some(status) => status.to_string(),
        None => format!("Non HTTP response code: {error}"),
    };
    let connection = row.connection.map_or_else(|| "none".to_owned(), |slot| slot.to_string());
    let fields = [
        (begin_ns / NS_PER_MS).to_string(),
        (elapsed_ns / NS_PER_MS).to_string(),
        quoted(&row.name),
        quoted(&code),
        quoted(error),
        format!("prony worker {} connection {connection}", row.worker),
        "text".to_owned(),
        is_right.to_string(),
        quoted(error),
        row.body_bytes.unwrap_or(0).to_string(),
        "0".to_owned(),
        "0".to_owned(),
        "0".to_owned(),
        "null".to_owned(),
        row.first_byte_ns.map_or(0, |ns| ns / NS_PER_MS).to_string(),
        "0".to_owned(),
        "0".to_owned(),
    ];
    Some(fields.join(","))
}

/// As RFC 4180 has it, where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::load::ErrorClass;
    use schema::version::EachVersion;

    fn row() -> EachRow {
        EachRow {
            request: 1,
            phase: EachPhase::Measured,
            worker: 0,
            connection: Some(3),
            name: "a, \"b\"".to_owned(),
            intended_ns: 5_000_000,
            pacer_lag_ns: Some(1_000_000),
            connection_wait_ns: Some(2_000_000),
            service_ns: Some(7_900_000),
            response_ns: Some(10_900_000),
            first_byte_ns: Some(6_000_000),
            status: Some(200),
            body_bytes: Some(32),
            outcome: EachOutcome::Completed,
            error: None,
        }
    }

    #[test]
    fn rows_become_lines_of_jmeter() {
        let head =
            EachHead { schema: EachVersion::default(), origin_unix_ns: 1_000_000_000, share: 1.0, seed: 1 };
        assert_eq!(
            jtl_line(&head, &row()).unwrap(),
            "1008,7,\"a, \"\"b\"\"\",200,,prony worker 0 connection 3,text,true,,32,0,0,0,null,6,0,0"
        );
        assert_eq!(jtl_line(&head, &row()).unwrap().matches(',').count() - 1, JTL_HEAD.matches(',').count());
        let failed = EachRow {
            status: None,
            outcome: EachOutcome::Failed,
            error: Some(ErrorClass::Timeout),
            name: "x".to_owned(),
            ..row()
        };
        let line = jtl_line(&head, &failed).unwrap();
        assert!(
            line.contains(",x,Non HTTP response code: timeout,timeout,") && line.contains(",false,timeout,"),
            "{line}"
        );
        for left_out in [
            EachRow { phase: EachPhase::Warmup, ..row() },
            EachRow { outcome: EachOutcome::Censored, service_ns: None, response_ns: None, ..row() },
        ] {
            assert_eq!(jtl_line(&head, &left_out), None);
        }
    }
}
