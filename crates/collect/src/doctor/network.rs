//! Facts about TCP settings (Documentation/networking/ip-sysctl.rst).

use super::fact::{About, File, FileFact, Judgement, off, on};
use crate::Roots;
use schema::doctor::{Bearing, Fact};
use schema::said;
use schema::said::Said;

/// TIME_WAIT holds a port this long; the kernel's constant TCP_TIMEWAIT_LEN, not a setting.
const TIME_WAIT_S: u64 = 60;
/// Queue lengths below these drop connections when a few hundred clients connect at once.
const BACKLOG_MIN: u64 = 1_024;

const FACTS: [FileFact; 7] = [
    FileFact {
        about: About {
            id: "net.somaxconn",
            title: || said!("fact.net_somaxconn.title", "Longest accept queue"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.net_somaxconn.effect",
                    "caps the backlog of every listener; beyond it connections are dropped and come back after 1, 3 or 7 s"
                )
            },
        },
        file: File::Proc("sys/net/core/somaxconn"),
        judge: |text| {
            let remedy = said!("fact.net_somaxconn.remedy", "sysctl -w net.core.somaxconn=4096");
            at_least(text, BACKLOG_MIN, remedy)
        },
    },
    FileFact {
        about: About {
            id: "net.syn_backlog",
            title: || said!("fact.net_syn_backlog.title", "Longest queue of half-open connections"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.net_syn_backlog.effect",
                    "beyond it new connections wait for a retransmitted SYN, or SYN cookies change how they are made"
                )
            },
        },
        file: File::Proc("sys/net/ipv4/tcp_max_syn_backlog"),
        judge: |text| {
            let remedy = said!("fact.net_syn_backlog.remedy", "sysctl -w net.ipv4.tcp_max_syn_backlog=4096");
            at_least(text, BACKLOG_MIN, remedy)
        },
    },
    FileFact {
        about: About {
            id: "net.port_range",
            title: || said!("fact.net_port_range.title", "Local ports"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.net_port_range.effect",
                    "bounds new connections per second from one address to one server: each closed one holds its port for 60 s in TIME_WAIT (tcp_tw_reuse can lift this)"
                )
            },
        },
        file: File::Proc("sys/net/ipv4/ip_local_port_range"),
        judge: port_range,
    },
    FileFact {
        about: About {
            id: "net.tw_reuse",
            title: || said!("fact.net_tw_reuse.title", "Reuse of ports in TIME_WAIT"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.net_tw_reuse.effect",
                    "where it is on, a connecting client may take a port from TIME_WAIT after 1 s instead of 60 s"
                )
            },
        },
        file: File::Proc("sys/net/ipv4/tcp_tw_reuse"),
        judge: |text| match text {
            "0" => Some(Judgement::note(
                off(),
                said!(
                    "fact.net_tw_reuse.remedy",
                    "sysctl -w net.ipv4.tcp_tw_reuse=1 where many connections are opened"
                ),
            )),
            "1" => Some(Judgement::ok(on())),
            "2" => Some(Judgement::ok(said!("fact.net_tw_reuse.loopback", "on for loopback"))),
            _ => None,
        },
    },
    FileFact {
        about: About {
            id: "net.fin_timeout",
            title: || said!("fact.net_fin_timeout.title", "Time in FIN_WAIT_2"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.net_fin_timeout.effect",
                    "orphaned connections hold memory this long when the other side does not close; it does not shorten TIME_WAIT"
                )
            },
        },
        file: File::Proc("sys/net/ipv4/tcp_fin_timeout"),
        judge: |text| match text.parse::<u64>().ok()? {
            seconds @ 0..=TIME_WAIT_S => Some(Judgement::ok(format!("{seconds} s"))),
            seconds => Some(Judgement::note(
                format!("{seconds} s"),
                said!("fact.net_fin_timeout.remedy", "sysctl -w net.ipv4.tcp_fin_timeout=60"),
            )),
        },
    },
    FileFact {
        about: About {
            id: "net.slow_start_after_idle",
            title: || said!("fact.net_slow_start_after_idle.title", "Slow start after idling"),
            bearing: Bearing::SomeLoads,
            effect: || {
                said!(
                    "fact.net_slow_start_after_idle.effect",
                    "a connection that paused begins with a small window again: large answers on a real network need more round trips; no matter on loopback"
                )
            },
        },
        file: File::Proc("sys/net/ipv4/tcp_slow_start_after_idle"),
        judge: |text| match text {
            "0" => Some(Judgement::ok(off())),
            "1" => Some(Judgement::note(
                on(),
                said!(
                    "fact.net_slow_start_after_idle.remedy",
                    "set it as in production: sysctl -w net.ipv4.tcp_slow_start_after_idle=0"
                ),
            )),
            _ => None,
        },
    },
    FileFact {
        about: About {
            id: "net.congestion_control",
            title: || said!("fact.net_congestion_control.title", "Congestion control"),
            bearing: Bearing::Numbers,
            effect: || {
                said!(
                    "fact.net_congestion_control.effect",
                    "decides how fast data leaves; bbr paces its packets with timers, which costs CPU and adds latency even on loopback"
                )
            },
        },
        file: File::Proc("sys/net/ipv4/tcp_congestion_control"),
        judge: |text| match text {
            "" => None,
            "cubic" | "reno" => Some(Judgement::ok(text)),
            _ => Some(Judgement::note(
                text,
                said!(
                    "fact.net_congestion_control.remedy",
                    "set it as in production: sysctl -w net.ipv4.tcp_congestion_control=cubic"
                ),
            )),
        },
    },
];

