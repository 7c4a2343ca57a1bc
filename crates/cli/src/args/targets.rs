//! `prony targets` and what can be done with them.

use super::TextOrJson;
use clap::Subcommand;
use units::Nanos;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  prony targets                                   what there is, and what is missing for it
  prony targets check go/gin                      does it keep the contract?
  prony targets build --all                       build ahead of a run
  prony targets new go/my-service                 a folder that passes the check at once
  prony targets new go/mine --like go/gin         a copy under another name"
)]
pub(crate) struct TargetsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TargetsCommand>,
    #[command(flatten)]
    pub(crate) list: TargetsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TargetsCommand {
    /// List the targets: routes, knobs, what is missing (the default)
    List(TargetsListArgs),
    /// Build, start and stop targets, and ask them all that the contract says
    Check(TargetsCheckArgs),
    /// Build targets ahead of a run
    Build(TargetsBuildArgs),
    /// Make the folder of a new target
    New(TargetsNewArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct TargetsListArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing failed, 1 wrong arguments, 2 a target failed or one that was named was skipped."
)]
pub(crate) struct TargetsCheckArgs {
    #[command(flatten)]
    pub(crate) which: WhichTargets,
    /// Ask only this route of the contract
    #[arg(long, value_name = "NAME")]
    pub(crate) route: Option<String>,
    /// Longest time for one request
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = super::duration)]
    pub(crate) timeout: Nanos,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TargetsBuildArgs {
    #[command(flatten)]
    pub(crate) which: WhichTargets,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(crate) format: TextOrJson,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhichTargets {
    /// Folders under targets/, for example go/gin
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub(crate) names: Vec<String>,
    /// All targets; those that lack something here are skipped with the reason
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TargetsNewArgs {
    /// LANGUAGE/NAME, the folder under targets/
    #[arg(value_name = "LANGUAGE/NAME")]
    pub(crate) name: String,
    /// Copy this target instead of the small sample of the language
    #[arg(long, value_name = "NAME")]
    pub(crate) like: Option<String>,
}
