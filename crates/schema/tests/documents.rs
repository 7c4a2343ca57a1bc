//! `docs/schemas` holds what the types generate. Only this test generates: a user's binary has the files, packed by
//! `assets`. `make schemas` sets `PRONY_WRITE_DOCS`, and the files are written instead of compared.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

#[test]
fn generated_schemas_are_fresh() {
    let mut names = BTreeSet::new();
    for (name, generated) in schema::json_schemas() {
        let name = format!("{name}.schema.json");
        let (path, text) = (folder().join(&name), schema::json::pretty(&generated).unwrap());
        if std::env::var_os("PRONY_WRITE_DOCS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == text, "docs/schemas/{name} is stale: run `make schemas`");
        names.insert(name);
    }
    let stored: BTreeSet<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(stored, names, "docs/schemas holds a schema that no type generates");
}
