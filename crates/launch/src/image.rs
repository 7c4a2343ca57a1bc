//! Targets from container images: an image's files in a folder, and the command that runs its program in them.
//!
//! skopeo finds the image (a layout on disk, an archive, or what podman, docker or containerd have), umoci lays its files
//! out, bubblewrap runs its program in them. So the program is a child of prony's guard like any other target: control
//! groups, network, CPUs and signals are those of prony, no engine stands between, and no daemon is needed.
//!
//! Invariants: nothing is fetched from another host; what an image says of itself is untrusted and becomes arguments, never
//! a shell's text. Absent on purpose: namespaces of processes and users (but for one user, below), mounts and ports that an
//! engine would make.

use crate::build::{run, spec_of};
use crate::need::NeedState;
use crate::{StartPlan, TargetError, program};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Transports of skopeo that reach nothing but this host (containers-transports(5)).
const TRANSPORTS: [&str; 6] =
    ["oci", "oci-archive", "docker-archive", "docker-daemon", "containers-storage", "dir"];
/// What engines look for where an image names no transport, and the transport that reads it.
const ENGINES: [(&str, [&str; 2], &str); 2] = [
    ("podman", ["image", "exists"], "containers-storage"),
    ("docker", ["image", "inspect"], "docker-daemon"),
];
/// Programs, and the packages of Debian and Ubuntu that have them.
const PROGRAMS: [(&str, &str); 3] = [("skopeo", "skopeo"), ("umoci", "umoci"), ("bwrap", "bubblewrap")];
/// Of the copy that is unpacked.
const TAG: &str = "image";
/// Longest file of an image's description that is read; real ones have some kilobytes.
const JSON_BYTES_MAX: u64 = 4 << 20;
/// What engines leave to a program that runs as root (the list of Docker and Podman).
const CAPABILITIES: [&str; 11] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];
/// The variable that has the port where neither command nor environment has `{port}`.
const PORT: &str = "PORT";

/// An image whose files are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// SHA-256 of its configuration, as engines print it.
    pub id: String,
    root: PathBuf,
    entrypoint: Vec<String>,
    cmd: Vec<String>,
    /// As an engine would set it.
    env: Vec<(String, String)>,
    folder: String,
    uid: u32,
    gid: u32,
}

/// The programs that images need.
#[must_use]
pub fn image_needs() -> Vec<NeedState> {
    let state = |(name, package): (&str, &str)| {
        let found = program::find(name, None, None);
        let install = format!("apt-get install {package}");
        NeedState { program: name.to_owned(), present: found.is_some(), found, install }
    };
    PROGRAMS.into_iter().map(state).collect()
}

/// Lays an image out in `folder`, which must be there; `name` is the target's, for errors.
///
/// # Errors
/// There is no such image on this host, a program of [`image_needs`] is missing or fails, or the image is broken.
pub fn unpack(
    image: &str,
    folder: &Path,
    name: &str,
    log: &Path,
    launcher: &Path,
    cancelled: &AtomicBool,
) -> Result<Image, TargetError> {
    let source = located(image)?;
    let (layout, bundle) = (folder.join("layout"), folder.join("bundle"));
    for made in [&layout, &bundle] {
        // Of an attempt that was broken off.
        let _ = fs::remove_dir_all(made);
    }
    let copy = format!("oci:{}:{TAG}", layout.display());
    let reference = format!("{}:{TAG}", layout.display());
    let unpacked = bundle.display().to_string();
    // Policies are about whom to fetch from, and nothing is fetched.
    let fetch = ["skopeo", "--insecure-policy", "copy", "--quiet", &source, &copy];
    let mut lay_out = vec!["umoci", "unpack", "--image", &reference];
    if !rustix::process::geteuid().is_root() {
        lay_out.push("--rootless");
    }
    lay_out.push(&unpacked);
    for command in [&fetch[..], &lay_out] {
        let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        run(name, launcher, &spec_of(command, folder, log), cancelled)?;
    }
    let found = described(&layout, &bundle, image);
    // The files are in the bundle now.
    let _ = fs::remove_dir_all(&layout);
    found
}

/// The image as skopeo is to be asked for it.
fn located(image: &str) -> Result<String, TargetError> {
    if let Some((transport, rest)) = image.split_once(':') {
        if TRANSPORTS.contains(&transport) && !rest.is_empty() {
            return Ok(image.to_owned());
        }
        if rest.starts_with("//") {
            return Err(TargetError::plan(
                format!("the image `{image}` is on another host, and prony fetches nothing"),
                "pull it with podman or docker, and name it as they list it",
            ));
        }
    }
    let has = |(engine, words, _): &&(&str, [&str; 2], &str)| {
        let command = [engine, words[0], words[1], image].map(str::to_owned);
        program::find(engine, None, None).is_some() && program::succeeds(&command, Path::new("/"))
    };
    match ENGINES.iter().find(has) {
        Some((_, _, transport)) if *transport == "docker-daemon" && !has_tag(image) => {
            Ok(format!("{transport}:{image}:latest"))
        }
        Some((_, _, transport)) => Ok(format!("{transport}:{image}")),
        None => Err(TargetError::plan(
            format!("neither podman nor docker has an image `{image}` on this host"),
            "build or pull it first, or name a layout on disk as oci:FOLDER:TAG or an archive as oci-archive:FILE",
        )),
    }
}

