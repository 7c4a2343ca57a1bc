//! The view as text at several sizes, and the lines that stand for it elsewhere.

use super::*;
use crate::args::{Args, Command};
use clap::Parser;
use ratatui_core::buffer::Buffer;
use schema::load::Time;

/// A load of seven intervals, the last one with failures.
fn state(arguments: &str) -> State {
    let words = format!("prony load http://127.0.0.1:8080/json -t 1 -c 64 {arguments}");
    let Command::Load(args) = Args::try_parse_from(words.split_whitespace()).unwrap().command else {
        panic!("not a load")
    };
    let mut state = State::new(&super::super::resolve::resolve(&args).unwrap());
    state.connected(64, 63);
    for second in 0..7_u64 {
        let mut data = IntervalData::default();
        for request in 0..1_000 + 200 * second {
            data.times[Time::Response].record(1_000_000 + request * 1_000 * (second + 1)).unwrap();
            data.times[Time::PacerLag].record(20_000 + request).unwrap();
        }
        let mut line = IntervalLine {
            start_ns: second * 1_000_000_000,
            end_ns: (second + 1) * 1_000_000_000,
            phase: Some(Phase::Sample),
            completed: data.times[Time::Response].len(),
            status: [(200, data.times[Time::Response].len())].into(),
            backlog: second,
            in_flight: 12,
            connects: if second == 0 { 63 } else { 1 },
            p50_ns: Some(data.times[Time::Response].value_at_quantile(0.5)),
            p99_ns: Some(data.times[Time::Response].value_at_quantile(0.99)),
            ..IntervalLine::default()
        };
        if second == 6 {
            line.failed = [(ErrorClass::UnexpectedStatus, 12), (ErrorClass::Timeout, 3)].into();
            line.status.insert(503, 12);
        }
        state.interval(&line, &data);
    }
    state.elapsed = Nanos::from_millis(7_400);
    state
}

