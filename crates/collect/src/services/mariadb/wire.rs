//! What of MySQL's protocol a query needs: packets, the greeting, the login, rows as text.
//!
//! Invariants: packets, columns, rows and rounds of a login are bounded; whatever a peer sends is an error and never a
//! panic; no text made here holds a password. A connection is of no more use after [`QueryError::Broken`].
//! Absent on purpose: TLS (`services`), prepared statements, compression, and packets of 16 MiB and more.

use super::login::{self, Plugin};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Status has about 60 KiB in all; a row of it far less.
const PACKET_BYTES_MAX: usize = 1 << 20;
const COLUMNS_MAX: u64 = 64;
const ROWS_MAX: usize = 10_000;
/// Answers of a server to one login.
const ROUNDS_MAX: usize = 8;

const LONG_PASSWORD: u32 = 1;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;
const UTF8MB4_GENERAL_CI: u8 = 45;
const QUERY: u8 = 3;

const OK: u8 = 0;
const MORE: u8 = 1;
const NULL: u8 = 0xfb;
/// The end of columns and rows; within a login another way to log in.
const END: u8 = 0xfe;
const ERROR: u8 = 0xff;

/// Values of one row as text; NULL is none.
pub(super) type Row = Vec<Option<String>>;

/// Why there are no rows.
#[derive(Debug)]
pub(super) enum QueryError {
    /// The server carried it out with this error; the connection can go on.
    Refused(String),
    /// The connection is of no more use.
    Broken(String),
}

impl QueryError {
    pub(super) fn text(self) -> String {
        match self {
            Self::Refused(text) | Self::Broken(text) => text,
        }
    }
}

pub(in super::super) struct Wire {
    stream: TcpStream,
    /// Of the next packet of this exchange.
    sequence: u8,
}

impl Wire {
    pub(super) fn connect(addr: SocketAddr, limit: Duration) -> Result<Self, String> {
        let open = || {
            let stream = TcpStream::connect_timeout(&addr, limit)?;
            stream.set_read_timeout(Some(limit))?;
            stream.set_write_timeout(Some(limit))?;
            stream.set_nodelay(true)?;
            Ok(Self { stream, sequence: 0 })
        };
        open().map_err(|error: std::io::Error| format!("it cannot be reached: {error}"))
    }

    /// Answers the greeting of the server until it lets in or refuses.
    pub(super) fn log_in(&mut self, user: &str, password: &str) -> Result<(), String> {
        let greeting = Greeting::parse(&self.packet()?)?;
        let (mut plugin, mut nonce) = (greeting.plugin, greeting.nonce);
        let answer = login::answer(plugin, &nonce, password);
        self.send(&response(greeting.capabilities, user, &answer, plugin))?;
        for _ in 0..ROUNDS_MAX {
            let packet = self.packet()?;
            match packet.split_first() {
                Some((&OK, _)) => return Ok(()),
                Some((&ERROR, rest)) => return Err(refusal(rest)),
                Some((&END, rest)) => {
                    (plugin, nonce) = other_way(rest)?;
                    self.send(&login::answer(plugin, &nonce, password))?;
                }
                Some((&MORE, rest)) => self.continue_login(rest, &nonce, password)?,
                _ => return Err("its answer to the login is not understood".to_owned()),
            }
        }
        Err("its login does not end".to_owned())
    }

    /// `caching_sha2_password`: a password that the server knows already is enough as a hash; else it wants all of it,
    /// encrypted with its key.
    fn continue_login(&mut self, state: &[u8], nonce: &[u8], password: &str) -> Result<(), String> {
        match state {
            login::KNOWN => Ok(()),
            login::WANTS_ALL => {
                self.send(login::ASK_FOR_KEY)?;
                let packet = self.packet()?;
                match packet.split_first() {
                    Some((&MORE, key)) => self.send(&login::encrypted(password, nonce, key)?),
                    Some((&ERROR, rest)) => Err(refusal(rest)),
                    _ => Err("it gave no key to log in with".to_owned()),
                }
            }
            _ => Err("its answer to the login is not understood".to_owned()),
        }
    }

    /// The rows of a query.
    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Row>, QueryError> {
        self.sequence = 0;
        self.send(&[&[QUERY], sql.as_bytes()].concat()).map_err(QueryError::Broken)?;
        let first = self.answer()?;
        if first.first() == Some(&OK) {
            return Ok(Vec::new());
        }
        let columns = Cursor(&first).count().filter(|columns| (1..=COLUMNS_MAX).contains(columns));
        let columns = columns.ok_or_else(|| QueryError::Broken("its answer is not understood".to_owned()))?;
        // What columns are called and the end of that list: the query knows its columns.
        for _ in 0..=columns {
            self.answer()?;
        }
        let mut rows = Vec::new();
        loop {
            let packet = self.answer()?;
            if is_end(&packet) {
                return Ok(rows);
            }
            let row = row(&packet, columns);
            rows.push(row.ok_or_else(|| QueryError::Broken("a row is not understood".to_owned()))?);
            if rows.len() > ROWS_MAX {
                return Err(QueryError::Broken(format!("it gave more than {ROWS_MAX} rows")));
            }
        }
    }

    fn answer(&mut self) -> Result<Vec<u8>, QueryError> {
        let packet = self.packet().map_err(QueryError::Broken)?;
        match packet.split_first() {
            Some((&ERROR, rest)) => Err(QueryError::Refused(refusal(rest))),
            _ => Ok(packet),
        }
    }

