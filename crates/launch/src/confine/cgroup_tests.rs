//! Groups in folders that look like the kernel's; what only a kernel does is tested with the guard.

use super::*;
use tempfile::TempDir;

fn host(own: &str, files: &[(&str, &str)]) -> (TempDir, Roots) {
    let folder = tempfile::tempdir().unwrap();
    let roots = Roots { proc: folder.path().join("proc"), cgroup: folder.path().join("cgroup") };
    let put = |path: PathBuf, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put(roots.proc.join("self/cgroup"), own);
    for (path, text) in files {
        put(roots.cgroup.join(path), text);
    }
    (folder, roots)
}

fn relative(roots: &Roots, found: Result<PathBuf, String>) -> String {
    let mount = roots.cgroup.canonicalize().unwrap();
    found.map_or_else(|error| error, |path| path.strip_prefix(mount).unwrap().display().to_string())
}

#[test]
fn v2_groups_are_made_where_the_controller_is_passed_on() {
    let (_folder, roots) = host(
        "0::/user/prony\n",
        &[
            ("cgroup.controllers", "cpu memory\n"),
            ("cgroup.subtree_control", "cpu memory\n"),
            ("user/cgroup.subtree_control", "memory\n"),
            ("user/prony/cgroup.subtree_control", "\n"),
        ],
    );
    assert_eq!(relative(&roots, roots.parent("memory")), "user");
    assert_eq!(relative(&roots, roots.parent("cpu")), "");
    assert!(roots.parent("cpuset").unwrap_err().contains("controller cpuset"));
}

#[test]
fn v1_groups_are_made_below_our_own() {
    let own = "4:memory:/box/1\n3:cpuset:/\n1:cpu,cpuacct:/gone/elsewhere\n0::/\n";
    let (_folder, roots) =
        host(own, &[("memory/box/1/tasks", ""), ("cpuset/tasks", ""), ("cpu/tasks", ""), ("unified/x", "")]);
    assert_eq!(relative(&roots, roots.parent("memory")), "memory/box/1");
    assert_eq!(relative(&roots, roots.parent("cpuset")), "cpuset");
    assert_eq!(relative(&roots, roots.parent("cpu")), "cpu", "the nearest that is visible here");
    assert!(roots.parent("pids").is_err());
}

#[test]
fn a_path_that_leads_out_of_the_mount_is_not_followed() {
    let (_folder, roots) = host("1:cpu:/../../etc\n", &[("cpu/tasks", "")]);
    assert_eq!(relative(&roots, roots.parent("cpu")), "cpu");
}

#[test]
fn quotas_are_written_and_read_back_in_both_versions() {
    let (folder, _) = host("", &[]);
    fs::write(folder.path().join("cpu.max"), "max 100000\n").unwrap();
    assert_eq!(set_quota(folder.path(), 0.5), Ok(0.5));
    assert_eq!(fs::read_to_string(folder.path().join("cpu.max")).unwrap(), "50000 100000");
    fs::remove_file(folder.path().join("cpu.max")).unwrap();
    assert_eq!(set_quota(folder.path(), 1.5), Ok(1.5));
    assert_eq!(fs::read_to_string(folder.path().join("cpu.cfs_quota_us")).unwrap(), "150000");
}

#[test]
fn what_cannot_be_made_is_a_weakness_in_words() {
    let (_folder, roots) = host("0::/\n", &[]);
    let wanted = Wanted {
        limits: LimitsPlan { cpus: Some(1.0), memory_bytes: Some(1 << 30), ..LimitsPlan::default() },
        cpus: Some(vec![0]),
        subnets: None,
        services: Vec::new(),
        weaknesses: Vec::new(),
    };
    let mut held = Confinement::default();
    let groups = Groups::make(&roots, &Owner::this_process().unwrap(), &wanted, &mut held);
    assert!(groups.folders().is_empty() && held.cpus.is_none() && held.memory_bytes.is_none());
    let all = schema::said::Said::list(schema::said::Joint::Semicolon, held.weaknesses);
    assert!(
        all.contains("CPU quota could not be set") && all.contains("memory limit could not be set"),
        "{all}"
    );
}

#[test]
fn kills_for_memory_are_read_in_both_versions() {
    let (folder, _) = host("", &[]);
    let groups =
        Groups { folders: BTreeMap::from([("memory", folder.path().to_owned())]), name: String::new() };
    assert_eq!(groups.oom_kills(), None);
    fs::write(folder.path().join("memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
        .unwrap();
    assert_eq!(groups.oom_kills(), Some(3));
    fs::write(folder.path().join("memory.events"), "low 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n")
        .unwrap();
    assert_eq!(groups.oom_kills(), Some(2));
}