fn text(buffer: &Buffer) -> String {
    let row = |y: u16| -> String { (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect() };
    (0..buffer.area.height).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn view(arguments: &str, width: u16, height: u16) -> String {
    text(&view::render(&state(arguments), width, height))
}

#[test]
fn the_view_at_80_columns() {
    insta::assert_snapshot!(view("-R 2k -d 30s", 80, 40));
}

#[test]
fn the_view_at_40_columns() {
    insta::assert_snapshot!(view("-R 2k -d 30s", 40, 40));
}

#[test]
fn the_view_on_a_low_terminal_keeps_what_matters_most() {
    insta::assert_snapshot!(view("-n 100k", 80, 9));
}

#[test]
fn every_size_fits() {
    for width in [1, 20, 39, 40, 41, 60, 80, 100, 132, 200, 500] {
        for height in [1, 2, 5, 9, 12, 19, 20, 24, 60] {
            let buffer = view::render(&state("-R 2k -d 30s"), width, height);
            assert!(buffer.area.width < width.clamp(40, 200), "{width}×{height}");
            assert!(buffer.area.height < height.max(6), "{width}×{height}: {}", buffer.area.height);
        }
    }
}

#[test]
fn bins_hold_every_response_and_reach_from_the_fastest_to_the_slowest() {
    let mut state = state("-d 30s");
    let (mut data, line) = (IntervalData::default(), IntervalLine::default());
    for ns in [1_000_000, 1_000_000, 10_000_000, 100_000_000] {
        data.times[Time::Response].record(ns).unwrap();
    }
    state.forget_warmup();
    assert_eq!((state.bins(5), state.range()), (vec![0; 5], None), "nothing yet");
    state.interval(&line, &data);
    assert_eq!(state.bins(5), [2, 0, 1, 0, 1]);
    assert_eq!((state.bins(1), state.bins(0).len()), (vec![4], 0));
}

#[test]
fn warm_up_is_no_part_of_what_is_shown_so_far() {
    let mut state = state("-d 30s --warmup 1s");
    let (mut data, mut line) = (IntervalData::default(), IntervalLine::default());
    line.phase = Some(Phase::Warmup);
    line.end_ns = 1_000_000_000;
    state.interval(&line, &data);
    data.times[Time::Response].record(5_000_000).unwrap();
    line = IntervalLine {
        phase: Some(Phase::Sample),
        completed: 1,
        start_ns: 1_000_000_000,
        end_ns: 2_000_000_000,
        ..line
    };
    state.interval(&line, &data);
    assert_eq!((state.answers(), state.failed, state.so_far().count), (1, 0, 1));
    assert!((state.rate_so_far() - 1.0).abs() < 1e-9);
}

#[test]
fn the_opening_of_connections_says_how_far_it_is() {
    assert_eq!(opening_words(3_400, 14_000), "opening connections: 3,400 of 14,000");
}

#[test]
fn a_line_a_second_says_the_same_in_short() {
    let line = IntervalLine {
        start_ns: 2_000_000_000,
        end_ns: 3_000_000_000,
        phase: Some(Phase::Sample),
        completed: 48_213,
        p50_ns: Some(1_210_000),
        p99_ns: Some(4_870_000),
        ..IntervalLine::default()
    };
    assert_eq!(line_words(&line), "    3 s     48,213/s  p50  1.21 ms  p99  4.87 ms  0 failed");
    let failing = IntervalLine {
        failed: [(ErrorClass::Timeout, 3), (ErrorClass::UnexpectedStatus, 12)].into(),
        backlog: 40,
        phase: Some(Phase::Warmup),
        p50_ns: None,
        p99_ns: None,
        ..line
    };
    assert_eq!(
        line_words(&failing),
        "    3 s     48,213/s  p50        –  p99        –  15 failed (unexpected status), backlog 40  warm-up"
    );
}

#[test]
fn messages_of_streams_stand_beside_their_streams() {
    let messages = MessageInterval {
        scheduled: 1_000,
        completed: 960,
        received: 7_000,
        first_message_p50_ns: Some(2_000_000),
        gap_p99_ns: Some(4_870_000),
        ..MessageInterval::default()
    };
    let line = IntervalLine {
        start_ns: 2_000_000_000,
        end_ns: 4_000_000_000,
        phase: Some(Phase::Sample),
        completed: 20,
        messages: Some(messages),
        ..IntervalLine::default()
    };
    let words = "480/s completed, 3,500/s received, gap p99 4.87 ms";
    assert!(line_words(&line).ends_with(&format!("0 failed, messages {words}")), "{}", line_words(&line));
    // Of few messages no percentile is shown.
    let few = MessageInterval { received: 9, ..messages };
    assert_eq!(message_words(&few, 1_000_000_000), "960/s completed, 9.00/s received");
    let mut state = state("-R 2k -d 30s");
    assert_eq!(state.messages, None, "without streams there is no row");
    state.interval(&line, &IntervalData::default());
    let shown = text(&view::render(&state, 80, 40));
    assert!(shown.contains(&format!("messages   {words}")), "{shown}");
}

#[test]
fn the_drain_is_a_line_of_its_own_and_no_second_of_the_load() {
    let drain = IntervalLine {
        start_ns: 3_000_000_000,
        end_ns: 3_012_000_000,
        phase: Some(Phase::Drain),
        completed: 7,
        failed: [(ErrorClass::Timeout, 2)].into(),
        in_flight: 1,
        p50_ns: Some(9_000_000),
        p99_ns: Some(9_000_000),
        ..IntervalLine::default()
    };
    assert_eq!(line_words(&drain), "  drain      12.0 ms  7 answered, 2 failed, 1 left after the load");
    let mut state = state("-R 2k -d 30s");
    let (rate, now) = (state.rate_so_far(), state.rate_now);
    state.interval(&drain, &IntervalData::default());
    assert_eq!((state.rate_so_far(), state.rate_now), (rate, now));
}