/// Whether a reference ends with a tag or a digest; a port of a registry is before the last slash.
fn has_tag(image: &str) -> bool {
    image.rsplit('/').next().is_some_and(|last| last.contains([':', '@']))
}

#[derive(Deserialize)]
struct Index {
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Descriptor {
    digest: String,
}

#[derive(Deserialize)]
struct Manifest {
    config: Descriptor,
}

#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    config: Settings,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Settings {
    entrypoint: Option<Vec<String>>,
    cmd: Option<Vec<String>>,
}

/// What umoci makes of it for a runtime.
#[derive(Deserialize)]
struct Bundle {
    process: Process,
}

#[derive(Deserialize)]
struct Process {
    user: User,
    #[serde(default)]
    env: Vec<String>,
    cwd: String,
}

#[derive(Deserialize)]
struct User {
    uid: u32,
    gid: u32,
}

/// Reads what a layout and its bundle say.
fn described(layout: &Path, bundle: &Path, image: &str) -> Result<Image, TargetError> {
    let broken = |cause: String| {
        TargetError::plan(format!("the image `{image}` is broken: {cause}"), "build or pull it again")
    };
    let index: Index = read(&layout.join("index.json")).map_err(broken)?;
    let first = index.manifests.first().ok_or_else(|| broken("its index is empty".to_owned()))?;
    let manifest: Manifest = read(&blob(layout, &first.digest).map_err(broken)?).map_err(broken)?;
    let config: Config = read(&blob(layout, &manifest.config.digest).map_err(broken)?).map_err(broken)?;
    let Bundle { process } = read(&bundle.join("config.json")).map_err(broken)?;
    let pair =
        |variable: &String| variable.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    Ok(Image {
        id: manifest.config.digest,
        root: bundle.join("rootfs"),
        entrypoint: config.config.entrypoint.unwrap_or_default(),
        cmd: config.config.cmd.unwrap_or_default(),
        env: process.env.iter().filter_map(pair).collect(),
        folder: process.cwd,
        uid: process.user.uid,
        gid: process.user.gid,
    })
}

/// The file of a digest such as `sha256:…`; digests are texts of strangers.
fn blob(layout: &Path, digest: &str) -> Result<PathBuf, String> {
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match digest.split_once(':') {
        Some((kind, hash)) if is_plain(kind) && is_plain(hash) => {
            Ok(layout.join("blobs").join(kind).join(hash))
        }
        _ => Err("a digest in it is none".to_owned()),
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let shown = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let length = fs::metadata(path).map_err(|error| format!("{}: {error}", shown()))?.len();
    if length > JSON_BYTES_MAX {
        return Err(format!("{} has {length} bytes", shown()));
    }
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", shown()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", shown()))
}

impl Image {
    /// The plan of a start, with the command run in the image: after its entrypoint, in place of its own arguments where
    /// there are some. The plan's environment is laid over the image's.
    ///
    /// # Errors
    /// Neither the image nor the plan has a program.
    pub fn start_plan(&self, mut plan: StartPlan) -> Result<StartPlan, TargetError> {
        let own = if plan.command.is_empty() { &self.cmd } else { &plan.command };
        let program: Vec<String> = self.entrypoint.iter().chain(own).cloned().collect();
        if program.is_empty() {
            return Err(TargetError::plan(
                "the image has neither an entrypoint nor a command",
                "give the program as `command`",
            ));
        }
        let mut env: BTreeMap<String, String> = self.env.iter().cloned().collect();
        env.extend(std::mem::take(&mut plan.env));
        let has_port = |text: &String| text.contains("{port}");
        if !program.iter().any(has_port) && !env.values().any(has_port) {
            env.insert(PORT.to_owned(), "{port}".to_owned());
        }
        plan.command = self.confined(&env);
        plan.command.extend(program);
        Ok(plan)
    }

    /// bubblewrap with the image's files, folder, environment and user, up to the program.
    fn confined(&self, env: &BTreeMap<String, String>) -> Vec<String> {
        let root = self.root.display().to_string();
        let mut words = vec!["bwrap", "--bind", &root, "/", "--dev", "/dev"];
        // The host's own processes stay visible: prony confines by control groups, which programs read about there.
        words.extend(["--ro-bind", "/proc", "/proc", "--ro-bind", "/sys", "/sys"]);
        for file in ["/etc/resolv.conf", "/etc/hosts"] {
            words.extend(["--ro-bind-try", file, file]);
        }
        // Engines make a working directory that the image names and does not have.
        words.extend(["--dir", &self.folder, "--chdir", &self.folder, "--clearenv"]);
        for (name, value) in env {
            words.extend(["--setenv", name, value]);
        }
        let (uid, gid) = (self.uid.to_string(), self.gid.to_string());
        if self.uid == 0 && rustix::process::geteuid().is_root() {
            words.extend(CAPABILITIES.iter().flat_map(|capability| ["--cap-add", capability]));
        } else {
            // Of prony's own user, who is the one user that the program sees.
            words.extend(["--unshare-user", "--uid", &uid, "--gid", &gid]);
        }
        words.push("--");
        words.into_iter().map(str::to_owned).collect()
    }

