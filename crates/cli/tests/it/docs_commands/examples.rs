//! The worked examples of `docs/statistics.md`, worked out again from the page's own tables with prony's own statistics.

use crate::command::root;
use analyze::stats::{student, student::MeanTest, welch::Welch};

fn page() -> String {
    std::fs::read_to_string(root().join("docs/statistics.md")).unwrap()
}

/// The rows of the table whose header begins with `head`, as numbers.
fn table(page: &str, head: &str) -> Vec<Vec<f64>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().parse().unwrap()).collect();
    let rows: Vec<Vec<f64>> = rows.map(cells).collect();
    assert!(!rows.is_empty(), "no table `{head}`");
    rows
}

/// As the page writes a ratio: `+4.9 %`.
fn percent(log: f64) -> String {
    format!("{:+.1} %", 100.0 * (log.exp() - 1.0))
}

#[test]
fn the_blocks_give_the_intervals_that_the_page_tells() {
    let page = page();
    let rows = table(&page, "| block | A | B | A/B |");
    for row in &rows {
        assert_eq!(format!("{:.3}", row[1] / row[2]), format!("{:.3}", row[3]), "block {}", row[0]);
    }
    let column = |at: usize| rows.iter().map(|row| row[at].ln()).collect::<Vec<f64>>();
    let (a, b) = (column(1), column(2));
    let paired = MeanTest::of_logs(&a.iter().zip(&b).map(|(a, b)| a - b).collect::<Vec<f64>>()).unwrap();
    let (low, high) = paired.interval(0.95);
    let told = format!(
        "the same {}, with an interval from {} to {}",
        percent(paired.mean),
        percent(low),
        percent(high)
    );
    assert!(page.contains(&told), "put into the page: {told}");
    let whole = Welch::of_logs(&a, &b).unwrap();
    let (low, high) = whole.interval(0.95);
    let told = format!(
        "gives {}, but with an interval from {} to {}",
        percent(whole.difference),
        percent(low),
        percent(high)
    );
    assert!(page.contains(&told), "put into the page: {told}");
}

#[test]
fn the_widths_are_those_of_students_law() {
    for row in table(&page(), "| blocks | half-width") {
        let half = student::t_quantile(0.975, row[0] as usize - 1) / row[0].sqrt();
        assert_eq!(format!("{half:.2}"), format!("{:.2}", row[1]), "{} blocks", row[0]);
    }
}

#[test]
fn the_stall_has_the_percentile_that_the_page_tells() {
    // 59 quiet seconds in which one request in a hundred takes longer than 2 ms, and one that stands still.
    let mut times_ms: Vec<u32> = (0..59 * 1000).map(|n| if n % 100 == 0 { 3 } else { 2 }).collect();
    times_ms.extend(1..=1000);
    times_ms.sort_unstable();
    let p99 = times_ms[(times_ms.len() * 99).div_ceil(100) - 1];
    assert_eq!((times_ms.len(), p99), (60_000, 400));
    let page = page();
    assert!(page.contains("p99 is **400 ms**") && page.contains("(59 × 2 + 990) / 60 = 18 ms"));
    assert_eq!((59 * 2 + 990) / 60, 18);
}
