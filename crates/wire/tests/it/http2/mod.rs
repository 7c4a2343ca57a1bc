//! The client's side of HTTP/2 against scripted frames, hostile ones, any split of them, and another implementation.

mod answers;
mod client;
mod ends;
mod flow;
mod frames;
mod hostile;
mod other;
mod parts;
mod requests;
mod splits;
