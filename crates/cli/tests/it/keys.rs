//! Keys while `prony load` shows its view: on a terminal of its own, which `script` makes, with the terminal's settings
//! read before and after.

use crate::command::{Server, is_there, prony, turn};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

/// `prony load` for 60 s between two `stty -a`, on a new terminal. The shell catches an interrupt, which goes to it as
/// well: some shells would end by it and never come to the second `stty`.
fn shown(server: &Server) -> Child {
    let load = format!(
        "trap : INT; stty -a; {} load {} -c 2 -d 60s; echo code $?; stty -a",
        prony(&[]).get_program().to_str().unwrap(),
        server.url("/")
    );
    Command::new("script")
        .args(["-qec", &load, "/dev/null"])
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .env("XDG_STATE_HOME", "/nonexistent/prony-tests")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("script starts")
}

/// All that the terminal shows; each text in turn is waited for, and answered with a key.
fn talk(mut child: Child, turns: &[(&str, &[u8])]) -> String {
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut seen, mut from) = (String::new(), 0);
    let mut turns = turns.iter().peekable();
    let mut part = [0_u8; 4096];
    loop {
        let read = screen.read(&mut part).unwrap_or(0);
        if read == 0 {
            break;
        }
        seen += &String::from_utf8_lossy(&part[..read]);
        while let Some((text, key)) = turns.peek() {
            let Some(at) = seen[from..].find(text) else { break };
            from += at + text.len();
            keys.write_all(key).unwrap();
            keys.flush().unwrap();
            turns.next();
        }
    }
    drop(keys);
    child.wait().unwrap();
    assert!(turns.next().is_none(), "not all was shown:\n{seen}");
    seen
}

fn is_restored(seen: &str) -> bool {
    let settings: Vec<&str> = seen.split("speed ").skip(1).collect();
    settings.len() == 2 && settings.iter().all(|text| text.contains("isig icanon iexten echo echoe"))
}

#[test]
fn q_ends_the_load_with_its_report_and_the_terminal_is_as_it_was() {
    if !is_there("script") || !is_there("stty") {
        println!("skipped: script and stty make the terminal that this is tested on");
        return;
    }
    let _turn = turn();
    let server = Server::start(&[]);
    let seen = talk(shown(&server), &[("q ends and reports", b"p"), ("paused", b"p"), ("q ends and", b"q")]);
    assert!(seen.contains("right answers") && seen.contains("code 130"), "{seen}");
    assert!(is_restored(&seen), "{seen}");
}

#[test]
fn an_interrupt_ends_it_too_and_restores_the_terminal() {
    if !is_there("script") || !is_there("stty") {
        println!("skipped: script and stty make the terminal that this is tested on");
        return;
    }
    let _turn = turn();
    let server = Server::start(&[]);
    let seen = talk(shown(&server), &[("q ends and reports", b"\x03")]);
    assert!(seen.contains("right answers") && is_restored(&seen), "{seen}");
}
