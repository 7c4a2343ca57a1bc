//! The virtual users of a closed load: what their number means for a scenario.

use schema::experiment::LoadModel;
use schema::plan::ScenarioPlan;
use schema::scenario::UserConnection;
use schema::text::Problem;

/// Most connections of one load, over all its processes; the memory of one machine ends not far beyond.
pub(crate) const CONNECTIONS_MAX: u64 = 200_000;
const KEY: &str = "load.users";

/// The virtual users of a closed load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// Not spoken of: as many as connections.
    Unsaid,
    /// Each has a connection of its own, so this is the number of connections.
    OwnConnections(u64),
    /// They share the connections, whose number is given besides.
    Sharing(u32),
}

impl Users {
    /// The number in the plan, where it is not that of the connections.
    pub(crate) const fn sharing(self) -> Option<u32> {
        match self {
            Self::Sharing(count) => Some(count),
            Self::Unsaid | Self::OwnConnections(_) => None,
        }
    }
}

/// What a number of users means for a scenario; `has_connections` says whether their number was given.
///
/// # Errors
/// Users of an open load, or of a scenario in which each has a connection, with another number of connections.
pub(crate) fn users(
    wanted: Option<units::Users>,
    model: LoadModel,
    has_connections: bool,
    scenario: &ScenarioPlan,
) -> Result<Users, Problem> {
    let Some(units::Users(count)) = wanted else { return Ok(Users::Unsaid) };
    if model == LoadModel::Open {
        let cause = "an open load has no fixed number of users: its rate decides";
        return Err(Problem::at(KEY, cause, "remove the users, or the rate"));
    }
    let shares = scenario.session.as_ref().is_some_and(|session| session.connection == UserConnection::Pool);
    match (shares, has_connections) {
        (true, _) if count > CONNECTIONS_MAX => {
            let cause = format!("{count} users are out of range");
            Err(Problem::at(KEY, cause, format!("give at most {CONNECTIONS_MAX}")))
        }
        (true, _) => Ok(Users::Sharing(count as u32)),
        (false, true) => {
            let cause = "each user has a connection of its own, and both numbers are given";
            let remedy =
                "give one of users and connections, or a scenario whose session has connection = \"pool\"";
            Err(Problem::at(KEY, cause, remedy))
        }
        (false, false) => Ok(Users::OwnConnections(count)),
    }
}