    /// What is recorded among the versions of a run.
    #[must_use]
    pub fn versions(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("image".to_owned(), self.id.clone())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let env =
            [("PATH", "/bin"), ("MODE", "own")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        Image {
            id: "sha256:ab".to_owned(),
            root: PathBuf::from("/b/rootfs"),
            entrypoint: vec!["/server".to_owned()],
            cmd: vec!["-v".to_owned()],
            env: env.to_vec(),
            folder: "/srv".to_owned(),
            uid: 1000,
            gid: 100,
        }
    }

    fn started(image: &Image, command: &[&str], env: &[(&str, &str)]) -> Result<Vec<String>, TargetError> {
        let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        let mut plan = StartPlan::from_command(&command, Path::new("log"), Path::new("prony"));
        plan.env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let plan = image.start_plan(plan)?;
        assert!(plan.env.is_empty(), "bubblewrap itself has none of it");
        Ok(plan.command)
    }

    /// Whether words follow each other.
    fn has(command: &[String], words: &[&str]) -> bool {
        command.windows(words.len()).any(|found| found == words)
    }

    #[test]
    fn the_program_has_the_image_s_settings_and_those_of_the_plan_over_them() {
        let command = started(&image(), &[], &[("MODE", "new")]).unwrap();
        assert!(has(&command, &["--setenv", "MODE", "new"]) && has(&command, &["--setenv", "PATH", "/bin"]));
        assert!(has(&command, &["--setenv", "PORT", "{port}"]), "nothing else has the port: {command:?}");
        assert!(has(&command, &["--bind", "/b/rootfs", "/"]) && has(&command, &["--chdir", "/srv"]));
        assert!(has(&command, &["--unshare-user", "--uid", "1000", "--gid", "100"]), "{command:?}");
        assert!(command.ends_with(&["--", "/server", "-v"].map(str::to_owned)), "{command:?}");
        let command = started(&image(), &["--listen", "{host}:{port}"], &[]).unwrap();
        assert!(command.ends_with(&["--", "/server", "--listen", "{host}:{port}"].map(str::to_owned)));
        assert!(!command.contains(&PORT.to_owned()), "{command:?}");
        let empty = Image { entrypoint: Vec::new(), cmd: Vec::new(), ..image() };
        let refused = started(&empty, &[], &[]).unwrap_err().to_string();
        assert!(refused.contains("neither an entrypoint nor a command"), "{refused}");
    }

    #[test]
    fn nothing_is_fetched_from_another_host() {
        assert_eq!(located("oci:/a/b:1").unwrap(), "oci:/a/b:1");
        let refused = located("docker://shop:1").unwrap_err().to_string();
        assert!(refused.contains("prony fetches nothing"), "{refused}");
        assert!(has_tag("host:5000/shop:1") && !has_tag("host:5000/shop") && has_tag("shop@sha256:ab"));
    }

    #[test]
    fn a_broken_image_is_named_and_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, bundle) = (folder.path().join("layout"), folder.path().join("bundle"));
        let blobs = layout.join("blobs/sha256");
        fs::create_dir_all(&blobs).unwrap();
        fs::create_dir(&bundle).unwrap();
        let describe = || described(&layout, &bundle, "shop").map_err(|error| error.to_string());
        let write = |path: &Path, text: &str| fs::write(path, text).unwrap();
        let index = layout.join("index.json");
        for (text, cause) in [
            ("{", "index.json: EOF"),
            ("{\"manifests\":[]}", "its index is empty"),
            ("{\"manifests\":[{\"digest\":\"sha256:../../../etc/passwd\"}]}", "a digest in it is none"),
            ("{\"manifests\":[{\"digest\":\"sha256:aa\"}]}", "aa: No such file"),
        ] {
            write(&index, text);
            let error = describe().unwrap_err();
            assert!(error.contains("`shop` is broken") && error.contains(cause), "{error}");
        }
        write(&blobs.join("aa"), "{\"config\":{\"digest\":\"sha256:bb\"}}");
        write(&blobs.join("bb"), "{\"config\":{\"Entrypoint\":null,\"Cmd\":[\"/s\"]}}");
        let process =
            "{\"process\":{\"user\":{\"uid\":7,\"gid\":8},\"env\":[\"A=b=c\",\"X\"],\"cwd\":\"/\"}}";
        write(&bundle.join("config.json"), process);
        let found = describe().unwrap();
        assert_eq!((found.uid, found.gid, found.cmd), (7, 8, vec!["/s".to_owned()]));
        assert_eq!(found.env, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!(found.id, "sha256:bb");
    }
}
