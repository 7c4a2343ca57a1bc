//! How long a way really takes: datagrams there and back while nothing else is on it.
//!
//! Invariant: bounded in number and time; a trip that is lost is none.

use super::space::End;
use schema::limits::{DelayedBy, PathDelay};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Trips, of which long delays take fewer.
const TRIPS: u32 = 20;
const TRIPS_MIN: u32 = 3;
/// Time for all trips.
const BUDGET: Duration = Duration::from_millis(500);
/// What a trip may take beyond its delay.
const SPARE: Duration = Duration::from_millis(500);

/// Measures the way between two ends whose packets are to be held up for `delay_ns` in each direction.
pub(super) fn measure(by: DelayedBy, delay_ns: u64, here: &End, there: &End) -> Result<PathDelay, String> {
    let both_ways = Duration::from_nanos(2 * delay_ns);
    let open = |end: &End| {
        end.within(|| {
            let socket = UdpSocket::bind((end.address, 0)).map_err(|error| error.to_string())?;
            socket.set_read_timeout(Some(both_ways + SPARE)).map_err(|error| error.to_string())?;
            Ok(socket)
        })
    };
    let (here, there) = (open(here)?, open(there)?);
    // The first learns the neighbour's address.
    trip(&here, &there)?;
    let wanted = (BUDGET.as_nanos() / both_ways.as_nanos().max(1)) as u32;
    let mut times: Vec<i64> = (0..wanted.clamp(TRIPS_MIN, TRIPS))
        .filter_map(|_| trip(&here, &there).ok())
        .map(|time| time.as_nanos() as i64 - both_ways.as_nanos() as i64)
        .collect();
    times.sort_unstable();
    match (times.get(times.len() / 2), times.last()) {
        (Some(p50), Some(max)) => {
            Ok(PathDelay { by, delay_ns, trips: times.len() as u32, error_p50_ns: *p50, error_max_ns: *max })
        }
        _ => Err("no packet came back from the other end".to_owned()),
    }
}

fn trip(here: &UdpSocket, there: &UdpSocket) -> Result<Duration, String> {
    let mut byte = [0];
    let begun = Instant::now();
    for (from, to) in [(here, there), (there, here)] {
        let address = to.local_addr().map_err(|error| error.to_string())?;
        from.send_to(&[1], address).map_err(|error| error.to_string())?;
        to.recv(&mut byte).map_err(|error| error.to_string())?;
    }
    Ok(begun.elapsed())
}
