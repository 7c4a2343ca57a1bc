//! Man pages, of the same definitions as the help. Only this test makes them: the binary has the help already.
//!
//! `PRONY_WRITE_MAN=DIR cargo test -p prony --bin prony man` writes them, one a command; `make dist` packs them.

use crate::args::Args;
use clap::{Command, CommandFactory};

/// The page of a command, by its file name; those of the commands below it follow.
fn pages(command: &Command, name: &str) -> Vec<(String, Vec<u8>)> {
    let mut page = Vec::new();
    // clap keeps names for as long as the process lives.
    let title: &'static str = name.to_owned().leak();
    let titled = command.clone().name(title).bin_name(name.replace('-', " "));
    clap_mangen::Man::new(titled).render(&mut page).unwrap();
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    let below = below.flat_map(|below| pages(below, &format!("{name}-{}", below.get_name())));
    std::iter::once((format!("{name}.1"), page)).chain(below).collect()
}

#[test]
fn every_command_has_a_page() {
    let mut root = Args::command();
    root.build();
    let pages = pages(&root, "prony");
    assert!(pages.len() > 40, "{} pages", pages.len());
    for (name, page) in &pages {
        let text = String::from_utf8_lossy(page);
        assert!(text.starts_with(".ie") || text.contains(".TH"), "{name}");
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{name}: {text}");
    }
    let load = &pages.iter().find(|(name, _)| name == "prony-load.1").unwrap().1;
    let load = String::from_utf8_lossy(load).replace('\\', "");
    assert!(load.contains("--connections") && load.contains("--fail"), "{load}");
    if let Some(folder) = std::env::var_os("PRONY_WRITE_MAN") {
        for (name, page) in &pages {
            std::fs::write(std::path::Path::new(&folder).join(name), page).unwrap();
        }
    }
}
