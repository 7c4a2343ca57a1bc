//! The way to a target: several origins, redirects and proxies, against small servers of the standard library that count for themselves.

mod origins;
mod proxy;
mod redirects;
mod server;
