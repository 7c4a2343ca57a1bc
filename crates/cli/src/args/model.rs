//! Arguments of `prony model`.

use super::TextOrJson;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony model access.log
  prony model access.log access.log.1.gz --out shop
  prony model access.log --out shop --url http://127.0.0.1:8080 --send recorded
  prony run shop/experiments/access.toml")]
pub(crate) struct ModelArgs {
    /// Access logs, plain or gzipped, in any order
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// How the lines are written
    #[arg(long, value_enum, default_value_t = LogFormat::Auto)]
    pub(crate) format: LogFormat,
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
}

impl LogFormat {
    /// The format that is asked for; `None` where it is to be found.
    pub(crate) const fn wanted(self) -> Option<traffic::log::Format> {
        match self {
            Self::Auto => None,
            Self::Common => Some(traffic::log::Format::Common),
            Self::Combined => Some(traffic::log::Format::Combined),
            Self::Json => Some(traffic::log::Format::Json),
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
