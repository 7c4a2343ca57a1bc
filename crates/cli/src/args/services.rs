//! Arguments of `services`.

use super::TextOrJson;
use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony services
  prony services check mariadb redis
  prony services up mariadb redis        then, in another shell, start a target with what it printed")]
pub(crate) struct ServicesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ServicesCommand>,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServicesCommand {
    /// Start each, run its checks, stop it
    Check {
        /// Folders under services/; without any, all of them
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Keep services up until Ctrl-C, and print the variables of targets as lines for a shell
    Up {
        /// Folders under services/
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}
