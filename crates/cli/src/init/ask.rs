//! The three questions of `prony init`, for people at a terminal.
//!
//! Invariant: a wrong answer is told and asked for again; the end of the input ends the questions with an error.

use super::service::Service;
use anyhow::{Result, bail};
use std::io::{BufRead, Write};
use std::path::Path;
use units::Nanos;

/// What the user answered.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) services: Vec<Service>,
    pub(super) time: Nanos,
}

/// Asks on `screen` what is read from `keys`; `time` is the time where none is named.
pub(super) fn ask(
    keys: &mut impl BufRead,
    screen: &mut impl Write,
    project: &Path,
    time: Nanos,
) -> Result<Answers> {
    let mut dialogue = Dialogue { keys, screen };
    let first = dialogue.answer(
        "What is loaded? A URL, or a command that starts it, with {port} for its port\n> ",
        |text| Service::parse(text, project),
    )?;
    let second = dialogue.answer(
        "What is it compared with? Another URL or command, or Enter: nothing, find where it bends\n> ",
        |text| if text.is_empty() { Ok(None) } else { Service::parse(text, project).map(Some) },
    )?;
    let time = dialogue.answer("How long may it take? Enter: 5m\n> ", |text| {
        if text.is_empty() { Ok(time) } else { Ok(crate::args::duration(text)?) }
    })?;
    Ok(Answers { services: std::iter::once(first).chain(second).collect(), time })
}

struct Dialogue<'a, K, S> {
    keys: &'a mut K,
    screen: &'a mut S,
}

impl<K: BufRead, S: Write> Dialogue<'_, K, S> {
    fn answer<T>(&mut self, question: &str, read: impl Fn(&str) -> Result<T>) -> Result<T> {
        loop {
            write!(self.screen, "{question}")?;
            self.screen.flush()?;
            let mut line = String::new();
            if self.keys.read_line(&mut line)? == 0 {
                bail!("the input ended before all was answered; nothing was written");
            }
            match read(line.trim()) {
                Ok(answer) => return Ok(answer),
                Err(error) => writeln!(self.screen, "  {error}\n")?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(keys: &str) -> (Result<Answers>, String) {
        let mut screen = Vec::new();
        let answers = ask(&mut keys.as_bytes(), &mut screen, Path::new("/nowhere"), Nanos::from_secs(300));
        (answers, String::from_utf8(screen).unwrap())
    }

    #[test]
    fn three_answers() {
        let (answers, screen) = asked("127.0.0.1:1\nsh -c x\n2m\n");
        let answers = answers.unwrap();
        assert_eq!((answers.services.len(), answers.time), (2, Nanos::from_secs(120)));
        assert_eq!(screen.matches('?').count(), 3, "{screen}");
        let (answers, _) = asked("127.0.0.1:1\n\n\n");
        let answers = answers.unwrap();
        assert_eq!((answers.services.len(), answers.time), (1, Nanos::from_secs(300)));
    }

    #[test]
    fn a_wrong_answer_is_asked_for_again() {
        let (answers, screen) = asked("no-such-program-here\n127.0.0.1:1\n\nsoon\n1m\n");
        assert_eq!(answers.unwrap().time, Nanos::from_secs(60));
        assert!(screen.contains("no program on PATH") && screen.contains("soon"), "{screen}");
        assert_eq!(screen.matches('>').count(), 5, "{screen}");
    }

    #[test]
    fn the_end_of_the_input_ends_the_questions() {
        for keys in ["", "127.0.0.1:1\n", "127.0.0.1:1\n\n", "nothing-here"] {
            assert!(asked(keys).0.unwrap_err().to_string().contains("nothing was written"), "{keys}");
        }
    }
}
