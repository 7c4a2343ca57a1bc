//! What `prony calibrate` prints: the instrument's limits as tables, and what they mean.
//!
//! Invariant: lines fit the columns given; where the spread of the repeats is shown, it is their smallest and largest.

use crate::host::instrument::driver;
use crate::terminal::layout::{Align, paragraph, table};
use crate::terminal::paint::{Tone, finish, paint};
use crate::{Style, clean, format};
use schema::calibration::{CalibrationFile, DriverLimits, HostIdentity, LagAtRate, MaxRate, Spread};
use schema::said::{Joint, Said};

/// A calibration as text of `style.width` columns; `stale` says what has changed on the host since.
#[must_use]
pub fn calibration_text(file: &CalibrationFile, stale: &[Said], style: Style) -> String {
    let columns = style.columns();
    let mut sections = vec![opening(file, stale, columns)];
    sections.extend(file.drivers.iter().map(|limits| driver_tables(limits, columns)));
    sections.push(without_load(file, columns));
    sections.push(meaning(file, columns));
    finish(&sections.join("\n"), style)
}

fn opening(file: &CalibrationFile, stale: &[Said], columns: usize) -> String {
    let set = |cpus: &Option<Vec<u32>>| match cpus {
        Some(cpus) => {
            format!("on CPU {}", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
        }
        None => "on any CPU".to_owned(),
    };
    let title = format!("Instrument of {}, calibrated {}", file.host.name, file.measured_wall);
    let mut text = paragraph("", &paint(Tone::Strong, &clean::line(&title)), columns);
    text += &paragraph("  ", &clean::line(&host(&file.host)), columns);
    let how = format!(
        "one worker {}, reference target {}; {} of every point in drawn order, median and (min … max), in {}",
        set(&file.pin.generator.as_ref().map(|cpus| cpus.iter().take(1).copied().collect())),
        set(&file.pin.target),
        format::counted(file.repeats.into(), "repeat"),
        format::nanos(file.took_ns)
    );
    text += &paragraph("  ", &how, columns);
    for weakness in file.pin.weakness.iter().chain(&file.disturbed) {
        text += &paragraph(&format!("  {} ", paint(Tone::Warn, "!")), &clean::line(weakness), columns);
    }
    if !stale.is_empty() {
        let said = format!("stale, {}: run `prony calibrate` again", Said::list(Joint::Comma, stale));
        text += &paragraph(&format!("  {} ", paint(Tone::Warn, "!")), &clean::line(&said), columns);
    }
    text
}

fn host(host: &HostIdentity) -> String {
    let kind = match host.is_virtual {
        Some(true) => " in a virtual machine",
        Some(false) => "",
        None => " (virtual or not: unknown)",
    };
    format!(
        "{}{kind}, {}, kernel {}, prony {}",
        host.cpu_model.as_deref().unwrap_or(&host.machine),
        format::counted(host.cpus.into(), "usable CPU"),
        host.kernel,
        host.prony
    )
}

fn driver_tables(limits: &DriverLimits, columns: usize) -> String {
    let title = paint(Tone::Strong, &format!("{}, one worker", driver(limits.driver)));
    [
        format!("{title}\n{}", max_rates(&limits.max_rate_by_connections, columns)),
        lags(&limits.lag_by_rate, columns),
        overheads(limits, columns),
    ]
    .join("\n")
}

fn max_rates(points: &[MaxRate], columns: usize) -> String {
    let header = [
        ("connections", Align::Number),
        ("answers", Align::Number),
        ("", Align::Word),
        ("CPU each", Align::Number),
        ("busy", Align::Number),
        ("up to", Align::Number),
    ];
    let rows: Vec<_> = points
        .iter()
        .map(|point| {
            let sign = if point.server_limited { "≈ " } else { "" };
            vec![
                format::count(point.connections.into()),
                format::rate(point.rate_per_s.median),
                ends(&point.rate_per_s, format::rate),
                format::duration(point.cpu_per_request_ns.median),
                format::percent(point.busy_share.median),
                format!("{sign}{}", format::rate(point.limit_per_s)),
            ]
        })
        .collect();
    let mut text = table(&header, &rows, columns);
    if points.iter().any(|point| point.server_limited) {
        let note = "the worker was less than 90 % busy, so the reference target was the limit; derived from CPU time";
        text += &paragraph("  ≈ ", note, columns);
    }
    text
}

fn lags(points: &[LagAtRate], columns: usize) -> String {
    let header = [
        ("offered", Align::Number),
        ("lag p50", Align::Number),
        ("p99", Align::Number),
        ("", Align::Word),
        ("max", Align::Number),
        ("kept", Align::Number),
        ("requests", Align::Number),
    ];
    let rows: Vec<_> = points
        .iter()
        .map(|point| {
            vec![
                format::rate(point.rate_per_s),
                format::duration(point.lag_p50_ns.median),
                format::duration(point.lag_p99_ns.median),
                ends(&point.lag_p99_ns, format::duration),
                format::duration(point.lag_max_ns.median),
                format::percent(point.achieved_share.median),
                format::count(point.requests),
            ]
        })
        .collect();
    table(&header, &rows, columns)
}

fn overheads(limits: &DriverLimits, columns: usize) -> String {
    let header = [
        ("known service time", Align::Number),
        ("recorded p50", Align::Number),
        ("overhead", Align::Number),
        ("", Align::Word),
    ];
    let rows: Vec<_> = limits
        .overhead_per_request
        .iter()
        .map(|point| {
            vec![
                format::setting(point.known_service_ns),
                format::duration(point.service_p50_ns.median),
                format::duration(point.overhead_ns.median),
                ends(&point.overhead_ns, format::duration),
            ]
        })
        .collect();
    table(&header, &rows, columns)
}

fn ends(spread: &Spread, show: impl Fn(f64) -> String) -> String {
    format!("({} … {})", show(spread.min), show(spread.max))
}

fn without_load(file: &CalibrationFile, columns: usize) -> String {
    let (clock, histogram, work) = (&file.clock, &file.histogram, &file.fixed_work);
    let mut text = format!("{}\n", paint(Tone::Strong, "Without load"));
    let median = |time: &Spread| format::duration(time.median);
    let mut fact = |name: &str, value: String| text += &paragraph(&format!("  {name:<12} "), &value, columns);
    fact("clock", format!("step {}, one reading {}", median(&clock.step_ns), median(&clock.read_ns)));
    fact(
        "waits",
        format!(
            "a timed wait of 100 µs wakes {} late (p50), {} (p99)",
            median(&clock.wake_late_p50_ns),
            median(&clock.wake_late_p99_ns)
        ),
    );
    fact(
        "histogram",
        format!(
            "at most {} off, at {}, of {} known values from 1 µs to 1 h",
            format::percent(histogram.relative_max),
            format::nanos(histogram.at_ns),
            format::count(histogram.values)
        ),
    );
    fact(
        "fixed work",
        format!(
            "{} each, varies by {}, p99 is {} times the median ({} runs)",
            format::duration(work.median_ns),
            format::percent(work.variation),
            format::ratio(work.p99_over_median),
            format::count(work.runs.into())
        ),
    );
    text
}

/// The limits in sentences.
fn meaning(file: &CalibrationFile, columns: usize) -> String {
    let mut text = format!("{}\n", paint(Tone::Strong, "What it means"));
    for limits in &file.drivers {
        let name = driver(limits.driver);
        if let Some(best) =
            limits.max_rate_by_connections.iter().max_by(|a, b| a.limit_per_s.total_cmp(&b.limit_per_s))
        {
            let said = format!(
                "{name}: one generator thread can offer up to {} over {}; workers on CPUs of their own add up.",
                format::rate(best.limit_per_s),
                format::counted(best.connections.into(), "connection")
            );
            text += &paragraph("  ", &said, columns);
        }
        if let Some(kept) = limits.lag_by_rate.iter().rev().find(|point| point.achieved_share.median >= 0.99)
        {
            let said = format!(
                "{name}: its p99 lag at {} is {}.",
                format::rate(kept.rate_per_s),
                format::duration(kept.lag_p99_ns.median)
            );
            text += &paragraph("  ", &said, columns);
        }
        for point in &limits.overhead_per_request {
            let said = format!(
                "{name}: of a recorded service time of {}, {} are prony's, the loopback's and the reference's own.",
                format::duration(point.service_p50_ns.median),
                format::duration(point.overhead_ns.median)
            );
            text += &paragraph("  ", &said, columns);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::calibration::{ClockLimits, FixedWork, HistogramError, Overhead};
    use schema::plan::{DriverChoice, PinPlan};

    fn about(median: f64) -> Spread {
        Spread { median, min: median * 0.9, max: median * 1.2 }
    }

    fn sample() -> CalibrationFile {
        let max = |connections, rate: f64, busy: f64| MaxRate {
            connections,
            rate_per_s: about(rate),
            cpu_per_request_ns: about(1e9 * busy / rate),
            busy_share: about(busy),
            server_limited: busy < 0.9,
            limit_per_s: if busy < 0.9 { rate / busy } else { rate },
        };
        let lag = |rate_per_s, p99, achieved| LagAtRate {
            rate_per_s,
            requests: rate_per_s as u64,
            lag_p50_ns: about(900.0),
            lag_p99_ns: about(p99),
            lag_max_ns: about(4.0 * p99),
            achieved_share: about(achieved),
        };
        let over = |known: u64, p50: f64| Overhead {
            known_service_ns: known,
            rate_per_s: 500.0,
            service_p50_ns: about(p50),
            overhead_ns: about(p50 - known as f64),
        };
        CalibrationFile {
            schema: Default::default(),
            host: HostIdentity {
                fingerprint: "00".into(),
                name: "bench".into(),
                machine: "x86_64".into(),
                cpu_model: Some("AMD EPYC".into()),
                is_virtual: Some(true),
                cpus: 2,
                kernel: "6.12.41".into(),
                prony: "0.1.0".into(),
            },
            measured_wall: "2026-11-21T09:30:00Z".into(),
            took_ns: 59_800_000_000,
            pin: PinPlan { generator: Some(vec![0]), target: Some(vec![1]), ..PinPlan::default() },
            repeats: 3,
            seed: 1,
            clock: ClockLimits {
                step_ns: about(20.0),
                read_ns: about(24.1),
                wake_late_p50_ns: about(58_200.0),
                wake_late_p99_ns: about(143_000.0),
            },
            histogram: HistogramError { values: 3_175, relative_max: 0.000_976, at_ns: 2_048 },
            fixed_work: FixedWork {
                runs: 1_200,
                mean_ns: 98_300.0,
                median_ns: 98_100.0,
                variation: 0.021,
                p99_over_median: 1.13,
            },
            host_state: None,
            disturbed: Some("the host was not quiet".into()),
            drivers: vec![DriverLimits {
                driver: DriverChoice::Epoll,
                max_rate_by_connections: vec![max(1, 18_000.0, 0.5), max(64, 61_200.0, 0.98)],
                lag_by_rate: vec![lag(10_000.0, 23_100.0, 1.0), lag(50_000.0, 2.1e6, 0.93)],
                overhead_per_request: vec![over(0, 31_000.0), over(1_000_000, 1_064_000.0)],
            }],
        }
    }

    #[test]
    fn a_calibration_reads_well_on_80_columns() {
        let stale = ["the kernel was 6.12.41 and is 6.13.0".into()];
        let text = calibration_text(&sample(), &stale, Style::PLAIN);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(text, @r"
        Instrument of bench, calibrated 2026-11-21T09:30:00Z
          AMD EPYC in a virtual machine, 2 usable CPUs, kernel 6.12.41, prony 0.1.0
          one worker on CPU 0, reference target on CPU 1; 3 repeats of every point in
          drawn order, median and (min … max), in 59.8 s
          ! the host was not quiet
          ! stale, the kernel was 6.12.41 and is 6.13.0: run `prony calibrate` again

        epoll, one worker
          connections   answers                         CPU each    busy       up to
                    1  18,000/s  (16,200/s … 21,600/s)   27.8 µs  50.0 %  ≈ 36,000/s
                   64  61,200/s  (55,080/s … 73,440/s)   16.0 µs  98.0 %    61,200/s
          ≈ the worker was less than 90 % busy, so the reference target was the limit;
            derived from CPU time

           offered  lag p50      p99                           max    kept  requests
          10,000/s   900 ns  23.1 µs  (20.8 µs … 27.7 µs)  92.4 µs   100 %    10,000
          50,000/s   900 ns  2.10 ms  (1.89 ms … 2.52 ms)  8.40 ms  93.0 %    50,000

          known service time  recorded p50  overhead
                        0 ns       31.0 µs   31.0 µs  (27.9 µs … 37.2 µs)
                        1 ms       1.06 ms   64.0 µs  (57.6 µs … 76.8 µs)

        Without load
          clock        step 20 ns, one reading 24.1 ns
          waits        a timed wait of 100 µs wakes 58.2 µs late (p50), 143 µs (p99)
          histogram    at most 0.0976 % off, at 2.05 µs, of 3,175 known values from 1 µs
                       to 1 h
          fixed work   98.1 µs each, varies by 2.10 %, p99 is 1.130 times the median
                       (1,200 runs)

        What it means
          epoll: one generator thread can offer up to 61,200/s over 64 connections;
          workers on CPUs of their own add up.
          epoll: its p99 lag at 10,000/s is 23.1 µs.
          epoll: of a recorded service time of 31.0 µs, 31.0 µs are prony's, the
          loopback's and the reference's own.
          epoll: of a recorded service time of 1.06 ms, 64.0 µs are prony's, the
          loopback's and the reference's own.
        ");
    }

    #[test]
    fn a_calibration_without_any_point_is_borne() {
        let mut empty = sample();
        empty.drivers[0].max_rate_by_connections.clear();
        empty.drivers[0].lag_by_rate.clear();
        empty.drivers[0].overhead_per_request.clear();
        empty.host.cpu_model = None;
        empty.host.is_virtual = None;
        empty.pin = PinPlan { weakness: Some("only one CPU".into()), ..PinPlan::default() };
        let text = calibration_text(&empty, &[], Style::PLAIN);
        assert!(
            text.contains("x86_64 (virtual or not: unknown)") && text.contains("! only one CPU"),
            "{text}"
        );
    }
}
