//! Small targets inside the binary, one a language, each with the routes that every target has.

/// The short name of a sample.
pub(super) const NAME: &str = "example";
/// Languages that have a sample.
pub(super) const LANGUAGES: [&str; 2] = ["go", "node"];

/// Path and text of each file.
type Files = &'static [(&'static str, &'static str)];

const GO: Files = &[
    ("go.mod", include_str!("go/go.mod")),
    ("main.go", include_str!("go/main.go")),
    ("target.toml", include_str!("go/target.toml")),
    ("README.md", include_str!("go/README.md")),
];

const NODE: Files = &[
    ("package.json", include_str!("node/package.json")),
    ("server.js", include_str!("node/server.js")),
    ("target.toml", include_str!("node/target.toml")),
    ("README.md", include_str!("node/README.md")),
];

/// The files of the sample in a language.
pub(super) fn of(language: &str) -> Option<Files> {
    match language {
        "go" => Some(GO),
        "node" => Some(NODE),
        _ => None,
    }
}
