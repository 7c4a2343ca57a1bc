//! The short run: the corpus and every find ever made are replayed, then mutated for a bounded count.
//!
//! Stable Rust and no instrumentation, so it runs wherever the tests do; `make fuzz` is the long run of the same
//! properties. A failure names the file with its input.

use properties::{Broken, TARGETS, Target, dictionary, mutate::Mutator};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use units::Seed;

const CASES: u64 = 20_000;
const SEED: Seed = Seed(1);

fn fuzz_folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz"))
}

/// The files of a folder in the order of their names, with their bytes; none where it is missing, as git keeps no
/// empty folders.
fn kept_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// What breaks on this input, a panic included.
fn against(target: &Target, input: &[u8]) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| (target.check)(input))) {
        Ok(Ok(())) => None,
        Ok(Err(Broken(cause))) => Some(cause),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Some(
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .unwrap_or_default(),
            )
        }
    }
}

/// Replays `seeds` and makes `cases` mutants; the first input that breaks, with the cause.
fn first_find(
    target: &Target,
    seeds: &[Vec<u8>],
    words: &[Vec<u8>],
    cases: u64,
) -> Option<(Vec<u8>, String)> {
    let mut mutator = Mutator::new(seeds, words, SEED.derive(target.name, 0));
    let mutants = (0..cases).map(|_| mutator.next_input());
    seeds.iter().cloned().chain(mutants).find_map(|input| {
        let cause = against(target, &input)?;
        Some((input, cause))
    })
}

fn run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let folder = fuzz_folder();
    let dictionary_file = folder.join(format!("dictionaries/{name}.dict"));
    let words = dictionary::parse(&std::fs::read_to_string(dictionary_file).unwrap()).expect("a dictionary");
    let kept: Vec<_> = [folder.join("corpus").join(name), folder.join("regressions").join(name)]
        .iter()
        .flat_map(|folder| kept_in(folder))
        .collect();
    assert!(kept.len() >= 5, "only {} files are kept for {name}", kept.len());
    let seeds: Vec<Vec<u8>> = kept.into_iter().map(|(_, bytes)| bytes).collect();
    if let Some((input, cause)) = first_find(target, &seeds, &words, CASES) {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("find-{name}"));
        std::fs::write(&file, &input).unwrap();
        panic!(
            "{name}: {cause}\ninput: {:?}\n  remedy: mend the defect, and keep the input: cp {} fuzz/regressions/{name}/",
            String::from_utf8_lossy(&input),
            file.display()
        );
    }
}

#[test]
fn response() {
    run("response");
}

#[test]
fn chunked() {
    run("chunked");
}

#[test]
fn request() {
    run("request");
}

#[test]
fn experiment() {
    run("experiment");
}

#[test]
fn audit() {
    run("audit");
}

#[test]
fn counters() {
    run("counters");
}

#[test]
fn profile() {
    run("profile");
}

#[test]
fn coding() {
    run("coding");
}

#[test]
fn answer() {
    run("answer");
}

#[test]
fn import() {
    run("import");
}

#[test]
fn template() {
    run("template");
}

#[test]
fn files() {
    run("files");
}

#[test]
fn http2() {
    run("http2");
}

#[test]
fn hpack() {
    run("hpack");
}

#[test]
fn grpc() {
    run("grpc");
}

#[test]
fn spans() {
    run("spans");
}

#[test]
fn a_planted_fault_is_found() {
    let faulty = Target {
        name: "faulty",
        check: |input| Broken::unless(!input.ends_with(b"\r\n\r\n\n"), || "planted".to_owned()),
    };
    let panicking = Target {
        name: "panicking",
        check: |input| (input.len() < 30).then_some(()).ok_or_else(|| panic!("planted")),
    };
    let seeds = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec()];
    for target in [faulty, panicking] {
        let (_, cause) = first_find(&target, &seeds, &[], CASES).expect("20,000 mutants find it");
        assert_eq!(cause, "planted");
    }
    assert_eq!(first_find(&TARGETS[0], &seeds, &[], 10), None);
}

#[test]
fn what_is_kept_stays_small() {
    for kind in ["corpus", "regressions"] {
        let kept: Vec<_> =
            TARGETS.iter().flat_map(|target| kept_in(&fuzz_folder().join(kind).join(target.name))).collect();
        let bytes: usize = kept.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(kept.len() <= 500 && bytes <= 300 * 1024, "{kind}: {} files, {bytes} bytes", kept.len());
    }
}
