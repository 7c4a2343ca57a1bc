//! A fleet: agents that make one load together, as people write it and as it is planned.
//!
//! Absent on purpose: what the agents are and did (`agents`), and the words between controller and agent, which are no
//! file (crate `generate`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file for `--fleet`: the agents, in the order in which they share the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetFile {
    /// One `[[agent]]` each.
    #[serde(default, rename = "agent")]
    pub agents: Vec<AgentEntry>,
}

/// `[[agent]]`: exactly one of `here`, `command`, `unix`, `tcp` and `nats` says how the agent is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentEntry {
    /// Unique name. Default: `agent-N` by its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A process of this host that prony starts itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub here: bool,
    /// A program whose standard input and output lead to `prony agent --stdio`, such as `ssh HOST prony agent --stdio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Path of the Unix socket of `prony agent --listen unix:PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix: Option<String>,
    /// Host and port of `prony agent --listen ADDR:PORT`. Without `tls` a loopback address, or the end of a tunnel there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// Server on which `prony agent --join` is, `nats://HOST:PORT`, or `tls://HOST:PORT`; needs `tls`. Where the
    /// server asks for a user, `nats.toml` in that folder has `user` and `password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nats: Option<String>,
    /// With `tcp` or `nats`: the controller's folder of `prony fleet keys`, from this file on. The agent must have the certificate
    /// of its `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<String>,
}

/// `nats.toml` beside the keys of a controller or an agent: whom a NATS server lets in.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BusLogin {
    /// The user's name.
    pub user: String,
    /// The user's password.
    pub password: String,
}

impl std::fmt::Debug for BusLogin {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BusLogin").field("user", &self.user).finish_non_exhaustive()
    }
}

/// The agents of a load, resolved. Agent n makes the n-th contiguous part of the load's workers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct FleetPlan {
    /// At least one.
    pub agents: Vec<AgentPlan>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct AgentPlan {
    /// Unique within the fleet.
    pub name: String,
    /// How it is reached.
    pub link: AgentLink,
}

/// How an agent is reached.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentLink {
    /// A process of this host that prony starts, over pipes.
    Here,
    /// A program that prony starts, over pipes.
    Command {
        /// Program and arguments.
        command: Vec<String>,
    },
    /// A Unix socket.
    Unix {
        /// Its path.
        path: String,
    },
    /// A TCP stream over loopback.
    Tcp {
        /// Address and port.
        address: String,
    },
    /// A TCP stream over TLS 1.3, on which both ends show certificates of the fleet.
    Tls {
        /// Host or address, and port.
        address: String,
        /// Path of the controller's folder of keys.
        keys: String,
    },
    /// The same through a NATS server that both ends reach, under the agent's name.
    Nats {
        /// `nats://HOST:PORT` or `tls://HOST:PORT`.
        server: String,
        /// Path of the controller's folder of keys.
        keys: String,
    },
}
