//! The lab and its index against real run folders, over a real socket.

mod access;
mod api;
mod http;
mod index_rebuilt;
mod live;
mod runs;
mod starts;
