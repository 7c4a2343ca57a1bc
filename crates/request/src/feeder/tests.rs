//! Formats, orders and faults of feeders; files held in memory and files read by place give the same rows.

use super::*;
use std::io::Write as _;
use tempfile::TempDir;

fn plan(file: &str, order: FeederOrder) -> schema::scenario::Feeder {
    schema::scenario::Feeder { file: file.into(), format: None, delimiter: None, columns: None, order }
}

fn folder_with(name: &str, text: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    File::create(folder.path().join(name)).unwrap().write_all(text).unwrap();
    folder
}

fn open(folder: &TempDir, plan: &schema::scenario::Feeder) -> Result<Source, ProgramError> {
    Source::open("users", plan, folder.path().to_str().unwrap())
}

/// All columns of the rows at `positions`, from a file that is held, or is not.
fn rows(
    folder: &TempDir,
    plan: &schema::scenario::Feeder,
    is_held: bool,
    positions: &[u64],
) -> Vec<Vec<String>> {
    let source = open(folder, plan).unwrap();
    let used: BTreeSet<u16> = (0..source.columns().len() as u16).collect();
    let limit = if is_held { u64::MAX } else { 0 };
    let feeder = source.load_within(&used, Seed(3), limit).unwrap();
    assert_eq!(matches!(feeder.store, Store::Held(_)), is_held);
    let mut cursor = Cursor::default();
    let mut field = |position, column| {
        let mut out = Vec::new();
        cursor.column(&feeder, 0, position, column, &mut out).unwrap();
        cursor.begin();
        String::from_utf8(out).unwrap()
    };
    positions.iter().map(|position| used.iter().map(|column| field(*position, *column)).collect()).collect()
}

#[test]
fn formats() {
    let check = |name: &str, text: &str, columns: &[&str], expected: &[&[&str]]| {
        let folder = folder_with(name, text.as_bytes());
        let plan = plan(name, FeederOrder::Sequential);
        assert_eq!(open(&folder, &plan).unwrap().columns(), columns, "{name}");
        let positions: Vec<u64> = (0..expected.len() as u64).collect();
        for is_held in [true, false] {
            assert_eq!(rows(&folder, &plan, is_held, &positions), expected, "{name} held: {is_held}");
        }
    };
    let quoted = "id,name\r\n1,\"a, \"\"b\"\"\nc\"\r\n\r\n2,\n";
    check("a.csv", quoted, &["id", "name"], &[&["1", "a, \"b\"\nc"], &["2", ""], &["1", "a, \"b\"\nc"]]);
    check("a.csv", "\u{feff}id\n1", &["id"], &[&["1"], &["1"]]);
    let objects = "{\"id\":1.50,\"n\":\"\\u00e4\\n\",\"deep\":{\"a\":[1]}}\n\n{\"n\":null,\"deep\":true,\"id\":-3,\"more\":1}";
    check("a.jsonl", objects, &["id", "n", "deep"], &[&["1.50", "ä\n", "{\"a\":[1]}"], &["-3", "", "true"]]);
    check(
        "words.txt",
        "\u{feff}one\r\n\n two \nthree",
        &["line"],
        &[&["one"], &[" two "], &["three"], &["one"]],
    );
}

#[test]
fn csv_without_header_and_with_other_delimiter() {
    let folder = folder_with("a.csv", b"1;x,y\n2;z\n");
    let mut plan = plan("a.csv", FeederOrder::Sequential);
    plan.delimiter = Some(";".into());
    plan.columns = Some(vec!["id".into(), "name".into()]);
    for is_held in [true, false] {
        assert_eq!(rows(&folder, &plan, is_held, &[0, 1]), [["1", "x,y"], ["2", "z"]]);
    }
}

/// 1,000 rows of unequal length, read in many orders: both stores agree, also at the borders of blocks.
#[test]
fn rows_by_place_are_the_rows_in_memory() {
    let csv: String = (0..1000).map(|row| format!("{row},\"{}\"\n", "x\"\"\n".repeat(row % 7))).collect();
    let json: String =
        (0..1000).map(|row| format!("{{\"id\":{row},\"t\":\"{}\"}}\n", "\\n".repeat(row % 5))).collect();
    let positions: Vec<u64> = (0..1000).chain((0..3000).step_by(7)).chain([15, 16, 17, 999, 1000]).collect();
    for (name, text) in
        [("a.csv", format!("id,t\n{csv}")), ("a.jsonl", json), ("a.txt", csv.replace('\n', "\r\n"))]
    {
        let folder = folder_with(name, text.as_bytes());
        for order in [FeederOrder::Sequential, FeederOrder::Random, FeederOrder::Shuffled] {
            let plan = plan(name, order);
            assert_eq!(
                rows(&folder, &plan, false, &positions),
                rows(&folder, &plan, true, &positions),
                "{name}"
            );
        }
    }
}

#[test]
fn orders() {
    let text: String = (0..50).map(|row| format!("{row}\n")).collect();
    let folder = folder_with("a.txt", text.as_bytes());
    let numbers = |order, from: u64| -> Vec<u64> {
        let positions: Vec<u64> = (from..from + 50).collect();
        let rows = rows(&folder, &plan("a.txt", order), true, &positions);
        rows.iter().map(|row| row[0].parse().unwrap()).collect()
    };
    let sorted = |mut list: Vec<u64>| {
        list.sort_unstable();
        list
    };
    let all: Vec<u64> = (0..50).collect();
    assert_eq!(numbers(FeederOrder::Sequential, 50), all);
    assert_eq!(numbers(FeederOrder::Unique, 0), all);
    let shuffled = numbers(FeederOrder::Shuffled, 0);
    assert_ne!(shuffled, all);
    assert_eq!(sorted(shuffled.clone()), all);
    assert_eq!(sorted(numbers(FeederOrder::Shuffled, 50)), all, "each row once in the second pass too");
    assert_ne!(numbers(FeederOrder::Shuffled, 50), shuffled, "in another order");
    let random = numbers(FeederOrder::Random, 0);
    assert_ne!(sorted(random.clone()), all, "some row comes twice");
    assert_eq!(numbers(FeederOrder::Random, 0), random, "the seed decides");
}

