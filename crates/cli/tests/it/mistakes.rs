//! What `prony load` says where it cannot do what was asked: cause, place and remedy, and the right exit code.

use crate::command::{Server, bad, done};
use std::io::Write;
use std::net::TcpListener;

#[test]
fn nothing_connected_names_the_place_and_what_to_do() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (url, https) = (format!("http://{free}/"), format!("https://{}/", garbage()));
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("no.sock").display().to_string();
    let long = ["-c", "2", "-d", "1s"];
    for (args, texts) in [
        (
            vec![&url[..]],
            vec![&format!("prony: nothing listens at {free}\n")[..], "remedy: start the target"],
        ),
        (
            vec!["http://h/", "--unix-socket", &socket],
            vec![&format!("to unix:{socket}: No such file"), "--unix-socket"],
        ),
        (vec![&https, "-k"], vec!["write http:// if the target speaks plain text"]),
    ] {
        let done = done(&[&["load"], &args[..], &long].concat());
        assert_eq!(done.code, 2, "{done:?}");
        for text in texts {
            assert!(done.err.contains(text), "no `{text}` in {}", done.err);
        }
        let all = done.out.clone() + &done.err;
        assert!(!all.contains("target.log") && !all.contains("target ended"), "{all}");
        assert!(!args.contains(&"--unix-socket") || !all.contains("127.0.0.1"), "{all}");
        assert!(all.matches("(os error").count() <= 2, "once on standard error, once in the result: {all}");
    }
}

/// A server that answers whatever comes with text; it ends with the process of the tests.
fn garbage() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
            open.push(stream);
        }
    });
    addr
}

#[test]
fn an_attempt_that_ends_in_no_answer_is_told_in_words() {
    // A backlog that is full: further attempts stay without an answer.
    let listener =
        rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    rustix::net::bind(&listener, &any).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let addr = std::net::SocketAddr::try_from(rustix::net::getsockname(&listener).unwrap()).unwrap();
    let url = format!("http://{addr}/");
    let done =
        done(&["load", &url, "-c", "8", "-d", "1s", "--connect-timeout", "300ms", "--timeout", "300ms"]);
    let all = done.out.clone() + &done.err;
    assert!(all.contains("no connection was established within the connect time-out"), "{all}");
}

#[test]
fn mistakes_in_arguments_are_found_before_anything_is_sent() {
    let server = Server::start(&[]);
    let url = server.url("/");
    for (args, texts) in [
        (
            &["--bind", "here"][..],
            &["--bind: `here` is no address", "remedy: write for example 127.0.0.1"][..],
        ),
        (&["--bind", "192.0.2.7"], &["--bind: 192.0.2.7 cannot be used", "name an address of this machine"]),
        (&["--bind", "::1"], &["--bind: nothing can be sent from ::1 to 127.0.0.1", "one family"]),
        (
            &["--arrivals", "recorded:/nope"],
            &["/nope", "cannot be read: No such file", "remedy: name a file"],
        ),
        (&["--arrivals", "recorded:/tmp"], &["/tmp", "cannot be read", "remedy: name a file"]),
        (
            &["-R", "100", "-d", "2s", "--shape", "spike:to=x9,at=10s,for=5s"],
            &["--shape: the spike begins at 10s, and the load is over at 2s", "remedy: let it begin earlier"],
        ),
    ] {
        bad(&[&["load", &url][..], args].concat(), 1, texts);
    }
    assert_eq!(crate::load::stats(&server), 0, "nothing was sent");
}
