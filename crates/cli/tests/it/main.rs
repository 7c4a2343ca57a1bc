//! Tests of the binary as a user runs it, and of the repository's own rules. One test binary, so that it links once.

mod command;
mod files;
mod load;
mod processes;
mod run;
mod survival;
mod tidy;
