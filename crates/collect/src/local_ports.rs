//! The range of local ports that a connection may leave from (`/proc/sys/net/ipv4/ip_local_port_range`).

use crate::error::ParseError;
use crate::text;

/// The size of the range in `ip_local_port_range`: its first and its last port.
///
/// # Errors
/// Where they are not two ports in order.
pub fn parse_ports(bytes: &[u8]) -> Result<u32, ParseError> {
    let mut words = text::utf8(bytes)?.split_ascii_whitespace();
    let mut port = || text::number::<u16>("port", words.next().ok_or(ParseError::Missing("a port"))?);
    let (first, last) = (port()?, port()?);
    let size = u32::from(last).checked_sub(first.into()).ok_or(ParseError::Missing("a range of ports"))?;
    Ok(size + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_two_ports_in_order() {
        assert_eq!(parse_ports(b"32768\t60999\n"), Ok(28_232));
        assert_eq!(parse_ports(b"0 65535"), Ok(65_536));
        for hostile in [&b""[..], b"1", b"2 1", b"1 65536", b"x 2", b"\xff"] {
            assert!(parse_ports(hostile).is_err(), "{hostile:?}");
        }
    }
}
