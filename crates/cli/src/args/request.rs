//! What `prony load` sends, and what a right answer is.

use std::path::PathBuf;
use units::{Bytes, Nanos};

/// The user's programs before and after the load.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// Run this command line (sh -c) before the load; PRONY_URL is the URL
    #[arg(long, value_name = "CMD")]
    pub(crate) setup: Option<String>,
    /// Run this command line after the load, also after Ctrl-C or a failure
    #[arg(long, value_name = "CMD")]
    pub(crate) teardown: Option<String>,
    /// Longest time of --setup and of --teardown [default: 1min]
    #[arg(long, value_name = "TIME")]
    pub(crate) hook_timeout: Option<Nanos>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RequestArgs {
    /// Send what this scenario file says; the URL gives scheme, host and port
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "body", "upload", "expect_status", "expect_body", "chunked", "script"])]
    pub(crate) scenario: Option<PathBuf>,
    /// Send what this wrk Lua script says; its arguments follow after --
    #[arg(short, long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Arguments of the script
    #[arg(last = true, requires = "script", value_name = "ARGS")]
    pub(crate) script_args: Vec<String>,
    /// Method [default: GET, POST with a body, or PUT with -T]
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Header field, repeatable, for example -H 'Accept: text/html'
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Body: a text, @FILE, or @- for standard input
    #[arg(short, long, value_name = "BODY", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// Send the body in chunks of this size, as --chunked or --chunked=SIZE, not with its length [default SIZE: 16KiB]
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "16KiB",
        conflicts_with = "script")]
    pub(crate) chunked: Option<Bytes>,
    /// Send this file as the body, by PUT unless -m says otherwise; a URL that ends in / gets the file's name. - is
    /// standard input
    #[arg(short = 'T', long = "upload-file", value_name = "FILE", conflicts_with_all = ["body", "script"])]
    pub(crate) upload: Option<String>,
    /// Status codes that are right, repeatable [default: 200 to 399]
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(100..=999))]
    pub(crate) expect_status: Vec<u16>,
    /// The exact body that every answer must have
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect_body: Option<String>,
}
