//! No bytes make a reader panic, and whatever is read can be tabled and drawn.

use profile::{Folded, bpf, cpuprofile, flame_graph, jfr, perf_script, pprof, table, text, top};
use schema::profile::{ProfileKind, ProfileUnit};
use std::fs;
use std::path::Path;

const FIXTURES: [&str; 5] =
    ["go-cpu.pb.gz", "go-heap.pb.gz", "perf-script.txt", "node.cpuprofile", "jfr.txt"];

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn all(data: &[u8]) -> Vec<Folded> {
    let mut read: Vec<Folded> = pprof::read(data).into_iter().flatten().map(|one| one.folded).collect();
    read.extend(perf_script::read(data));
    read.extend(
        jfr::read(data)
            .into_iter()
            .flat_map(|recorded| [recorded.samples, recorded.allocated, recorded.waits]),
    );
    read.extend(cpuprofile::read(data));
    read.extend(text::read(data, ProfileUnit::CpuNs, 1));
    read.extend(bpf::read(data, ProfileKind::OffCpu).map(|trace| trace.folded(ProfileUnit::BlockedNs)));
    read
}

fn check(data: &[u8]) {
    for folded in all(data) {
        let functions = top(&folded, 10);
        assert!(functions.iter().all(|one| (0.0..=1.0).contains(&one.flat_share)));
        let shown = table("t", folded.unit, folded.total(), &functions);
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        if !folded.is_empty() {
            flame_graph(&folded, "t").unwrap();
        }
    }
}

/// A small generator, so that a find can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn unzipped(name: &str) -> Vec<u8> {
    let data = fixture(name);
    if !name.ends_with(".gz") {
        return data;
    }
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&data[..]), &mut plain).unwrap();
    plain
}

#[test]
fn damaged_profiles_are_read_or_refused() {
    let mut random = Random(1);
    for name in FIXTURES {
        let whole = unzipped(name);
        for _ in 0..60 {
            let mut data = whole.clone();
            data.truncate(random.below(data.len()) + 1);
            for _ in 0..random.below(30) {
                let at = random.below(data.len());
                data[at] = random.below(256) as u8;
            }
            check(&data);
        }
    }
}

#[test]
fn traps_are_read_or_refused() {
    let deep = format!("{} 1\n", vec!["f"; 100_000].join(";"));
    let nested = "[".repeat(100_000);
    for data in [
        &b""[..],
        b"\x1f\x8b",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
        b": 1 x:\n\tffff f+0x (\n\n",
        b"1 2:3:\n",
        b" 1: cpu-clock:\n\t a ([])\n",
        b"\xc2\xa0 1 1.0: 1 cpu-clock:\n\t1 _RNvC\xf0\x9f\x92\xa9h0123456789abcdef (x)\n\n",
        b"a;b 1 2 3\n;;; 4\n</svg><script>;]]> 5\n",
        b"{\"nodes\":[],\"samples\":[1],\"timeDeltas\":[9223372036854775807]}",
        deep.as_bytes(),
        nested.as_bytes(),
    ] {
        check(data);
    }
}
