//! Tuning of planted hosts: what is changed, and that it is put back after a death at every step.

use super::*;
use schema::tuning::PutBackOutcome::{Failed, Foreign, Restored as Back, Untouched};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const SOMAXCONN: &str = "proc/sys/net/core/somaxconn";
const PORTS: &str = "proc/sys/net/ipv4/ip_local_port_range";
const THP: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const GOVERNOR: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
const SWAPPINESS: &str = "proc/sys/vm/swappiness";
const BOOT: &str = "proc/sys/kernel/random/boot_id";

struct Host {
    folder: TempDir,
    tuner: Tuner,
}

impl Host {
    /// A host with everything as it should not be.
    fn new() -> Self {
        Self::with(&[
            (SOMAXCONN, "128\n"),
            ("proc/sys/net/ipv4/tcp_max_syn_backlog", "256\n"),
            (PORTS, "32768\t60999\n"),
            ("proc/sys/net/ipv4/tcp_slow_start_after_idle", "1\n"),
            (SWAPPINESS, "60\n"),
            ("proc/swaps", "Filename Type Size Used Priority\n/swapfile file 1 0 -2\n"),
            (GOVERNOR, "powersave\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "performance powersave\n"),
            (NO_TURBO, "0\n"),
        ])
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots { proc: folder.path().join("proc"), sys: folder.path().join("sys") };
        let tuner = Tuner::new(roots, folder.path().join("state/tuning"));
        let host = Self { folder, tuner };
        files.iter().for_each(|(path, text)| host.put(path, text));
        host.put(BOOT, "this-boot\n");
        host
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap().trim().to_owned()
    }

    fn journals(&self) -> Vec<Kept> {
        let (kept, problems) = journal::all(&self.tuner.folder);
        assert_eq!(problems, Vec::<String>::new());
        kept
    }

    fn wishes(&self) -> Vec<Wish> {
        settings::wishes(&self.tuner.roots, false)
    }

    /// Makes the only journal that of a process that has died.
    fn die(&self) {
        let mut kept = self.journals().remove(0);
        let me = Owner::this_process().unwrap();
        kept.remove().unwrap();
        kept.journal.owner = Owner { start_ticks: me.start_ticks + 1, ..me }.to_string();
        kept.write().unwrap();
    }
}

/// Names and outcomes, sorted.
fn outcomes(restored: &Restored) -> Vec<(&str, PutBackOutcome)> {
    let mut found: Vec<_> = restored.settings.iter().map(|one| (one.name.as_str(), one.outcome)).collect();
    found.sort_by_key(|(name, _)| *name);
    found
}

#[test]
fn the_conservative_set_is_tuned_and_put_back() {
    let host = Host::new();
    let (tuned, hold) = host.tuner.hold(false).unwrap();
    assert_eq!(tuned.refused, []);
    let changes: Vec<String> =
        tuned.changed.iter().map(|one| format!("{}: {} → {}", one.name, one.old, one.new)).collect();
    let wanted = [
        "net.core.somaxconn: 128 → 4096",
        "net.ipv4.tcp_max_syn_backlog: 256 → 4096",
        "net.ipv4.ip_local_port_range: 32768 60999 → 16384 65535",
        "net.ipv4.tcp_slow_start_after_idle: 1 → 0",
        "vm.swappiness: 60 → 1",
        "cpu0.governor: powersave → performance",
    ];
    assert_eq!(changes, wanted);
    assert_eq!(host.read(PORTS), "16384 65535");
    assert_eq!(host.read(NO_TURBO), "0", "turbo is left alone unless asked for");
    assert_eq!(host.tuner.in_force(), tuned.changed);
    let restored = hold.end();
    assert!(!restored.has_failed());
    assert_eq!(restored.settings.len(), 6);
    assert!(restored.settings.iter().all(|one| one.outcome == Back), "{restored:?}");
    for (path, value) in
        [(SOMAXCONN, "128"), (PORTS, "32768 60999"), (GOVERNOR, "powersave"), (SWAPPINESS, "60")]
    {
        assert_eq!(host.read(path), value);
    }
    assert!(host.journals().is_empty());
    assert!(tuned.changed.iter().all(|one| !why(&one.name).is_empty()));
}

#[test]
fn what_is_as_it_should_be_or_better_is_left_alone() {
    let host = Host::with(&[
        (SOMAXCONN, "65535\n"),
        (PORTS, "1024\t65535\n"),
        (SWAPPINESS, "60\n"),
        ("proc/swaps", "Filename Type Size Used Priority\n"),
        (THP, "always [madvise] never\n"),
        (GOVERNOR, "powersave\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "powersave schedutil\n"),
    ]);
    assert_eq!(host.wishes(), [], "no swap, a wide range, and no governor that the driver lacks");
    let tuned = host.tuner.tune(TunedUntil::Restored, false).unwrap();
    assert!(tuned.changed.is_empty() && tuned.refused.is_empty());
    assert!(!host.tuner.folder.exists(), "nothing is written down where nothing is changed");
}

#[test]
fn turbo_and_huge_pages() {
    let host = Host::with(&[(NO_TURBO, "0\n"), (THP, "[always] madvise never\n")]);
    let wishes = settings::wishes(&host.tuner.roots, true);
    let names: Vec<_> =
        wishes.iter().map(|wish| (wish.name.as_str(), wish.now.as_str(), wish.wanted.as_str())).collect();
    assert_eq!(
        names,
        [("transparent_hugepage.enabled", "always", "madvise"), ("turbo.intel_no_turbo", "0", "1")]
    );
}

#[test]
fn death_between_journal_and_first_change_leaves_nothing_to_undo() {
    let host = Host::new();
    fs::create_dir_all(&host.tuner.folder).unwrap();
    host.tuner.begin(&host.wishes(), TunedUntil::RunEnds).unwrap();
    assert_eq!(host.tuner.recover().settings, [], "its process lives");
    host.die();
    let restored = host.tuner.recover();
    assert_eq!(restored.settings.len(), 6);
    assert!(restored.settings.iter().all(|one| one.outcome == Untouched), "{restored:?}");
    assert!(host.journals().is_empty());
    assert_eq!(host.read(SOMAXCONN), "128");
}

#[test]
fn death_after_each_change_is_undone_even_if_the_change_was_to_stay() {
    for until in [TunedUntil::RunEnds, TunedUntil::Restored] {
        for made in 1..=6 {
            let host = Host::new();
            fs::create_dir_all(&host.tuner.folder).unwrap();
            let wishes = host.wishes();
            host.tuner.begin(&wishes, until).unwrap();
            for wish in &wishes[..made] {
                settings::write(&host.tuner.roots, &wish.name, &wish.wanted).unwrap();
            }
            host.die();
            let restored = host.tuner.recover();
            let back = restored.settings.iter().filter(|one| one.outcome == Back).count();
            assert_eq!((back, restored.settings.len()), (made, 6));
            assert_eq!(host.wishes(), wishes, "the host is as it was");
            assert!(host.journals().is_empty());
        }
    }
}

#[test]
fn death_in_the_middle_of_a_run_and_in_the_middle_of_the_undoing() {
    let host = Host::new();
    let wishes = host.wishes();
    std::mem::forget(host.tuner.hold(false).unwrap().1);
    host.die();
    // An undoing that was cut off after one setting.
    settings::write(&host.tuner.roots, "net.core.somaxconn", "128").unwrap();
    let restored = host.tuner.recover();
    assert!(outcomes(&restored).contains(&("net.core.somaxconn", Untouched)), "{restored:?}");
    assert_eq!(host.wishes(), wishes);
}

#[test]
fn a_foreign_change_is_named_and_not_overwritten() {
    let host = Host::new();
    let (_, hold) = host.tuner.hold(false).unwrap();
    host.put(SOMAXCONN, "9999\n");
    let restored = hold.end();
    let foreign: Vec<_> = restored.settings.iter().filter(|one| one.outcome == Foreign).collect();
    assert_eq!(foreign.len(), 1);
    assert_eq!((foreign[0].name.as_str(), foreign[0].found.as_deref()), ("net.core.somaxconn", Some("9999")));
    assert_eq!(host.read(SOMAXCONN), "9999");
    assert_eq!(host.read(GOVERNOR), "powersave");
    assert!(host.journals().is_empty());
}

#[test]
fn what_is_to_stay_stays_until_it_is_restored() {
    let host = Host::new();
    host.tuner.tune(TunedUntil::Restored, true).unwrap();
    host.die();
    assert_eq!(host.tuner.recover().settings, []);
    assert_eq!((host.read(SOMAXCONN), host.read(NO_TURBO)), ("4096".into(), "1".into()));
    let again = host.tuner.tune(TunedUntil::RunEnds, true).unwrap();
    assert_eq!(again.changed, [], "it is tuned already");
    let restored = host.tuner.restore();
    assert!(restored.settings.iter().all(|one| one.outcome == Back) && !restored.has_failed());
    assert_eq!((host.read(SOMAXCONN), host.read(NO_TURBO)), ("128".into(), "0".into()));
    assert_eq!(host.tuner.restore().settings, [], "there is nothing left");
}

#[test]
fn a_dropped_hold_and_a_second_tuner() {
    let host = Host::new();
    let (_, hold) = host.tuner.hold(false).unwrap();
    let error = host.tuner.tune(TunedUntil::RunEnds, false).unwrap_err();
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    let said = host.tuner.restore();
    assert!(said.settings.is_empty() && said.problems[0].contains("puts it back"), "{said:?}");
    drop(hold);
    assert_eq!((host.read(GOVERNOR), host.read(SOMAXCONN)), ("powersave".into(), "128".into()));
    assert!(host.journals().is_empty());
}

#[test]
fn journals_of_other_boots_other_networks_and_of_nobody() {
    let host = Host::new();
    std::mem::forget(host.tuner.hold(false).unwrap().1);
    host.put(BOOT, "next-boot\n");
    assert_eq!(host.tuner.recover().settings, []);
    assert!(host.journals().is_empty(), "a boot takes its settings with it");
    assert_eq!(host.read(SOMAXCONN), "4096");

    let host = Host::new();
    std::mem::forget(host.tuner.hold(false).unwrap().1);
    host.die();
    let mut kept = host.journals().remove(0);
    kept.journal.network_namespace = 77;
    kept.write().unwrap();
    assert_eq!(host.tuner.recover().settings, []);
    assert!(host.tuner.restore().problems[0].contains("another container"));
    assert_eq!(host.read(SOMAXCONN), "4096");

    fs::write(host.tuner.folder.join("x.json"), "{").unwrap();
    let problems = host.tuner.recover().problems;
    assert!(problems[0].contains("x.json") && problems[0].contains("remedy"), "{problems:?}");
    assert!(host.tuner.folder.join("x.json").exists());
}

#[test]
fn a_journal_cannot_name_a_file_or_a_strange_value() {
    let host = Host::new();
    host.put("victim", "untouched");
    std::mem::forget(host.tuner.hold(false).unwrap().1);
    host.die();
    let mut kept = host.journals().remove(0);
    kept.journal.changes = ["../victim", "cpu../../victim.governor", "cpu+0.governor", "kernel.core_pattern"]
        .map(|name| TunedSetting { name: name.into(), old: "taken".into(), new: "untouched".into() })
        .to_vec();
    let strange = TunedSetting { name: "net.core.somaxconn".into(), old: "1\n2".into(), new: "4096".into() };
    kept.journal.changes.push(strange);
    kept.write().unwrap();
    let restored = host.tuner.recover();
    assert!(restored.settings.iter().all(|one| one.outcome == Failed && one.cause.is_some()), "{restored:?}");
    assert_eq!((host.read("victim"), host.read(SOMAXCONN)), ("untouched".into(), "4096".into()));
    assert_eq!(host.journals().len(), 1, "what failed is kept");
}

#[test]
fn nothing_is_changed_where_the_old_values_cannot_be_kept() {
    let host = Host::new();
    host.put("state/tuning", "a file in the place of the folder");
    let error = host.tuner.tune(TunedUntil::RunEnds, false).unwrap_err().to_string();
    assert!(error.contains("state/tuning") && error.contains("nothing is tuned"), "{error}");
    assert_eq!(host.read(SOMAXCONN), "128");
}

#[test]
fn a_setting_that_may_not_be_written_is_named_and_the_rest_is_tuned() {
    let host = Host::new();
    let file = host.folder.path().join(SOMAXCONN);
    // A folder in its place: root, too, cannot write to that.
    let wishes = host.wishes();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let tuned = host.tuner.carry_out(wishes, TunedUntil::Restored).unwrap();
    assert_eq!(tuned.refused.len(), 1);
    assert_eq!(
        (tuned.refused[0].name.as_str(), tuned.refused[0].value.as_str()),
        ("net.core.somaxconn", "128")
    );
    assert_eq!(tuned.changed.len(), 5);
    assert!(!tuned.changed.iter().any(|one| one.name == "net.core.somaxconn"));
}

/// One true setting of this host, raised by one and put back.
#[test]
fn a_true_setting_is_changed_and_put_back() {
    let roots = Roots::default();
    let name = "net.core.somaxconn";
    if let Some(cause) = settings::refusal(&roots, name) {
        eprintln!("skipped: {name} cannot be written here ({cause})");
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let tuner = Tuner::new(roots.clone(), state.path().join("tuning"));
    let now = settings::read(&roots, name).unwrap();
    let wanted = (now.parse::<u64>().unwrap() + 1).to_string();
    let wish = Wish { name: name.into(), now: now.clone(), wanted: wanted.clone() };
    let tuned = tuner.carry_out(vec![wish], TunedUntil::Restored).unwrap();
    let during = settings::read(&roots, name).unwrap();
    let restored = tuner.restore();
    let after = settings::read(&roots, name).unwrap();
    assert_eq!((tuned.changed.len(), during, after), (1, wanted, now));
    assert_eq!(outcomes(&restored), [(name, Back)]);
    assert!(journal::all(Path::new(&tuner.folder)).0.is_empty());
}
