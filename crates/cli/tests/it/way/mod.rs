//! The way to a target: redirects and proxies, against small servers of the standard library that count for themselves.

mod proxy;
mod redirects;
mod server;
