//! Reading tables as people paste them.

use super::*;

fn one(text: &str) -> Table {
    let mut tables = read(text, InputForm::Auto)
        .map(|found| found.tables)
        .unwrap_or_else(|problem| panic!("{text}\n{problem:?}"));
    assert_eq!(tables.len(), 1, "{text}");
    tables.remove(0)
}

fn refused(text: &str, form: InputForm) -> (Option<usize>, String) {
    let problem = read(text, form).expect_err(text);
    assert!(!problem.remedy.is_empty(), "{text}");
    (problem.line, problem.cause)
}

#[test]
fn separated_values() {
    let table = one("# a remark\nc,qps,\"p99, ms\"\n1,\"1,234\",3\n\n2,2000,4\n");
    assert_eq!((table.form, table.line, table.columns.len()), (AuditForm::Csv, 2, 3));
    assert_eq!((table.rows[0].line, table.rows[0].cells[1].as_str()), (3, "1,234"));
    assert_eq!(table.rows[1].line, 5);
    assert_eq!(one("conns;qps;mean\n1;2,5;3,5\n").form, AuditForm::Csv);
    assert_eq!(one("conns\tqps\n1\t2\n").form, AuditForm::Tsv);
    let headless = one("1,2,3\n4,5,6\n");
    assert_eq!((headless.rows.len(), headless.columns[2].name.as_str()), (2, "3"));
}

#[test]
fn ragged_rows_are_named_and_not_shifted() {
    for (text, line) in [
        ("c,qps,p99\n1,2,3\n1,1,234,3\n", 3),
        ("c,qps,p99\n1,2\n", 2),
        ("| c | qps | p99 |\n|---|---|---|\n| 1 | 2 | 3 | 4 |\n", 3),
        ("| c | qps | p99 |\n|---|---|---|\n| 1 | 2 |\n", 3),
        ("conns  qps  p99\n1  2  3\n1  2  3  4\n", 3),
    ] {
        let (found, cause) = refused(text, InputForm::Auto);
        assert_eq!(found, Some(line), "{text}");
        assert!(cause.contains("cells, but its header has 3"), "{cause}");
    }
}

#[test]
fn bars_of_all_kinds() {
    let markdown = "Our results:\n\n| 框架 | **QPS** | `P99` |\n|:--|--:|--:|\n| [gin](http://x) | 1 | 2<br> |\n| a\\|b | 3 | |\n\ntext";
    let table = one(markdown);
    assert_eq!((table.form, table.line, table.rows.len()), (AuditForm::Bars, 3, 2));
    assert_eq!(table.columns[1].name, "QPS");
    assert_eq!(table.rows[0].cells, ["gin", "1", "2"]);
    assert_eq!(table.rows[1].cells, ["a|b", "3", ""]);
    let psql = " conns | qps  \n-------+------\n   100 | 2000 \n";
    assert_eq!(one(psql).rows[0].cells, ["100", "2000"]);
    let drawn = "┌───────┬──────┐\n│ conns │ qps  │\n├───────┼──────┤\n│ 100   │ 2000 │\n└───────┴──────┘\n";
    assert_eq!(one(drawn).rows[0].cells, ["100", "2000"]);
    let two = "| c | qps |\n|-|-|\n| 1 | 2 |\n\nand\n\n| c | p99 |\n|-|-|\n| 1 | 2 |\n";
    assert_eq!(read(two, InputForm::Auto).unwrap().tables.len(), 2);
    let shell = "cat a | grep b\ncat c | sort | uniq\n\n| c | qps |\n|-|-|\n| 1 | 2 |\n";
    assert!(read(shell, InputForm::Auto).unwrap().tables.iter().any(|table| table.columns[1].name == "qps"));
}

