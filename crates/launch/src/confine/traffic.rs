//! Speed, loss and delay of an isolated network: a token bucket (`tc`, tbf) and a random drop (`nft`) in each direction,
//! and netem.
//!
//! The drop is done on arrival at either end: a packet that its own sender drops is no lost packet to TCP, which then
//! tries again at once. The table of the host's end is named after its owner, because it outlives the device.
//! A delay is netem's, which many kernels lack: then another must hold packets up.

use super::tool;
use units::{BitsPerSecond, Nanos};

/// The longest that a packet waits for tokens.
const QUEUE_MS: u64 = 50;
/// Never fewer tokens than one packet of the largest size that segmentation hands over.
const BURST_BYTES_MIN: u64 = 96 << 10;
/// Tokens for this long: a timer tick of a slow kernel (100 Hz).
const BURST_MS: u64 = 10;
/// Losses are given to one in a million.
const LOSS_STEPS: u32 = 1_000_000;

/// Packets that netem holds at a time.
const HELD_PACKETS: u32 = 100_000;

/// Holds up what `device` sends, and returns the time as `tc` shows it.
pub(super) fn set_delay(device: &str, delay_ns: u64) -> Result<u64, String> {
    let delay_us = delay_ns.div_ceil(1000);
    let words =
        format!("qdisc replace dev {device} root handle 1: netem delay {delay_us}us limit {HELD_PACKETS}");
    tool::run("tc", &words, "")?;
    let shown = tool::run("tc", &format!("qdisc show dev {device}"), "")?;
    delay_of(&shown).ok_or_else(|| format!("the delay of {device} does not read back: {}", shown.trim()))
}

/// The word after `delay` of a netem line. `tc` writes `7ms`, `1.5ms` and the like.
fn delay_of(shown: &str) -> Option<u64> {
    let mut words = shown.lines().find(|line| line.contains(" netem "))?.split_ascii_whitespace();
    words.find(|word| *word == "delay")?;
    words.next()?.parse::<Nanos>().ok().map(|delay| delay.0)
}

/// Bounds the speed at which `device` sends, and returns it as `tc` shows it; below netem where that is there.
pub(super) fn set_rate(device: &str, bits_per_s: u64, is_below_netem: bool) -> Result<u64, String> {
    let place = if is_below_netem { "parent 1:1 handle 10:" } else { "root" };
    let burst = (bits_per_s / 8 / 1000 * BURST_MS).max(BURST_BYTES_MIN);
    let words = format!(
        "qdisc replace dev {device} {place} tbf rate {bits_per_s}bit burst {burst}b latency {QUEUE_MS}ms"
    );
    tool::run("tc", &words, "")?;
    let shown = tool::run("tc", &format!("qdisc show dev {device}"), "")?;
    rate_of(&shown).ok_or_else(|| format!("the speed of {device} does not read back: {}", shown.trim()))
}

/// The word after `rate` of a tbf line. `tc` writes `1Gbit`, `1500Mbit` and the like.
fn rate_of(shown: &str) -> Option<u64> {
    let mut words = shown.lines().find(|line| line.contains(" tbf "))?.split_ascii_whitespace();
    words.find(|word| *word == "rate")?;
    words.next()?.parse::<BitsPerSecond>().ok().map(|rate| rate.0)
}

/// Drops a share of the packets that arrive on `device`, instead of what was dropped before, and returns the share as
/// `nft` shows it.
pub(super) fn set_loss(table: &str, device: &str, share: f64) -> Result<f64, String> {
    let steps = (share * f64::from(LOSS_STEPS)).round() as u32;
    // One transaction: a table that is there is replaced, never missing in between.
    let rules = format!(
        "add table ip {table}\n\
         delete table ip {table}\n\
         add table ip {table}\n\
         add chain ip {table} arriving {{ type filter hook prerouting priority raw; policy accept; }}\n\
         add rule ip {table} arriving iifname \"{device}\" numgen random mod {LOSS_STEPS} < {steps} counter drop\n"
    );
    tool::run("nft", "-f -", &rules)?;
    let shown = tool::run("nft", &format!("list table ip {table}"), "")?;
    loss_of(&shown).ok_or_else(|| format!("the drop of table {table} does not read back"))
}

/// The share in a rule `… mod 1000000 < 10000 …`.
fn loss_of(shown: &str) -> Option<f64> {
    let (_, rest) = shown.split_once("numgen random mod ")?;
    let mut words = rest.split_ascii_whitespace();
    let steps: f64 = words.next()?.parse().ok()?;
    let dropped: f64 = words.nth(1)?.parse().ok()?;
    (steps > 0.0).then_some(dropped / steps)
}

/// Removes a table of the host, if it is there.
pub(super) fn remove_table(table: &str) -> Result<(), String> {
    tool::run("nft", &format!("delete table ip {table}"), "").map(drop)
}

/// Names of the tables of IPv4; none where they cannot be read.
pub(super) fn tables() -> Vec<String> {
    let shown = tool::run("nft", "list tables", "").unwrap_or_default();
    shown.lines().filter_map(|line| line.trim().strip_prefix("table ip ")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tools_show_is_read() {
        let tbf = "qdisc tbf 8001: root refcnt 3 rate 1Gbit burst 500000b lat 50ms \n";
        assert_eq!(rate_of(tbf), Some(1_000_000_000));
        let netem =
            "qdisc netem 1: root refcnt 2 limit 100000 delay 7.5ms\nqdisc tbf 10: parent 1:1 rate 8Kbit\n";
        assert_eq!((delay_of(netem), rate_of(netem)), (Some(7_500_000), Some(8_000)));
        assert_eq!(delay_of(tbf), None);
        assert_eq!(rate_of("qdisc noqueue 0: root refcnt 2 \n"), None);
        let table = "table ip x {\n\tchain arriving {\n\t\tiifname \"a\" numgen random mod 1000000 < 10000 counter packets 0 bytes 0 drop\n";
        assert_eq!(loss_of(table), Some(0.01));
        assert_eq!(loss_of("table ip x {}"), None);
    }
}
