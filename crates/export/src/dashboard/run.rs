//! The panels over runs.

use super::Panel;

pub(super) const PANELS: [Panel; 9] = [
    Panel {
        title: "Throughput",
        about: "Right answers a second, and requests as they were intended. Where the two part, the target falls behind.",
        unit: "reqps",
        series: &[
            ("sum by (cell) (rate(prony_requests_completed_total{CHOSEN}[$__rate_interval]))", "{{cell}}"),
            (
                "sum by (cell) (rate(prony_requests_scheduled_total{CHOSEN}[$__rate_interval]))",
                "{{cell}}, intended",
            ),
        ],
    },
    Panel {
        title: "Failures",
        about: "Requests without a right answer, by class.",
        unit: "reqps",
        series: &[(
            "sum by (cell, class) (rate(prony_requests_failed_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}, {{class}}",
        )],
    },
    Panel {
        title: "Response time of the trial so far",
        about: "From the intended moment on, since the warm-up, at prony's own resolution of 0.1 %.",
        unit: "s",
        series: &[(
            "max by (cell, trial, quantile) (prony_response_quantile_seconds{CHOSEN})",
            "{{cell}}, trial {{trial}}, {{quantile}}",
        )],
    },
    Panel {
        title: "p99 by buckets",
        about: "Over the window of the panel: from native buckets within 0.3 % where Prometheus takes them, else from the \
            classic ones, off by up to the width of a bucket.",
        unit: "s",
        series: &[(
            "histogram_quantile(0.99, sum by (cell, le) (rate(prony_response_seconds_bucket{CHOSEN}[$__rate_interval]))) \
             or histogram_quantile(0.99, sum by (cell) (rate(prony_response_seconds{CHOSEN}[$__rate_interval])))",
            "{{cell}}",
        )],
    },
    Panel {
        title: "Waiting and in flight",
        about: "Requests intended and not written, and written and not done.",
        unit: "short",
        series: &[
            ("sum by (cell) (prony_backlog_requests{CHOSEN})", "{{cell}}, waiting"),
            ("sum by (cell) (prony_in_flight_requests{CHOSEN})", "{{cell}}, in flight"),
        ],
    },
    Panel {
        title: "Answers by status",
        about: "By the hundred of the status.",
        unit: "reqps",
        series: &[(
            "sum by (cell, status) (rate(prony_responses_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}, {{status}}",
        )],
    },
    Panel {
        title: "Bytes",
        about: "Received from the target and sent to it.",
        unit: "Bps",
        series: &[
            ("sum by (cell) (rate(prony_read_bytes_total{CHOSEN}[$__rate_interval]))", "{{cell}}, received"),
            ("sum by (cell) (rate(prony_written_bytes_total{CHOSEN}[$__rate_interval]))", "{{cell}}, sent"),
        ],
    },
    Panel {
        title: "Generator",
        about: "CPUs that the generator's workers use. Near what it was given, the generator is the limit and not the target.",
        unit: "short",
        series: &[(
            "sum by (cell) (rate(prony_generator_cpu_seconds_total{CHOSEN}[$__rate_interval]))",
            "{{cell}}",
        )],
    },
    Panel {
        title: "Trials that count",
        about: "1 for a valid trial, 0 for one that is void or failed.",
        unit: "short",
        series: &[("prony_trial_valid{CHOSEN}", "{{cell}}, trial {{trial}}")],
    },
];
