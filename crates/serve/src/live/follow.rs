//! Following a run for those who watch it. Invariant: files are looked at only while somebody watches.

use super::findings::Findings;
use super::hub::Followed;
use super::watch::{Event, Watch};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::lab::Shared;
use axum::http::StatusCode;
use schema::said;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How often files are looked at; intervals are a second long.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// Most viewers of all runs together.
const VIEWERS_MAX: usize = 200;

/// The follower of a run, begun where there is none.
pub(crate) async fn follow(lab: &Shared, id: &str) -> Result<Arc<Followed>, ApiError> {
    let _one_at_a_time = lab.hub.begins.lock().await;
    if lab.hub.viewers() >= VIEWERS_MAX {
        return Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            said!("lab.too_many_viewers", "{viewers} viewers are watching already", viewers = VIEWERS_MAX),
            said!("lab.close_page", "close a page of a run in progress"),
        ));
    }
    if let Some(known) = lab.hub.known(id) {
        return Ok(known);
    }
    let (asked, name) = (lab.clone(), id.to_owned());
    let (path, watch, followed) = blocking(move || begin(&asked, &name)).await?;
    let followed = Arc::new(followed);
    if !followed.has_ended() {
        lab.hub.add(id, &followed);
        tokio::spawn(keep_looking(lab.clone(), id.to_owned(), path, watch, followed.clone()));
    }
    lab.hub.keep_off(lab.quiet.as_ref());
    Ok(followed)
}

/// Reads what is there so far, so that the first viewer gets all of it.
fn begin(lab: &Shared, id: &str) -> Result<(PathBuf, Watch, Followed), ApiError> {
    let path = lab.folder(id)?.path().to_owned();
    let card = lab.card(id)?;
    let mut watch = Watch::begin(&path).ok_or_else(|| {
        let unread = || said!("lab.run_unreadable", "run.json cannot be read");
        ApiError::told(StatusCode::UNPROCESSABLE_ENTITY, card.cause.clone().unwrap_or_else(unread))
    })?;
    let hello = watch.hello(card);
    let pin = watch.run().plan.pin.clone();
    let followed = Followed::new(pin, hello);
    watch.look().into_iter().for_each(|event| followed.tell(event));
    Ok((path, watch, followed))
}

/// Looks until the run ends or nobody watches any more.
async fn keep_looking(lab: Shared, id: String, path: PathBuf, mut watch: Watch, followed: Arc<Followed>) {
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut findings = Findings::default();
    // The first viewer joins after this was begun.
    let mut idle_looks = 0;
    while !followed.has_ended() && idle_looks < 25 {
        ticks.tick().await;
        idle_looks = if followed.viewers() == 0 { idle_looks + 1 } else { 0 };
        let looked = blocking(move || {
            let events = watch.look();
            Ok((watch, events))
        });
        let Ok((back, events)) = looked.await else { break };
        watch = back;
        let trials = events.iter().filter(|event| matches!(event, Event::Trial(_))).count();
        let is_running = !events.iter().any(|event| matches!(event, Event::End(_)));
        events.into_iter().for_each(|event| followed.tell(event));
        if is_running {
            findings.look(&path, trials > 0).await.into_iter().for_each(|found| followed.tell_found(found));
        }
    }
    lab.hub.forget(&id, &followed);
    lab.outdate();
    lab.hub.keep_off(lab.quiet.as_ref());
}