    fn packet(&mut self) -> Result<Vec<u8>, String> {
        let broken = |error: std::io::Error| format!("the connection broke: {error}");
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).map_err(broken)?;
        let [low, middle, high, sequence] = head;
        let bytes = u32::from_le_bytes([low, middle, high, 0]) as usize;
        if bytes > PACKET_BYTES_MAX {
            return Err(format!("it sent a packet of {bytes} bytes, which is no answer of a MySQL server"));
        }
        let mut packet = vec![0; bytes];
        self.stream.read_exact(&mut packet).map_err(broken)?;
        self.sequence = sequence.wrapping_add(1);
        Ok(packet)
    }

    fn send(&mut self, payload: &[u8]) -> Result<(), String> {
        let bytes = u32::try_from(payload.len()).ok().filter(|bytes| *bytes < 1 << 24);
        let [low, middle, high, _] = bytes.ok_or("a packet is too long")?.to_le_bytes();
        let packet = [&[low, middle, high, self.sequence], payload].concat();
        self.stream.write_all(&packet).map_err(|error| format!("the connection broke: {error}"))?;
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }
}

struct Greeting {
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: Plugin,
}

impl Greeting {
    fn parse(packet: &[u8]) -> Result<Self, String> {
        match packet.split_first() {
            Some((&ERROR, rest)) => Err(refusal(rest)),
            Some((10, rest)) => Self::fields(rest).ok_or("its greeting is cut off".to_owned())?,
            _ => Err("it does not greet as a MySQL server does".to_owned()),
        }
    }

    fn fields(rest: &[u8]) -> Option<Result<Self, String>> {
        let mut cursor = Cursor(rest);
        cursor.text()?; // version
        cursor.take(4)?; // its number of this connection
        let mut nonce = cursor.take(8)?.to_vec();
        cursor.take(1)?;
        let low = cursor.number(2)?;
        cursor.take(3)?; // character set, status
        let capabilities = low | cursor.number(2)? << 16;
        cursor.take(11)?; // length of the nonce, reserved
        if capabilities & (PROTOCOL_41 | SECURE_CONNECTION) != PROTOCOL_41 | SECURE_CONNECTION {
            return Some(Err("it is older than MySQL 4.1".to_owned()));
        }
        nonce.extend_from_slice(cursor.take(12)?);
        // Another plugin than the two is asked for once the account is known.
        let name = cursor.take(1).and_then(|_| cursor.text()).unwrap_or_default();
        let plugin = Plugin::named(name).unwrap_or(Plugin::Native);
        Some(Ok(Self { capabilities, nonce, plugin }))
    }
}

/// The answer to a greeting.
fn response(server: u32, user: &str, answer: &[u8], plugin: Plugin) -> Vec<u8> {
    let own = LONG_PASSWORD | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH;
    let capabilities = own & server;
    let mut packet = capabilities.to_le_bytes().to_vec();
    packet.extend((PACKET_BYTES_MAX as u32).to_le_bytes());
    packet.push(UTF8MB4_GENERAL_CI);
    packet.extend([0; 23]);
    packet.extend(user.bytes().filter(|byte| *byte != 0).chain([0]));
    // A hash, which has 32 bytes at most.
    packet.push(answer.len() as u8);
    packet.extend(answer);
    if capabilities & PLUGIN_AUTH != 0 {
        packet.extend(plugin.name().bytes().chain([0]));
    }
    packet
}

/// The plugin that the account wants, and the nonce for it.
fn other_way(rest: &[u8]) -> Result<(Plugin, Vec<u8>), String> {
    let mut cursor = Cursor(rest);
    let name = cursor.text().unwrap_or_default();
    let plugin = Plugin::named(name).ok_or_else(|| {
        let name: String = String::from_utf8_lossy(name).chars().take(40).collect();
        format!(
            "the account logs in by `{name}`; prony can by mysql_native_password and caching_sha2_password"
        )
    })?;
    Ok((plugin, cursor.0.strip_suffix(&[0]).unwrap_or(cursor.0).to_vec()))
}

/// Code, state and message of a server.
fn refusal(rest: &[u8]) -> String {
    let (code, text) = rest.split_at(rest.len().min(2));
    let code = code.iter().rev().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    let text =
        String::from_utf8_lossy(text.strip_prefix(b"#").and_then(|text| text.get(5..)).unwrap_or(text));
    format!("error {code}: {text}")
}

/// A row may begin with the same byte, but then has more.
fn is_end(packet: &[u8]) -> bool {
    packet.first() == Some(&END) && packet.len() < 9
}

fn row(packet: &[u8], columns: u64) -> Option<Row> {
    let mut cursor = Cursor(packet);
    (0..columns).map(|_| cursor.value()).collect()
}

/// What is left of a packet.
struct Cursor<'p>(&'p [u8]);

impl<'p> Cursor<'p> {
    fn take(&mut self, bytes: usize) -> Option<&'p [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// Of up to four bytes, the lowest first.
    fn number(&mut self, bytes: usize) -> Option<u32> {
        Some(self.take(bytes)?.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    }

    /// Up to a zero, which older servers leave out at the end.
    fn text(&mut self) -> Option<&'p [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let text = self.take(end)?;
        self.take(1.min(self.0.len()))?;
        Some(text)
    }

    /// A number that says its own length.
    fn count(&mut self) -> Option<u64> {
        match self.number(1)? {
            0xfc => self.number(2).map(u64::from),
            0xfd => self.number(3).map(u64::from),
            0xfe => Some(u64::from(self.number(4)?) | u64::from(self.number(4)?) << 32),
            small if small < u32::from(NULL) => Some(u64::from(small)),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<Option<String>> {
        if self.0.first() == Some(&NULL) {
            self.take(1)?;
            return Some(None);
        }
        let bytes = usize::try_from(self.count()?).ok()?;
        Some(Some(String::from_utf8_lossy(self.take(bytes)?).into_owned()))
    }
}

#[cfg(test)]
mod tests;
