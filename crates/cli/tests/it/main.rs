//! Tests of the binary as a user runs it, and of the repository's own rules. One test binary, so that it links once.

mod calibrate;
mod command;
mod confinement;
mod damaged;
mod doctor;
mod events;
mod factors;
mod fault;
mod files;
mod import;
mod killed;
mod levels;
mod load;
mod load_results;
mod own_count;
mod processes;
mod run;
mod scenario;
mod services;
mod shape;
mod survival;
mod targets;
mod tidy;
mod tls;
