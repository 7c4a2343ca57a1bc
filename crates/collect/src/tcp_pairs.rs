//! The format of `/proc/net/netstat` and `/proc/net/snmp`: per section one line of names and one of values.
//!
//! Invariant: all pairs of the section are parsed; a source publishes the selection named in its own header, and what
//! an older kernel does not have is absent.

use crate::error::ParseError;
use crate::text;
use std::collections::BTreeMap;

/// All pairs of the section that begins with `Section:`. Negative values (a limit that is off) are left out.
pub(crate) fn section<'a>(bytes: &'a [u8], name: &'static str) -> Result<BTreeMap<&'a str, u64>, ParseError> {
    let mut lines = text::utf8(bytes)?.lines().filter_map(|line| {
        let (section, rest) = line.split_once(':')?;
        (section == name).then(|| rest.split_ascii_whitespace())
    });
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return Err(ParseError::Missing(name));
    };
    let (names, values): (Vec<_>, Vec<_>) = (names.collect(), values.collect());
    if names.len() != values.len() {
        return Err(ParseError::Uneven { section: name.into(), names: names.len(), values: values.len() });
    }
    names
        .into_iter()
        .zip(values)
        .filter(|(_, value)| !value.starts_with('-'))
        .map(|(key, value)| Ok((key, text::number(name, value)?)))
        .collect()
}

/// The selected pairs that are there.
pub(crate) fn select(
    pairs: &BTreeMap<&str, u64>,
    selection: &[&'static str],
) -> impl Iterator<Item = (&'static str, u64)> {
    selection.iter().filter_map(|name| Some((*name, *pairs.get(name)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_belong_together_or_nothing_is_read() {
        let pairs = section(b"Ip: A\nIp: 9\nTcp: A B C\nTcp: 1 -1 3\n", "Tcp").unwrap();
        assert_eq!(pairs, BTreeMap::from([("A", 1), ("C", 3)]));
        let uneven = section(b"Tcp: A B\nTcp: 1\n", "Tcp").unwrap_err();
        assert_eq!(uneven, ParseError::Uneven { section: "Tcp".into(), names: 2, values: 1 });
        assert_eq!(section(b"Tcp: A\n", "Tcp").unwrap_err(), ParseError::Missing("Tcp"));
        assert!(section(b"Tcp: A\nTcp: one\n", "Tcp").is_err());
    }
}
