//! Connections served few requests each, so that most of the work is making them: the target closes them, or its
//! keep-alive time is shorter than the pauses between requests.

use super::{Draft, Judgement, Link, Rule, Scene, Severity, Stage};
use crate::words::{duration, number, percent};
use schema::finding::{Change, FindingCause};
use schema::metric::Metric;
use schema::said;

/// Reconnects over answers.
const CHURN: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    cause: FindingCause::ConnectionChurn,
    stage: Stage::Target,
    source: "RFC 9112 §9.3, persistence; each new connection costs a round trip and a socket",
    explains: &[],
    judge,
};

fn judge(scene: &Scene<'_>) -> Judgement {
    let connection = &scene.cell.load.connection;
    let reconnects: u64 = scene.loads().map(|load| load.connections.reconnects).fold(0, u64::saturating_add);
    // Counted over the whole load, warm-up included; so are its answers, in proportion of the time.
    let (answers, all) = scene.trials.iter().fold((0.0, 0.0), |(answers, all), trial| {
        let completed = |measured: bool| {
            let lines = trial
                .intervals
                .iter()
                .filter(move |line| !measured || line.phase == Some(schema::trial::Phase::Sample));
            lines.map(|line| line.completed as f64).sum::<f64>()
        };
        (answers + completed(true), all + completed(false))
    });
    if all < 1.0 || answers < 1.0 {
        return Judgement::Unread(said!(
            "why.connection_churn.there_no_answers_hold",
            "there are no answers to hold connections against"
        ));
    }
    let churn = reconnects as f64 / all;
    if churn < CHURN {
        return Judgement::RuledOut(said!(
            "why.connection_churn.connection_served_requests",
            "a connection served {all} requests",
            all = number(1.0 / churn.max(1.0 / all))
        ));
    }
    let connect =
        scene.loads().filter_map(|load| load.latency_ns.connect.mean).reduce(f64::max).unwrap_or_default();
    let share = scene.mean_response().map_or(0.0, |mean| churn * connect / (mean + churn * connect));
    let asked =
        !connection.keepalive || connection.requests_max.is_some() || connection.lifetime_ns.is_some();
    let text = said!(
        "why.connection_churn.new_connection_made_requests",
        "a new connection was made for {churn} of the requests, {connect} each{why}",
        churn = percent(churn),
        connect = duration(connect),
        why = if asked {
            said!("why.connection_churn.as_load_asks", ", as the load asks")
        } else {
            said!("why.connection_churn.target_closes_them", ": the target closes them")
        }
    );
    let draft = Draft::new(
        text,
        if asked { Severity::Medium } else { Severity::High },
        said!(
            "why.connection_churn.turn_keep_alive_target",
            "turn keep-alive on in the target, or make its idle time longer than the pauses \
             between requests"
        ),
    )
    .evidence(
        said!("why.connection_churn.reconnects_over_requests", "reconnects over requests"),
        percent(churn),
        Some(percent(CHURN).into()),
        "trial.json load.connections",
    )
    .evidence(
        said!("why.connection_churn.time_connect", "time to connect"),
        duration(connect),
        None,
        "trial.json load.latency_ns.connect",
    )
    .link(Link::Accounts(share))
    .link(Link::Direct(churn.min(1.0)));
    if asked {
        let change = Change::Keepalive { value: true };
        return draft
            .asked_for()
            .try_this(
                change,
                said!("why.connection_churn.connections_kept_alive", "connections that are kept alive"),
                scene.better(1.2),
            )
            .found();
    }
    let knob = scene.knob("keepalive").filter(|value| *value == "false");
    match knob {
        Some(_) => {
            let change = Change::Knob { name: "keepalive".to_owned(), value: "true".to_owned() };
            draft
                .try_this(
                    change,
                    said!("why.connection_churn.keepalive_from_false_true", "keepalive from false to true"),
                    (Metric::CpuPerRequest, 0.8),
                )
                .found()
        }
        None => draft.found(),
    }
}
