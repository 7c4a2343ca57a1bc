//! The panels over the agents of a fleet: whether they are alike, and which is not.

use super::Panel;

pub(super) const PANELS: [Panel; 9] = [
    Panel {
        title: "Throughput of the fleet",
        about: "Right answers a second of all agents together, and requests as they were intended.",
        unit: "reqps",
        series: &[
            (
                "sum by (cell) (rate(prony_agent_requests_completed_total{CHOSEN}[$__rate_interval]))",
                "{{cell}}",
            ),
            (
                "sum by (cell) (rate(prony_agent_requests_scheduled_total{CHOSEN}[$__rate_interval]))",
                "{{cell}}, intended",
            ),
        ],
    },
    Panel {
        title: "Throughput by agent",
        about: "Right answers a second of each agent.",
        unit: "reqps",
        series: &[(
            "sum by (cell, agent) (rate(prony_agent_requests_completed_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}, {{agent}}",
        )],
    },
    Panel {
        title: "Part of the load by agent",
        about: "What each agent was to send of the whole, beside the share that it was given when the run began. Random arrivals \
            differ a little from it; more is an agent that does not do its part.",
        unit: "percentunit",
        series: &[
            (
                "sum by (run, cell, agent) (rate(prony_agent_requests_scheduled_total{CHOSEN}[$__rate_interval])) / on (run, cell) \
                 group_left () sum by (run, cell) (rate(prony_agent_requests_scheduled_total{CHOSEN}[$__rate_interval]))",
                "{{cell}}, {{agent}}",
            ),
            ("prony_agent_share{run=~\"$run\"}", "{{agent}}, as given"),
        ],
    },
    Panel {
        title: "Failures by agent",
        about: "Requests without a right answer. Where one agent has them and the others have none, look at its way to the \
            target.",
        unit: "reqps",
        series: &[(
            "sum by (cell, agent) (rate(prony_agent_requests_failed_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}, {{agent}}",
        )],
    },
    Panel {
        title: "Median response time by agent",
        about: "Of the last interval. Agents on like hosts that load one target agree.",
        unit: "s",
        series: &[(
            "max by (cell, agent) (prony_agent_response_quantile_seconds{CHOSEN,quantile=\"0.5\"})",
            "{{cell}}, {{agent}}",
        )],
    },
    Panel {
        title: "p99 by agent",
        about: "Of the last interval; below 368 answers it has no upper bound.",
        unit: "s",
        series: &[(
            "max by (cell, agent) (prony_agent_response_quantile_seconds{CHOSEN,quantile=\"0.99\"})",
            "{{cell}}, {{agent}}",
        )],
    },
    Panel {
        title: "Spread of the agents",
        about: "Largest over smallest time of the agents in the last interval: 1 where they agree.",
        unit: "none",
        series: &[(
            "max by (cell, quantile) (prony_agent_response_quantile_seconds{CHOSEN}) / \
             min by (cell, quantile) (prony_agent_response_quantile_seconds{CHOSEN})",
            "{{cell}}, {{quantile}}",
        )],
    },
    Panel {
        title: "Lateness by agent",
        about: "99th percentile of how late the agent itself was in the last interval: between the intended moment and its \
            own attempt to send.",
        unit: "s",
        series: &[(
            "max by (cell, agent) (prony_agent_pacer_lag_p99_seconds{CHOSEN})",
            "{{cell}}, {{agent}}",
        )],
    },
    Panel {
        title: "Clocks",
        about: "By how much the clock of an agent may be off, as the run began. All begin together to within the largest of \
            these.",
        unit: "s",
        series: &[("prony_agent_clock_bound_seconds{run=~\"$run\"}", "{{agent}}")],
    },
];