#[test]
fn aligned_columns() {
    let table = one(
        "some words first\n\nconnections   req/s    mean (ms)\n-----------   -----    ---------\n100           2,000    50\n200           3,000    66.7\n\nend",
    );
    assert_eq!((table.form, table.line, table.rows.len()), (AuditForm::Aligned, 3, 2));
    assert_eq!(table.rows[1].cells, ["200", "3,000", "66.7"]);
    let narrow = one("c qps p99\n1 2 3\n");
    assert_eq!(narrow.rows[0].cells, ["1", "2", "3"]);
    let gap = one("name     qps      p99\ngin      100      5\necho              7\n");
    assert_eq!(gap.rows[1].cells, ["echo", "", "7"]);
    let chinese = one("并发数  吞吐量  平均延迟\n100     2000    50\n");
    assert_eq!(chinese.rows[0].cells, ["100", "2000", "50"]);
    let long = one("name qps p99\ngo gin server 100 5\n");
    assert_eq!(long.rows[0].cells, ["go gin server", "100", "5"]);
}

#[test]
fn pairs_and_turned_tables() {
    let table = one("QPS: 1234\n平均延迟：12ms\nP99 = 30ms\nQPS: 2000\nP99 = 40ms\n");
    assert_eq!((table.form, table.rows.len()), (AuditForm::Pairs, 2));
    assert_eq!(table.rows[1].cells, ["2000", "", "40ms"]);
    let turned =
        one("| 指标 | Gin | Echo |\n|---|---|---|\n| QPS | 1 | 2 |\n| 平均延迟 | 3 | 4 |\n| P99 | 5 | 6 |\n");
    assert_eq!(turned.rows.len(), 2);
    assert_eq!(turned.rows[1].cells, ["Echo", "2", "4", "6"]);
    assert_eq!(turned.columns[3].name, "P99");
}

#[test]
fn what_is_no_table_is_refused_with_its_cause() {
    for (text, form, part) in [
        ("", InputForm::Auto, "nothing in it"),
        ("\n \n", InputForm::Auto, "nothing in it"),
        ("hello world\nthis is prose\n", InputForm::Auto, "no table is found"),
        ("a\0b", InputForm::Auto, "control character (U+0000)"),
        ("c,qps\n1,\u{7}2\n", InputForm::Auto, "control character (U+0007)"),
        ("qps\n1\n2\n", InputForm::Csv, "only one column"),
        ("c,qps\n", InputForm::Csv, "no row below"),
        ("c,qps\n", InputForm::Auto, "no row below"),
        ("no bars\n", InputForm::Markdown, "no table between bars"),
        ("nothing\n", InputForm::Tool, "no output of a load tool"),
        ("nothing\n", InputForm::Pairs, "no line is a name and a value"),
        ("nothing\n", InputForm::Aligned, "no line names two columns"),
    ] {
        let (_, cause) = refused(text, form);
        assert!(cause.contains(part), "{text:?}: {cause}");
    }
    assert_eq!(refused("c,qps\n1,\u{7}2\n", InputForm::Auto).0, Some(2));
}

#[test]
fn sizes_are_bounded() {
    let rows = format!("c,qps\n{}", "1,2\n".repeat(ROWS_MAX + 1));
    assert!(refused(&rows, InputForm::Auto).1.contains("more than 10000 rows"));
    let columns = vec!["qps"; COLUMNS_MAX + 1].join(",") + "\n";
    assert!(refused(&columns, InputForm::Csv).1.contains("more than 200 columns"));
    assert!(refused(&"x".repeat(TEXT_BYTES_MAX + 1), InputForm::Auto).1.contains("longer than 16 MiB"));
    let line = format!("c,qps\n1,{}\n", "2".repeat(LINE_BYTES_MAX));
    assert_eq!(refused(&line, InputForm::Csv).0, Some(2));
    let tables = "| c | qps |\n|-|-|\n| 1 | 2 |\n\n".repeat(TABLES_MAX + 5);
    assert!(refused(&tables, InputForm::Auto).1.contains("more than 50 tables"));
}

#[test]
fn colours_of_terminals_are_taken_out() {
    let table = one("\u{1b}[1mconns\u{1b}[0m,qps\n1,\u{1b}[32m2\u{1b}[0m\n");
    assert_eq!((table.columns[0].name.as_str(), table.rows[0].cells[1].as_str()), ("conns", "2"));
}

