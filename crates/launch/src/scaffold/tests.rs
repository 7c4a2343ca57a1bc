//! New targets: from the samples, from a copy, and what is refused.

use super::*;

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let contract = root.path().join("targets/contract");
    fs::create_dir_all(&contract).unwrap();
    for name in ["ping", "json", "health"] {
        fs::write(contract.join(format!("{name}.toml")), "").unwrap();
    }
    root
}

fn refused(root: &Path, name: &str, like: Option<&str>, words: &str) {
    let text = scaffold(root, name, like).expect_err(name).to_string();
    assert!(text.contains(words) && text.contains("remedy"), "{text}");
}

#[test]
fn every_sample_is_a_target_of_its_own_name() {
    let root = project();
    for language in sample::LANGUAGES {
        let name = format!("{language}/my-service");
        let folder = scaffold(root.path(), &name, None).unwrap();
        let (manifest, _) = catalog::find(root.path(), &name).unwrap();
        assert_eq!(manifest.name, name);
        for (path, _) in sample::of(language).unwrap() {
            let text = fs::read_to_string(folder.join(path)).unwrap();
            assert!(!text.contains("go/example") && !text.contains("/example\n"), "{path}: {text}");
        }
    }
    let module = fs::read_to_string(root.path().join("targets/go/my-service/go.mod")).unwrap();
    assert!(module.contains("module prony.dev/targets/my-service\n"), "{module}");
    let package = fs::read_to_string(root.path().join("targets/node/my-service/package.json")).unwrap();
    assert!(package.contains("\"name\": \"prony-target-my-service\""), "{package}");
}

#[test]
fn a_copy_has_no_build_output_and_its_own_names() {
    let root = project();
    let one = scaffold(root.path(), "go/one", None).unwrap();
    for made in [".build/server", "vendor/x.go"] {
        fs::create_dir_all(one.join(made).parent().unwrap()).unwrap();
        fs::write(one.join(made), "x").unwrap();
    }
    fs::create_dir(one.join("inner")).unwrap();
    fs::write(one.join("inner/a.go"), "// A.\npackage inner\nimport \"prony.dev/targets/one/b\"\n").unwrap();
    fs::write(one.join("data"), [0xff, 0, 1]).unwrap();
    let two = scaffold(root.path(), "go/two", Some("go/one")).unwrap();
    assert!(!two.join(".build").exists() && !two.join("vendor").exists());
    assert!(fs::read_to_string(two.join("inner/a.go")).unwrap().contains("\"prony.dev/targets/two/b\""));
    assert_eq!(fs::read(two.join("data")).unwrap(), [0xff, 0, 1]);
    assert!(fs::read_dir(root.path().join("targets/go")).unwrap().count() == 2, "no draft is left");
}

#[test]
fn what_cannot_be_made_is_refused() {
    let root = project();
    scaffold(root.path(), "go/one", None).unwrap();
    refused(root.path(), "go/one", None, "exists already");
    for name in ["go", "go/", "/x", "go/../../x", "Go/x", "go/a/b", "contract/x", "go/.x"] {
        refused(root.path(), name, None, "is no name of a new target");
    }
    refused(root.path(), "cobol/x", None, "docs/guides/targets.md");
    refused(root.path(), "go/x", Some("go/oen"), "did you mean `go/one`?");
    refused(root.path(), "node/x", Some("go/one"), "is no target in node");
    assert!(!root.path().join("targets/cobol").exists() && !root.path().join("targets/node").exists());
}