pub(super) fn facts(roots: &Roots) -> Vec<Fact> {
    FACTS.iter().map(|fact| fact.read(roots)).collect()
}

fn at_least(text: &str, least: u64, remedy: Said) -> Option<Judgement> {
    let value: u64 = text.parse().ok()?;
    Some(if value < least { Judgement::warning(text, remedy) } else { Judgement::ok(text) })
}

/// Ports over 60 s bound the new connections per second (METHOD §9: 28,232 / 60 ≈ 470).
fn port_range(text: &str) -> Option<Judgement> {
    let mut words = text.split_ascii_whitespace().map(str::parse::<u16>);
    let (low, high) = (words.next()?.ok()?, words.next()?.ok()?);
    let ports = u64::from(high.checked_sub(low)?) + 1;
    let value = said!(
        "fact.net_port_range.ports",
        "{low} to {high}: {ports} ports, {rate} new connections/s",
        low = u64::from(low),
        high = u64::from(high),
        ports,
        rate = ports / TIME_WAIT_S
    );
    let remedy = said!(
        "fact.net_port_range.remedy",
        "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\", more source addresses (127.0.0.0/8), or keep-alive"
    );
    Some(match ports {
        0..=9_999 => Judgement::warning(value, remedy),
        10_000..=29_999 => Judgement::note(value, remedy),
        _ => Judgement::ok(value),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use schema::doctor::Severity::{self, Note, Ok, Warning};

    #[test]
    fn settings() {
        let is = |id: &str, text: Option<&str>, severity: Severity, value: Option<&str>| {
            let fact = FACTS.iter().find(|fact| fact.about.id == id).unwrap();
            check(&fact.of_text(text), severity, value);
        };
        is("net.somaxconn", Some("4096\n"), Ok, Some("4096"));
        is("net.somaxconn", Some("128\n"), Warning, Some("128"));
        is("net.somaxconn", Some("many"), Note, None);
        is("net.syn_backlog", Some("2048"), Ok, Some("2048"));
        is("net.syn_backlog", Some("256"), Warning, Some("256"));
        is("net.port_range", Some("1024\t65535\n"), Ok, Some("64512 ports, 1075 new"));
        is("net.port_range", Some("32768\t60999\n"), Note, Some("28232 ports, 470 new connections/s"));
        is("net.port_range", Some("60000\t60999\n"), Warning, Some("1000 ports, 16 new"));
        is("net.port_range", Some("60999\t32768\n"), Note, None);
        is("net.tw_reuse", Some("2\n"), Ok, Some("on for loopback"));
        is("net.tw_reuse", Some("0\n"), Note, Some("off"));
        is("net.fin_timeout", Some("60\n"), Ok, Some("60 s"));
        is("net.fin_timeout", Some("300\n"), Note, Some("300 s"));
        is("net.slow_start_after_idle", Some("0\n"), Ok, Some("off"));
        is("net.slow_start_after_idle", Some("1\n"), Note, Some("on"));
        is("net.congestion_control", Some("cubic\n"), Ok, Some("cubic"));
        is("net.congestion_control", Some("bbr\n"), Note, Some("bbr"));
        is("net.congestion_control", None, Note, None);
    }
}
