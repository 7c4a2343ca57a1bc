//! Why a plan cannot be made, each with its cause and its remedy.

use crate::place::net::NetError;
use crate::place::proxy::ProxyError;
use crate::place::tls::TlsUseError;
use launch::TargetError;
use schema::text::FileError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a plan cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A file of the user, or an argument, is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// A target's manifest is missing or wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Where to send is not allowed, or cannot be found.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A proxy that cannot be used.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// What is sent cannot be encoded.
    #[error(transparent)]
    Request(#[from] request::ProgramError),
    /// Options of TLS that contradict each other or the URL.
    #[error(transparent)]
    Tls(#[from] TlsUseError),
    /// A file could not be read.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was to be done with it.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl PlanError {
    /// Wraps an error of the system about a file.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
