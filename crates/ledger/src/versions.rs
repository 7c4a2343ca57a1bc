//! Which versions stand beside the published ones: those of a run whose names the published text has.

use std::collections::{BTreeMap, BTreeSet};

/// What is published, such as `PHP 8.2.12, Go 1.22.6`, held against a run's versions: `go 1.26.4, php 8.2.36`. Empty where
/// the run has none of the names. A run names its versions `TARGET: PROGRAM` or `TARGET: PATH OF A MODULE`.
pub(crate) fn like(published: &str, here: &BTreeMap<String, String>) -> String {
    let wanted: Vec<String> = words(published).collect();
    let found: BTreeSet<String> = here
        .iter()
        .map(|(key, text)| (name(key), text))
        .filter(|(name, _)| wanted.contains(name))
        .filter_map(|(name, text)| Some(format!("{name} {}", number(text)?)))
        .collect();
    found.into_iter().collect::<Vec<_>>().join(", ")
}

/// The words of a text that are names, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).map(str::to_lowercase)
}

/// What a run's key is about: `gin` of `slow gin: github.com/gin-gonic/gin`, `go` of `slow gin: go runtime`, `echo` of
/// `github.com/labstack/echo/v4`, `swoole` of `a: PHP extension swoole`.
fn name(key: &str) -> String {
    let own = key.rsplit(": ").next().unwrap_or(key);
    let is_major = |part: &&str| part.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
    let last = own.rsplit('/').find(|part| !is_major(part)).unwrap_or(own);
    let last = last.strip_prefix("PHP extension ").unwrap_or(last);
    last.split_whitespace().next().unwrap_or(last).to_lowercase()
}

/// The first number with a dot, without what is around it: of `go version go1.26.4 linux/amd64` it is `1.26.4`.
fn number(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|part| part.trim_matches('.'))
        .find(|part| part.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_of_what_was_published_are_found_by_name() {
        let here = BTreeMap::from(
            [
                ("kernel", "Linux 6.1.0"),
                ("gin: go", "go version go1.26.4 linux/amd64"),
                ("gin: go runtime", "go1.26.4"),
                ("gin: github.com/gin-gonic/gin", "v1.12.0"),
                ("gin: github.com/goccy/go-json", "v0.10.5"),
                ("echo: github.com/labstack/echo/v4", "v4.15.1"),
                ("mariadb: mariadbd", "mariadbd  Ver 10.11.6-MariaDB"),
                ("swoole: PHP extension swoole", "6.2.2"),
                ("swoole: php", "PHP 8.2.36 (cli)"),
            ]
            .map(|(name, text)| (name.to_owned(), text.to_owned())),
        );
        assert_eq!(like("Go 1.22, Gin 1.9.1, Echo 4.10.0", &here), "echo 4.15.1, gin 1.12.0, go 1.26.4");
        assert_eq!(like("mariadbd 10.5", &here), "mariadbd 10.11.6");
        assert_eq!(like("PHP 8.2.12, Swoole 5.1.5", &here), "php 8.2.36, swoole 6.2.2");
        assert_eq!(like("PHP-FPM 7.4 with OPcache", &here), "php 8.2.36");
        assert_eq!(number("version 8"), None);
    }
}
