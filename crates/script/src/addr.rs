//! Addresses as scripts hold them, and `wrk.lookup` and `wrk.connect`.
//!
//! Unlike in wrk a connection attempt has an end, and a name that does not resolve is an error that the script can
//! catch.

use crate::copy::kind;
use mlua::{Error, Lua, MetaMethod, Result, Table, UserData, UserDataMethods, Value};
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// One address of a host and service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addr(pub(crate) SocketAddr);

impl UserData for Addr {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::ToString, |_, addr, ()| Ok(text(addr.0)));
    }
}

/// `host:service` without brackets, as wrk writes it.
fn text(address: SocketAddr) -> String {
    match address {
        SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{}%{}:{}", v6.ip(), v6.scope_id(), v6.port()),
        _ => format!("{}:{}", address.ip(), address.port()),
    }
}

/// `wrk.lookup(host, service)`: all addresses, in the order of the system's resolver.
pub(crate) fn lookup(lua: &Lua, (host, service): (Value, Value)) -> Result<Table> {
    let host = string(lua, host)?.unwrap_or_else(|| "localhost".to_owned());
    let service = string(lua, service)?.unwrap_or_else(|| "0".to_owned());
    let failed = |cause: String| Error::runtime(format!("unable to resolve {host}:{service} {cause}"));
    let port = port(&service).ok_or_else(|| failed("service not known; name a port".to_owned()))?;
    let found = (host.as_str(), port).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    lua.create_sequence_from(found.map(Addr))
}

/// `wrk.connect(addr)`: whether the address accepts a connection.
pub(crate) fn connect(_: &Lua, value: Value) -> Result<bool> {
    Ok(accepts(TcpStream::connect_timeout(&expect(&value)?, CONNECT_TIMEOUT)))
}

/// A connection that the target resets as soon as it has it was accepted, as wrk's blocking `connect` finds it. Only one
/// that is waited for can show the reset: before the handshake the system reports `ECONNREFUSED` instead.
fn accepts<T>(attempt: io::Result<T>) -> bool {
    attempt.map_or_else(|error| error.kind() == io::ErrorKind::ConnectionReset, |_| true)
}

/// The address in `value`.
pub(crate) fn expect(value: &Value) -> Result<SocketAddr> {
    let addr = value.as_userdata().and_then(|data| data.borrow::<Addr>().ok());
    addr.map(|addr| addr.0).ok_or_else(|| {
        let got = kind(value);
        Error::runtime(format!("an address is expected, got {got}; use one that wrk.lookup() returned"))
    })
}

fn string(lua: &Lua, value: Value) -> Result<Option<String>> {
    Ok(lua.coerce_string(value)?.map(|text| text.to_string_lossy()))
}

/// A number, or a name that the system's table of services knows.
fn port(service: &str) -> Option<u16> {
    service.parse().ok().or_else(|| match service {
        "http" => Some(80),
        "https" => Some(443),
        _ => named(&std::fs::read_to_string("/etc/services").ok()?, service),
    })
}

/// Looks `service` up in the text of `/etc/services`: `name port/tcp alias…`.
fn named(services: &str, service: &str) -> Option<u16> {
    services.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let name = words.next()?;
        let port = words.next()?.strip_suffix("/tcp")?;
        (name == service || words.any(|alias| alias == service)).then(|| port.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_reset_at_once_was_accepted() {
        let failed = |number| Err::<(), _>(io::Error::from_raw_os_error(number));
        let errno = |error: rustix::io::Errno| error.raw_os_error();
        assert!(accepts(Ok(())) && accepts(failed(errno(rustix::io::Errno::CONNRESET))));
        assert!(!accepts(failed(errno(rustix::io::Errno::CONNREFUSED))));
        assert!(!accepts::<()>(Err(io::ErrorKind::TimedOut.into())));
    }

    /// As the hostile server's "reset once accepted" does it; the attempt failed now and then before.
    #[test]
    fn a_server_that_resets_what_it_accepts_is_there() {
        const ATTEMPTS: usize = 300;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            for _ in 0..ATTEMPTS {
                let (stream, _) = listener.accept().unwrap();
                rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
            }
        });
        let attempt = |_: &usize| accepts(TcpStream::connect_timeout(&address, CONNECT_TIMEOUT));
        assert_eq!((0..ATTEMPTS).filter(attempt).count(), ATTEMPTS);
        server.join().unwrap();
    }

    #[test]
    fn services() {
        let table = "# x\nssh 22/udp\nssh 22/tcp\nhttp-alt\t8080/tcp webcache\t# y\n";
        for (name, expected) in [("ssh", Some(22)), ("webcache", Some(8080)), ("y", None), ("gopher", None)] {
            assert_eq!(named(table, name), expected, "{name}");
        }
        assert_eq!((port("http"), port("8081"), port("65536")), (Some(80), Some(8081), None));
    }

    #[test]
    fn texts() {
        for (address, expected) in
            [("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:80", "::1:80"), ("[fe80::1%2]:80", "fe80::1%2:80")]
        {
            assert_eq!(text(address.parse().unwrap()), expected);
        }
    }
}
