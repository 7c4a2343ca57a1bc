//! The slowest requests and the first failures of a run, with spans: what the plain page and Markdown show, and that a run
//! without any shows nothing.

use crate::sample;

const TITLE: &str = "Slowest requests and first failures";

#[test]
fn the_plain_page_and_markdown_list_requests_and_where_their_time_went() {
    let run = sample::plan::run_file();
    let mut analysis = sample::analysis();
    assert!(!report::markdown(&run, &analysis).contains(TITLE));
    assert!(!report::html(&run, &analysis).unwrap().contains(TITLE));
    sample::traced::plant(&mut analysis.cells[1], "GET /orders", "shop");
    let plain = |text: String| text.replace('\u{a0}', " ");
    let markdown = plain(report::markdown(&run, &analysis));
    let begin = markdown.find(TITLE).expect("the section");
    let end = markdown[begin..].find("\n## ").unwrap();
    insta::assert_snapshot!(&markdown[begin..begin + end]);
    let html = plain(report::html(&run, &analysis).unwrap());
    let section = &html[html.find("id=\"requests\"").expect("the section")..];
    assert_eq!(section.matches("<details>\n<summary>go/gin, 128 connections").count(), 1);
    for part in [
        "<td>slowest sampled</td><td>3</td><td>GET /orders</td><td>18</td><td>12.0 ms</td>",
        "<td>unexpected_status</td><td>no</td><td>00000000000000000000000000000013</td>",
        "GET /orders #17 of trial 3: 12.0 ms, 4.00 ms of it outside of all spans",
        "<td>shop</td>",
        "and 5 more spans",
    ] {
        assert!(section.contains(part), "{part} in {section}");
    }
}

#[test]
fn without_traces_there_are_no_columns_for_them() {
    let mut analysis = sample::analysis();
    let cell = &mut analysis.cells[0];
    sample::traced::plant(cell, "GET /", "shop");
    cell.notable.slowest[0].request.trace = None;
    (cell.notable.slowest_sampled, cell.notable.failures, cell.spans) = (vec![], vec![], vec![]);
    let markdown = report::markdown(&sample::plan::run_file(), &analysis);
    assert!(markdown.contains("| slowest | 3 | `GET /` | 17 |"), "{markdown}");
    assert!(!markdown.contains("Trace id") && !markdown.contains("by the target's spans"));
}

#[test]
fn names_of_targets_are_cut() {
    let mut analysis = sample::analysis();
    sample::traced::plant(&mut analysis.cells[0], &"x".repeat(100_000), &"y".repeat(100_000));
    let run = sample::plan::run_file();
    for text in [report::markdown(&run, &analysis), report::html(&run, &analysis).unwrap()] {
        assert!(text.contains(&"x".repeat(39)) && !text.contains(&"x".repeat(40)));
        assert!(text.contains(&"y".repeat(23)) && !text.contains(&"y".repeat(24)));
    }
}
