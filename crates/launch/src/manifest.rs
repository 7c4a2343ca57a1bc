//! Reading `target.toml` and holding it to its rules; the error names file, line, cause and remedy.

use crate::contract::route;
use crate::{TargetError, manifest_parts};
use schema::target::{Metrics, Ready, TargetManifest};
use schema::text::{FileError, Problem, parse_toml};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The manifest's name in its folder.
pub const FILE_NAME: &str = "target.toml";
/// A longer manifest is refused unread.
const MANIFEST_BYTES: u64 = 256 * 1024;

/// Reads the manifest in `folder`; the second value is that folder as an absolute path without symbolic links.
///
/// # Errors
/// The file cannot be read, is no valid TOML, has unknown keys, or breaks a rule: `name` equals the end of the
/// folder's path, commands are not empty, `{port}` occurs in `run`, `{build}` needs a `[build]`.
pub fn load(folder: &Path) -> Result<(TargetManifest, PathBuf), TargetError> {
    let file = folder.join(FILE_NAME);
    let text = read(&file).map_err(|error| TargetError::io(format!("read {}", file.display()), error))?;
    let folder = folder
        .canonicalize()
        .map_err(|error| TargetError::io(format!("resolve {}", folder.display()), error))?;
    let manifest = parse(&file.display().to_string(), &text, &folder).map_err(Box::new)?;
    Ok((manifest, folder))
}