#[test]
fn headers_of_two_rows_are_one() {
    let names = |table: &Table| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let cells = |table: &Table, at: usize| table.rows[at].cells.join(" ");
    for text in [
        "|  | Go | | Node | |\n|---|---|---|---|---|\n| Connections | RPS | p99 ms | RPS | p99 ms |\n| 100 | 5 | 6 | 7 | 8 |\n\
         | 200 | 9 | 10 | 11 | 12 |\n",
        "Connections,Go,Go,Node,Node\n,RPS,p99 ms,RPS,p99 ms\n100,5,6,7,8\n200,9,10,11,12\n",
    ] {
        let table = one(text);
        assert_eq!(names(&table), ["group", "Connections", "RPS", "p99 ms"], "{text}");
        assert_eq!((table.rows.len(), table.rows[0].line), (4, table.rows[2].line));
        assert_eq!(
            (cells(&table, 1), cells(&table, 2)),
            ("Go 200 9 10".to_owned(), "Node 100 7 8".to_owned())
        );
        assert!(table.notes[0].contains("2 groups of columns"), "{:?}", table.notes);
    }
    // A group may lack a column.
    let table = one("conns,A,,B\n,qps,p99,qps\n1,2,3,4\n2,5,6,7\n");
    assert_eq!((cells(&table, 0), cells(&table, 2)), ("A 1 2 3".to_owned(), "B 1 4 ".to_owned()));
    // Units below the names.
    let table = one("connections,throughput,mean,p99\n,req/s,(us),ms\n1,2,3,4\n");
    assert_eq!(names(&table), ["connections", "throughput (req/s)", "mean (us)", "p99 (ms)"]);
    assert_eq!(table.rows.len(), 1);
    // A row of labels is no header.
    assert_eq!(one("name,qps,p99\ns,1,2\nms,3,4\n").rows.len(), 2);
}

#[test]
fn a_ragged_table_is_left_out_and_the_others_are_read() {
    let text = "| c | qps |\n|-|-|\n| 1 | 2 |\n\n| c | p99 |\n|-|-|\n| 1 | 2 | 3 |\n| 4 | 5 |\n\n| c | mean |\n|-|-|\n| 1 | 2 |\n";
    let found = read(text, InputForm::Auto).unwrap();
    let names: Vec<&str> = found.tables.iter().map(|table| table.columns[1].name.as_str()).collect();
    assert_eq!(names, ["qps", "mean"]);
    assert_eq!((found.skipped.len(), found.skipped[0].line), (1, 5));
    assert!(found.skipped[0].reason.contains("line 7: this row has 3 cells"), "{:?}", found.skipped);
}

#[test]
fn a_row_cut_into_lines_is_one_where_its_pieces_fit() {
    let table = one(
        "| name | reuse | qps | p99 |\n|-|-|-|-|\nnet.ipv4.tcp_tw_reuse=1 |\n87% | 14 | 3 |\n| off | 12% | 28 | 2 |\n",
    );
    assert_eq!(table.rows[0].cells, ["net.ipv4.tcp_tw_reuse=1", "87%", "14", "3"]);
    assert_eq!((table.rows[0].line, table.rows[1].line, table.notes.len()), (3, 5, 1));
    let (line, cause) = refused("| c | qps | p99 |\n|-|-|-|\n| 1 |\n| 2 | 3 | 4 |\n", InputForm::Auto);
    assert_eq!((line, cause.contains("4 cells")), (Some(3), true), "{cause}");
}

#[test]
fn edges_of_graphs_are_no_rows() {
    let text = "| c | qps |\n|-|-|\n| 1 | 2 |\nA -->|yes| B[p99]\nA -->|no| C[qps]\nC ---|x| D[mean]\n";
    assert_eq!(read(text, InputForm::Auto).unwrap().tables.len(), 1);
}
