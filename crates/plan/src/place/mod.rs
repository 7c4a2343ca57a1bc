//! Where requests go: URLs and consent, several origins, proxies, user and password, TLS.

pub mod login;
pub mod net;
pub mod origins;
pub mod proxy;
pub mod tls;
pub(crate) mod way;
