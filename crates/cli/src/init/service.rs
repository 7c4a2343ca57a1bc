//! What the user calls a service: a URL, a folder under `targets/`, or a command.

use anyhow::{Result, anyhow, bail};
use plan::net::HttpUrl;
use std::path::Path;

/// A service under test.
#[derive(Clone, Debug)]
pub(super) enum Service {
    /// It runs already.
    Url(HttpUrl),
    /// A folder under `targets/`.
    Folder(String),
    /// A program and its arguments.
    Command(Vec<String>),
}

impl Service {
    /// Reads what the user typed; `project` is where `targets/` is looked for.
    pub(super) fn parse(text: &str, project: &Path) -> Result<Self> {
        let text = text.trim();
        if looks_like_url(text) {
            return Ok(Self::Url(HttpUrl::parse(text)?));
        }
        if project.join("targets").join(text).join("target.toml").is_file() {
            return Ok(Self::Folder(text.to_owned()));
        }
        let words = shlex::split(text)
            .ok_or_else(|| anyhow!("the quotes of the command {text:?} do not match; close them"))?;
        let Some(program) = words.first() else {
            bail!("a service has no name; give a URL, a folder under targets/, or a command in quotes");
        };
        if !is_program(program) {
            bail!(
                "{program} is no URL, no folder under {} and no program on PATH; give for example \
                 http://127.0.0.1:8080, go/gin, or './server --port {{port}}'",
                project.join("targets").display()
            );
        }
        Ok(Self::Command(words))
    }

    /// The words that tell it from another of its kind, the likeliest first.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Self::Url(url) => vec![url.authority(), url.origin()],
            Self::Folder(name) => vec![name.clone()],
            Self::Command(words) => words.iter().map(|word| file_name(word)).collect(),
        }
    }

    /// The path of a URL that names more than a host.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::Url(url) => Some(url.path.as_str()).filter(|path| *path != "/"),
            Self::Folder(_) | Self::Command(_) => None,
        }
    }
}

/// A scheme, or `HOST:PORT` with or without a path.
fn looks_like_url(text: &str) -> bool {
    let port = |rest: &str| rest.split('/').next().is_some_and(|port| port.parse::<u16>().is_ok());
    let is_one_word = !text.contains(char::is_whitespace);
    is_one_word && (text.contains("://") || text.rsplit_once(':').is_some_and(|(_, rest)| port(rest)))
}

fn file_name(word: &str) -> String {
    Path::new(word).file_name().map_or_else(|| word.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Whether a shell would find it; a path is looked for where prony runs.
fn is_program(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// A name for each: the first words by which they differ, or numbers where none do.
pub(super) fn names(services: &[Service]) -> Vec<String> {
    let words: Vec<Vec<String>> = services.iter().map(Service::words).collect();
    let longest = words.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..longest {
        let names: Vec<&String> =
            words.iter().filter_map(|words| words.get(at).or_else(|| words.first())).collect();
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        if sorted.len() == services.len() {
            return names.into_iter().cloned().collect();
        }
    }
    let numbered = |(at, words): (usize, &Vec<String>)| format!("{} {}", words[0], at + 1);
    words.iter().enumerate().map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Service> {
        Service::parse(text, Path::new("/nowhere"))
    }

    #[test]
    fn urls_commands_and_mistakes() {
        for url in ["http://127.0.0.1:8080/api", "127.0.0.1:8080", "https://a.test", "[::1]:80/x", "::1:80"] {
            assert!(!matches!(parse(url), Ok(Service::Command(_))), "{url}");
        }
        assert_eq!(parse("http://127.0.0.1:8080/api").unwrap().path(), Some("/api"));
        assert_eq!(parse("127.0.0.1:8080").unwrap().path(), None);
        let command = parse("sh -c 'exec x --port {port}'").unwrap();
        assert_eq!(command.words(), ["sh", "-c", "exec x --port {port}"]);
        for (text, cause) in [
            ("sh -c 'open", "do not match"),
            ("", "has no name"),
            ("no-such-program-here x", "no program on PATH"),
            ("./nothing-here", "no program on PATH"),
            ("ftp://a.test", "ftp"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(cause), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_the_first_words_that_differ() {
        let of = |texts: &[&str]| names(&texts.iter().map(|text| parse(text).unwrap()).collect::<Vec<_>>());
        assert_eq!(of(&["127.0.0.1:1", "127.0.0.1:2"]), ["127.0.0.1:1", "127.0.0.1:2"]);
        assert_eq!(of(&["http://127.0.0.1:8080", "sh x"]), ["127.0.0.1:8080", "sh"]);
        assert_eq!(of(&["sh a/one.sh -p {port}", "sh a/two.sh -p {port}"]), ["one.sh", "two.sh"]);
        assert_eq!(of(&["sh x", "sh x"]), ["sh 1", "sh 2"]);
    }
}
