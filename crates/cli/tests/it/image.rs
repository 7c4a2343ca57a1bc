//! Targets from container images: a layout on disk, podman's own storage, and what cannot be had.

use crate::command::{done, is_there};
use crate::run::read;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Says who it is and how it was started.
const SERVER: &str = r#"package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	folder, _ := os.Getwd()
	http.HandleFunc("/who", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "uid %d in %s mode %s args %s host %t", os.Getuid(), folder, os.Getenv("MODE"),
			strings.Join(os.Args[1:], ","), os.Getenv("PRONY_TEST_OF_THE_HOST") != "")
	})
	if err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
"#;

/// An image of a static program, in a layout.
struct Built {
    folder: TempDir,
}

impl Built {
    /// `None` where a program is missing, with the reason said.
    fn new() -> Option<Self> {
        let wanted = [("go", "golang"), ("skopeo", "skopeo"), ("umoci", "umoci"), ("bwrap", "bubblewrap")];
        if let Some((name, package)) = wanted.into_iter().find(|(name, _)| !is_there(name)) {
            println!(
                "skipped: a target from an image, because {name} is missing (apt-get install {package})"
            );
            return None;
        }
        let built = Self { folder: tempfile::tempdir().unwrap() };
        let at = |name: &str| built.folder.path().join(name).display().to_string();
        std::fs::write(at("main.go"), SERVER).unwrap();
        run(Command::new("go").args(["build", "-o", &at("server"), &at("main.go")]).env("CGO_ENABLED", "0"));
        let (layout, image) = (at("layout"), at("layout") + ":1");
        umoci(&["init", "--layout", &layout]);
        umoci(&["new", "--image", &image]);
        umoci(&["insert", "--image", &image, &at("server"), "/server"]);
        umoci(&[
            "config",
            "--image",
            &image,
            "--config.entrypoint=/server",
            "--config.cmd=own",
            "--config.env=MODE=image",
            "--config.user=1000:1000",
            "--config.workingdir=/srv",
        ]);
        let root = ["--tag", "root", "--config.user=0", "--config.workingdir=/"];
        umoci(&[&["config", "--image", &image][..], &root].concat());
        Some(built)
    }

    fn image(&self) -> String {
        format!("oci:{}:1", self.folder.path().join("layout").display())
    }

    /// Runs a load of a target whose answer must be this; gives the run folder.
    fn loaded(&self, target: &str, answer: &str) -> PathBuf {
        let file = self.folder.path().join("image.toml");
        let text = format!(
            "[experiment]\nname = \"image\"\nblocks = 1\n[[target]]\nname = \"shop\"\n{target}\n[scenario]\n\
             request = {{ path = \"/who\" }}\nexpect = {{ body = {answer:?} }}\n[load]\nmodel = \"closed\"\n\
             connections = 2\n[phases]\nwarmup = {{ at_least = \"100ms\", at_most = \"100ms\" }}\nsample = \"200ms\"\n\
             samples = 1\n"
        );
        std::fs::write(&file, text).unwrap();
        let runs = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        let mut command =
            crate::command::prony(&["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
        command.env("PRONY_TEST_OF_THE_HOST", "1").env("TMPDIR", self.folder.path());
        let ended = command.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        // One block decides nothing, and on a busy host its trial is void; but it was made.
        assert!(matches!(ended.status.code(), Some(0 | 2)), "{said}");
        let run =
            std::fs::read_dir(&runs).unwrap().next().unwrap_or_else(|| panic!("{said}")).unwrap().path();
        let trial = read(&run.join("trials/0001/trial.json"));
        let requests = &trial["load"]["requests"];
        assert!(requests["completed"].as_u64().unwrap() > 0, "{said}\n{trial:#}");
        assert_eq!(requests["failed"], 0, "every answer is as expected: {trial:#}");
        let left = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let left: Vec<_> = left
            .map(|entry| entry.file_name())
            .filter(|name| name.to_string_lossy().contains("prony-"))
            .collect();
        assert!(left.is_empty(), "the files of the image are gone: {left:?}");
        run
    }
}

fn run(command: &mut Command) {
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn umoci(words: &[&str]) {
    run(Command::new("umoci").args(words));
}

#[test]
fn a_layout_is_run_with_its_settings_and_those_of_the_experiment() {
    let Some(built) = Built::new() else { return };
    let image = built.image();
    let folder =
        built.loaded(&format!("image = {image:?}"), "uid 1000 in /srv mode image args own host false");
    let versions = &read(&folder.join("run.json"))["versions"];
    let id = versions["shop: image"].as_str().unwrap_or_else(|| panic!("{versions}"));
    assert!(id.starts_with("sha256:") && id.len() == 71, "{id}");
    built.loaded(
        &format!("image = {image:?}\ncommand = [\"a\", \"b\"]\nenv = {{ MODE = \"mine\" }}"),
        "uid 1000 in /srv mode mine args a,b host false",
    );
    let of_root = image.replace(":1", ":root");
    built.loaded(&format!("image = {of_root:?}"), "uid 0 in / mode image args own host false");
}

#[test]
fn an_image_that_podman_lists_is_found() {
    let Some(built) = Built::new() else { return };
    if !is_there("podman") {
        println!("skipped: an image of podman's, because podman is missing (apt-get install podman)");
        return;
    }
    let name = format!("localhost/prony-test-{}:1", std::process::id());
    let stored = format!("containers-storage:{name}");
    run(Command::new("skopeo").args(["--insecure-policy", "copy", "--quiet", &built.image(), &stored]));
    let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        built.loaded(&format!("image = {name:?}"), "uid 1000 in /srv mode image args own host false")
    }));
    run(Command::new("podman").args(["rmi", &name]));
    loaded.unwrap();
}

#[test]
fn what_is_no_image_is_refused_with_a_remedy() {
    if ["skopeo", "umoci", "bwrap"].into_iter().any(|name| !is_there(name)) {
        println!(
            "skipped: images that are none, because skopeo, umoci or bubblewrap is missing (apt-get install)"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (image, cause) in [
        ("docker://shop:1", "prony fetches nothing"),
        ("prony-has-no-such-image:1", "neither podman nor docker has an image"),
        ("oci:nowhere:1", "nowhere"),
    ] {
        let file = folder.path().join("none.toml");
        let text = format!(
            "[experiment]\nname = \"none\"\n[[target]]\nimage = {image:?}\n[scenario]\nrequest = {{ path = \"/\" }}\n\
             [load]\nmodel = \"closed\"\nconnections = 1\n"
        );
        std::fs::write(&file, text).unwrap();
        let runs = folder.path().join("runs");
        let ended = done(&["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap()]);
        assert!(ended.code != 0 && ended.err.contains(cause), "{image}: {} {}", ended.code, ended.err);
    }
}
