//! Arguments of the commands that have few: `report`, `targets`, `doctor`, `completions`, `schema`.

use super::{ReportFormat, TextOrJson};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony report runs/2026-11-21T09-30-00Z-demo
  prony report runs/2026-11-21T09-30-00Z-demo --format markdown -o result.md

Without --format the run folder's report.html, report.md, results.csv and analysis.json are made again.")]
pub(crate) struct ReportArgs {
    /// The run folder
    pub(crate) run: PathBuf,
    /// Print one format instead of renewing the files of the folder
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Write it to a file instead of standard output
    #[arg(short, long, value_name = "FILE", requires = "format")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TargetsArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony completions bash > ~/.local/share/bash-completion/completions/prony
  prony completions zsh > ~/.zfunc/_prony
  prony completions fish > ~/.config/fish/completions/prony.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Name of the format; without it, the names are listed
    pub(crate) name: Option<String>,
    /// Write all schemas as NAME.schema.json into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub(crate) write: Option<PathBuf>,
}
