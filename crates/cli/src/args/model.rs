//! Arguments of `prony model`.

use super::TextOrJson;
use clap::ValueEnum;
use std::path::PathBuf;
use traffic::log::SessionKey;
use units::Nanos;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony model access.log
  prony model access.log access.log.1.gz --out shop
  prony model visits.json --sessions-by cookie:sid --out shop
  prony model events.csv --sessions-by field:user_id --session-timeout 10m
  prony model access.log --out shop --url http://127.0.0.1:8080 --send recorded
  prony run shop/experiments/access.toml")]
pub(crate) struct ModelArgs {
    /// Access logs, plain or gzipped, in any order
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// How the lines are written
    #[arg(long, value_enum, default_value_t = LogFormat::Auto)]
    pub(crate) format: LogFormat,
    /// Follow sessions by an identifier: client, cookie:NAME, header:NAME, query:NAME or field:NAME (a key of a JSON line,
    /// a column of a CSV file); laws are fitted to their begins, lengths and pauses
    #[arg(long, value_name = "KEY")]
    pub(crate) sessions_by: Option<SessionKey>,
    /// Pause that ends a session
    #[arg(long, requires = "sessions_by", default_value_t = traffic::session::TIMEOUT)]
    pub(crate) session_timeout: Nanos,
    /// Write scenario, experiment and their files into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Name of the written files [default: that of the first log]
    #[arg(long, requires = "out")]
    pub(crate) name: Option<String>,
    /// Server that the written experiment loads
    #[arg(long, requires = "out", default_value = "http://127.0.0.1:8080")]
    pub(crate) url: String,
    /// What the written load sends: the fitted process or the recorded times
    #[arg(long, requires = "out", value_enum, default_value_t = SendAs::Auto)]
    pub(crate) send: SendAs,
    /// Seed of what is drawn: samples, the bootstrap, moments within a second
    #[arg(long, default_value_t = plan::defaults::SEED)]
    pub(crate) seed: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) output_format: TextOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Found from the first lines
    Auto,
    /// `client - - [time] "request" status bytes`
    Common,
    /// The same with referrer and user agent
    Combined,
    /// A JSON object on each line
    Json,
    /// Fields under the names of the first line
    Csv,
}

impl LogFormat {
    /// The format that is asked for; `None` where it is to be found.
    pub(crate) const fn wanted(self) -> Option<traffic::log::Format> {
        match self {
            Self::Auto => None,
            Self::Common => Some(traffic::log::Format::Common),
            Self::Combined => Some(traffic::log::Format::Combined),
            Self::Json => Some(traffic::log::Format::Json),
            Self::Csv => Some(traffic::log::Format::Csv),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SendAs {
    /// By the verdict
    Auto,
    /// The fitted process, whatever the verdict
    Fitted,
    /// The recorded times
    Recorded,
}
