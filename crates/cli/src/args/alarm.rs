//! Arguments of alarms during a load, a run or a soak.

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct AlarmArgs {
    /// Watch a condition while it lasts, for example 'p99 > 200ms for 2m', 'errors > 1% for 30s', 'memory > 2GiB';
    /// repeatable
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) alarm: Vec<String>,
    /// The same, and end with exit code 3 where it fires; what was measured until then is kept; repeatable
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) abort_on: Vec<String>,
    /// Post each alarm that fires or ends to this URL as JSON, see `prony schema alarm`; repeatable
    #[arg(long, value_name = "URL")]
    pub(crate) alarm_webhook: Vec<String>,
    /// Send alarms to the Alertmanager at this URL (its API v2); repeatable
    #[arg(long, value_name = "URL")]
    pub(crate) alertmanager: Vec<String>,
}