#[test]
fn unique_rows_run_out() {
    let folder = folder_with("a.txt", b"a\nb\n");
    let source = open(&folder, &plan("a.txt", FeederOrder::Unique)).unwrap();
    let feeder = source.load(&BTreeSet::from([0]), Seed(1)).unwrap();
    let mut cursor = Cursor::default();
    assert_eq!(cursor.column(&feeder, 7, 1, 0, &mut Vec::new()), Ok(()));
    cursor.begin();
    assert_eq!(cursor.column(&feeder, 7, 2, 0, &mut Vec::new()), Err(MakeCause::Exhausted(7)));
}

#[test]
fn a_file_that_changes_during_the_load_is_no_panic() {
    let text: String = (0..100).map(|row| format!("{row},x\n")).collect();
    let folder = folder_with("a.csv", format!("id,t\n{text}").as_bytes());
    let source = open(&folder, &plan("a.csv", FeederOrder::Sequential)).unwrap();
    let feeder = source.load_within(&BTreeSet::from([0, 1]), Seed(1), 0).unwrap();
    File::create(folder.path().join("a.csv")).unwrap();
    let mut cursor = Cursor::default();
    assert_eq!(cursor.column(&feeder, 0, 50, 1, &mut Vec::new()), Err(MakeCause::Unreadable(0)));
}

#[test]
fn faults_name_file_and_line() {
    let check = |name: &str, text: &[u8], key: &str, cause: &str| {
        let folder = folder_with(name, text);
        let all = |source: Source| {
            let used = (0..source.columns().len() as u16).collect();
            source.load(&used, Seed(1))
        };
        let error = open(&folder, &plan(name, FeederOrder::Sequential)).and_then(all).unwrap_err();
        assert!(error.key == key && error.cause.contains(cause), "{error}");
    };
    check("a.csv", b"", "feeders.users.file", "a.csv: the file is empty");
    check("a.csv", b"id,name\n", "feeders.users.file", "a.csv has no rows");
    check("a.csv", b"id,id\n1,2\n", "feeders.users.file", "column `id` comes twice");
    check("a.csv", b"id,name\n1,2\n3\n", "feeders.users.file", "a.csv:3: 1 fields, but there are 2 columns");
    check("a.csv", b"i\xff\n1\n", "feeders.users.file", "the header is not UTF-8");
    check("a.jsonl", b"", "feeders.users.file", "the file is empty");
    check("a.jsonl", b"[1]\n", "feeders.users.file", "a.jsonl:1: no JSON object");
    check("a.jsonl", b"{}\n", "feeders.users.file", "a.jsonl:1: the object has no keys");
    check(
        "a.jsonl",
        b"{\"a\":1}\n\n{\"b\":1}\n",
        "feeders.users.file",
        "a.jsonl:3: the object has no key `a`",
    );
    check("a.jsonl", b"{\"a\":1}\n{\"a\":1} x\n", "feeders.users.file", "a.jsonl:2: trailing characters");
    check("a.txt", b"\n\n", "feeders.users.file", "a.txt has no rows");
    let folder = folder_with("a.txt", b"x");
    let missing = open(&folder, &plan("b.csv", FeederOrder::Sequential)).unwrap_err();
    assert!(missing.cause.contains("b.csv: No such file"), "{missing}");
    let directory = open(&folder, &plan(".", FeederOrder::Sequential)).unwrap_err();
    assert!(directory.cause.contains("no regular file"), "{directory}");
    let mut columns = plan("a.txt", FeederOrder::Sequential);
    columns.columns = Some(vec!["a".into()]);
    assert!(open(&folder, &columns).unwrap_err().cause.contains("are for CSV"));
    let mut delimiter = plan("a.csv", FeederOrder::Sequential);
    delimiter.delimiter = Some("::".into());
    assert_eq!(open(&folder, &delimiter).unwrap_err().key, "feeders.users.delimiter");
}

/// Blocks are read into memory that is reused.
#[test]
fn rows_by_place_take_no_memory_once_warm() {
    let csv: String = (0..500).map(|row| format!("{row},\"{}\"\n", "y".repeat(row % 9))).collect();
    let json: String = (0..500).map(|row| format!("{{\"id\":{row},\"t\":\"x\"}}\n")).collect();
    for (name, text) in [("a.csv", format!("id,t\n{csv}")), ("a.jsonl", json), ("a.txt", csv)] {
        let folder = folder_with(name, text.as_bytes());
        let source = open(&folder, &plan(name, FeederOrder::Random)).unwrap();
        let feeder = source.load_within(&BTreeSet::from([0]), Seed(1), 0).unwrap();
        let (mut cursor, mut out) = (Cursor::default(), Vec::new());
        let mut read = |position| {
            out.clear();
            cursor.begin();
            cursor.column(&feeder, 0, position, 0, &mut out).unwrap();
        };
        (0..2000).for_each(&mut read);
        let counted = allocation_counter::measure(|| (2000..3000).for_each(&mut read));
        assert_eq!(counted.count_total, 0, "{name}: {counted:?}");
    }
}
