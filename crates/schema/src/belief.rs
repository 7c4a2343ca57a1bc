//! Whether numbers may be believed, in one word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the numbers may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BeliefLevel {
    /// Nothing found against them.
    Yes,
    /// With the stated reservations.
    WithReservations,
    /// They must not be used.
    No,
}