pub(crate) fn read(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(MANIFEST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MANIFEST_BYTES {
        return Err(std::io::Error::other(format!("a manifest has at most {MANIFEST_BYTES} bytes")));
    }
    Ok(text)
}

fn parse(file: &str, text: &str, folder: &Path) -> Result<TargetManifest, FileError> {
    let manifest: TargetManifest = parse_toml(file, text)?;
    match problem(&manifest, folder) {
        Some(problem) => Err(problem.locate(file, text)),
        None => Ok(manifest),
    }
}

/// The first rule that the manifest breaks.
fn problem(manifest: &TargetManifest, folder: &Path) -> Option<Problem> {
    name_problem(manifest, folder)
        .or_else(|| route::unknown(&manifest.provides, &manifest.name, folder))
        .or_else(|| command_problem(manifest))
        .or_else(|| manifest_parts::problem(manifest))
        .or_else(|| rest_problem(manifest))
}

fn name_problem(manifest: &TargetManifest, folder: &Path) -> Option<Problem> {
    let name = manifest.name.as_str();
    let plain = !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !plain {
        return Some(Problem::at(
            "name",
            format!("`{name}` is not a target's name"),
            "write <language>/<name>, as the folder under targets/",
        ));
    }
    (!folder.ends_with(name)).then(|| {
        Problem::at(
            "name",
            format!("`{name}` is not the folder it stands in, {}", folder.display()),
            "give name and folder the same text",
        )
    })
}

fn command_problem(manifest: &TargetManifest) -> Option<Problem> {
    let empty = |command: &[String]| command.first().is_none_or(String::is_empty);
    let run = &manifest.run;
    let run_texts = || run.command.iter().chain(run.env.values());
    if empty(&run.command) {
        return Some(Problem::at(
            "run.command",
            "the command is empty",
            "give the program and its arguments",
        ));
    }
    if !run_texts().any(|text| text.contains("{port}")) {
        return Some(Problem::at(
            "run.command",
            "neither the command nor env has {port}",
            "prony chooses the port; put {port} into run.command or run.env",
        ));
    }
    match &manifest.build {
        Some(build) if empty(&build.command) => {
            Some(Problem::at("build.command", "the command is empty", "give the program and its arguments"))
        }
        None if run_texts().any(|text| text.contains("{build}")) => Some(Problem::at(
            "run.command",
            "{build} is used, but nothing is built",
            "add a [build] table, or name the program itself",
        )),
        _ => None,
    }
}

fn rest_problem(manifest: &TargetManifest) -> Option<Problem> {
    ready_problem("ready", &manifest.ready).or_else(|| metrics_problem("metrics", &manifest.metrics))
}

/// What is wrong with `[ready]`, of a manifest or of an experiment; `key` is where it stands.
#[must_use]
pub fn ready_problem(key: &str, ready: &Ready) -> Option<Problem> {
    if ready.grpc && ready.path.is_some() {
        let cause = "a server of gRPC is ready by grpc.health.v1, not by a path";
        return Some(Problem::at(&format!("{key}.path"), cause, "keep one of path, grpc"));
    }
    if ready.grpc && ready.http.is_some() {
        let cause = "a server of gRPC is asked over HTTP/2 by itself";
        return Some(Problem::at(&format!("{key}.http"), cause, "leave it out"));
    }
    path_problem(&format!("{key}.path"), ready.path.as_deref())
}

fn path_problem(key: &str, path: Option<&str>) -> Option<Problem> {
    let path = path?;
    (!path.starts_with('/') || path.contains(|c: char| c.is_whitespace() || c.is_control())).then(|| {
        let cause = format!("`{}` is not a path", path.escape_debug());
        Problem::at(key, cause, "begin it with `/`, without spaces")
    })
}

/// What is wrong with `[metrics]`, of a manifest or of an experiment; `key` is where it stands.
#[must_use]
pub fn metrics_problem(key: &str, metrics: &Metrics) -> Option<Problem> {
    let within = |name: &str| format!("{key}.{name}");
    let paths = [
        ("go_runtime", &metrics.go_runtime),
        ("go_expvar", &metrics.go_expvar),
        ("go_pprof", &metrics.go_pprof),
        ("node", &metrics.node),
        ("php_fpm", &metrics.php_fpm),
        ("php_opcache", &metrics.php_opcache),
        ("php_runtime", &metrics.php_runtime),
        ("swoole", &metrics.swoole),
        ("nginx", &metrics.nginx),
    ];
    paths
        .into_iter()
        .find_map(|(name, path)| path_problem(&within(name), path.as_deref()))
        .or_else(|| path_problem(&within("requests.path"), metrics.requests.as_ref().map(|at| &*at.path)))
        .or_else(|| path_problem(&within("jolokia.path"), metrics.jolokia.as_ref().map(|at| &*at.path)))
        .or_else(|| path_problem(&within("prometheus.path"), metrics.prometheus.as_ref().map(|at| &*at.path)))
        .or_else(|| {
            let paths = metrics.exporters.iter().enumerate();
            let key = |at: usize| within(&format!("exporters.{at}.path"));
            paths.into_iter().find_map(|(at, exporter)| path_problem(&key(at), Some(&*exporter.path)))
        })
        .or_else(|| {
            let pointer = &metrics.requests.as_ref()?.pointer;
            (!pointer.starts_with('/')).then(|| {
                let cause = format!("`{}` is not a JSON pointer", pointer.escape_debug());
                Problem::at(&within("requests.pointer"), cause, "begin it with `/`, as in `/requests`")
            })
        })
        .or_else(|| {
            let at = metrics.prometheus.as_ref()?;
            (!at.counts() && at.patterns.is_empty()).then(|| {
                let remedy =
                    "name a counter, for example counter = \"http_requests_total\", a histogram, or patterns";
                Problem::at(&within("prometheus"), "it names nothing that could be read", remedy)
            })
        })
        .or_else(|| {
            let patterns = &metrics.prometheus.as_ref()?.patterns;
            let at = patterns.iter().position(|pattern| !is_family_pattern(pattern))?;
            let cause = format!("`{}` fits no name of a family", patterns[at].escape_debug());
            let remedy = "use letters, digits, `_`, `:` and `*` for any text, as in \"http_*\"";
            Some(Problem::at(&within(&format!("prometheus.patterns.{at}")), cause, remedy))
        })
}

fn is_family_pattern(pattern: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '*');
    !pattern.is_empty() && pattern.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::manifest::GO_GIN as GOOD;

    fn check(text: &str, expected: &str) {
        let error = parse("target.toml", text, Path::new("/x/targets/go/gin")).expect_err(text);
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_good_manifest_is_read() {
        let manifest = parse("target.toml", GOOD, Path::new("/x/targets/go/gin")).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.ready.path.as_deref()), ("go/gin", Some("/health")));
    }

    #[test]
    fn faults_come_with_line_cause_and_remedy() {
        check(
            &GOOD.replace("path =", "pth ="),
            "target.toml:11:1: unknown key `pth`\n  remedy: did you mean `path`?",
        );
        check(
            &GOOD.replace("target/1", "target/2"),
            "target.toml:1:10: unknown value `prony.target/2`\n  remedy: did you mean `prony.target/1`?",
        );
        check(
            &GOOD.replace("\"go/gin\"", "\"go/echo\""),
            "target.toml:2:1: `go/echo` is not the folder it stands in, /x/targets/go/gin (key `name`)\n  \
             remedy: give name and folder the same text",
        );
        check(
            &GOOD.replace("{port}", "80"),
            "target.toml:8:1: neither the command nor env has {port} (key `run.command`)\n  \
             remedy: prony chooses the port; put {port} into run.command or run.env",
        );
        check(
            &GOOD.replace("[build]\ncommand = [\"go\", \"build\"]\n", ""),
            "target.toml:6:1: {build} is used, but nothing is built (key `run.command`)\n  \
             remedy: add a [build] table, or name the program itself",
        );
        check(
            &GOOD.replace("path = \"/health\"", "grpc = true\npath = \"/health\""),
            "target.toml:12:1: a server of gRPC is ready by grpc.health.v1, not by a path (key `ready.path`)\n  \
             remedy: keep one of path, grpc",
        );
        check(
            &GOOD.replace("path = \"/health\"", "grpc = true\nhttp = \"2\""),
            "target.toml:12:1: a server of gRPC is asked over HTTP/2 by itself (key `ready.http`)\n  \
             remedy: leave it out",
        );
        check(
            &GOOD.replace("/health", "health"),
            "target.toml:11:1: `health` is not a path (key `ready.path`)\n  \
             remedy: begin it with `/`, without spaces",
        );
        check(
            &GOOD.replace("[\"{build}/server\"]", "[]"),
            "target.toml:8:1: the command is empty (key `run.command`)\n  \
             remedy: give the program and its arguments",
        );
    }

    #[test]
    fn metrics_have_paths_and_patterns_that_fit() {
        let metrics = |text: &str| toml_metrics(text).map(|problem| problem.to_string()).unwrap_or_default();
        assert_eq!(metrics("node = \"/debug/runtime\"\njvm = true\nphp_fpm = \"/debug/fpm?json\""), "");
        for key in ["go_runtime", "node", "php_fpm", "php_opcache", "php_runtime", "swoole", "nginx"] {
            let problem = metrics(&format!("{key} = \"debug\""));
            assert!(problem.contains(&format!("metrics.{key}")), "{key}: {problem}");
        }
        assert_eq!(metrics("prometheus = { path = \"/m\", patterns = [\"http_*\", \"up\"] }"), "");
        let problem = metrics("prometheus = { path = \"/m\", patterns = [\"up\", \"http_.+\"] }");
        assert!(problem.contains("prometheus.patterns.1"), "{problem}");
        assert!(metrics("prometheus = { path = \"/m\" }").contains("nothing that could be read"));
    }

    /// The first problem of a `[metrics]`, as a manifest would show it.
    fn toml_metrics(text: &str) -> Option<FileError> {
        parse("t", &format!("{GOOD}[metrics]\n{text}\n"), Path::new("/x/targets/go/gin")).err()
    }

    #[test]
    fn every_target_in_the_repository_loads() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for entry in crate::catalog(&root) {
            if let Err(error) = entry.manifest {
                panic!("{}: {error}", entry.name);
            }
        }
    }
}
