//! The routes and their handlers.
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{from_extractor_with_state, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use common::contract::{
    Empty, Failure, Health, Layers, Record, Subject, check_key, parse_count, parse_id, parse_layers,
    parse_queries, records,
};
use common::runtime::{self, Facts};
use common::times;
use common::upload::{self, Upload};
use serde::{Deserialize, Serialize};

use crate::answer::{Parameter, Parameters, Refusal, Told, ok};
use crate::backend::Remote;
use crate::cache::Cached;
use crate::database::User;
use crate::layers::{Authorized, log, traced};
use crate::services::AppState;

/// All routes of the contract. `logger` logs all of them, else only those behind the log layer are.
pub fn router(app: AppState, logger: bool) -> Router {
    let routes = Router::new()
        .route("/ping", get(async || ok(Empty {})))
        .route("/health", get(health))
        .route("/json/{n}", get(list))
        .route("/db/{id}", get(user))
        .route("/db/scan", get(scan))
        .route("/file/{name}", get(file))
        .route("/auth", get(auth))
        .route("/cache/{key}", get(cache))
        .route("/grpc/{n}", get(remote))
        .route("/mixed", get(mixed))
        .route("/upload", post(upload))
        .route("/debug/runtime", get(facts))
        .route("/debug/requests", get(timed))
        .route("/middleware/{k}", get(layers));
    if logger {
        return routes.merge(layered(&app, true)).layer(log()).with_state(app);
    }
    routes.merge(layered(&app, false)).with_state(app)
}

/// The routes behind layers; `logged` ones are logged already. The first of two layers is the outer one.
fn layered(app: &AppState, logged: bool) -> Router<AppState> {
    let token = from_extractor_with_state::<Authorized, _>(app.clone());
    let answer = |layers| get(async move || ok(Layers { layers }));
    let one = answer(1);
    let two = answer(2).layer(token.clone());
    let three = answer(3).layer((token, from_fn(traced)));
    let routes =
        Router::new().route("/middleware/1", one).route("/middleware/2", two).route("/middleware/3", three);
    if logged { routes } else { routes.route_layer(log()) }
}

async fn health(State(app): State<AppState>) -> Response {
    match app.reach().await {
        Ok(()) => Json(Health::OK).into_response(),
        Err(waiting) => {
            (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: waiting.into() })).into_response()
        }
    }
}

async fn list(Parameter(n): Parameter<String>) -> Told<Vec<Record>> {
    Ok(ok(records(parse_count(&n)?)))
}

#[derive(Deserialize)]
struct Queries {
    queries: Option<String>,
}

/// One user, or a list of them where `queries` is given.
#[derive(Serialize)]
#[serde(untagged)]
enum Users {
    One(User),
    Many { users: Vec<User> },
}

async fn user(
    State(app): State<AppState>,
    Parameter(id): Parameter<String>,
    Parameters(Queries { queries }): Parameters<Queries>,
) -> Told<Users> {
    let id = parse_id(&id)?;
    let count = queries.filter(|text| !text.is_empty()).map(|text| parse_queries(&text)).transpose()?;
    let database = app.database()?;
    Ok(ok(match count {
        None => Users::One(database.user(id).await?),
        Some(count) => Users::Many { users: database.users(id, count).await? },
    }))
}

#[derive(Deserialize)]
struct Name {
    #[serde(default)]
    name: String,
}

async fn scan(State(app): State<AppState>, Parameters(Name { name }): Parameters<Name>) -> Told<Users> {
    if name.is_empty() {
        return Err(Failure::bad_request("name is missing").into());
    }
    Ok(ok(Users::Many { users: app.database()?.named(&name).await? }))
}

async fn file(State(app): State<AppState>, Parameter(name): Parameter<String>) -> Result<Response, Refusal> {
    let (body, length) = app.files.body(&name).await?;
    let octets = HeaderValue::from_static("application/octet-stream");
    let headers = [(CONTENT_TYPE, octets), (CONTENT_LENGTH, length.into())];
    Ok((headers, Body::new(body)).into_response())
}

async fn auth(Authorized(subject): Authorized) -> Told<Subject> {
    Ok(ok(subject))
}

async fn cache(State(app): State<AppState>, Parameter(key): Parameter<String>) -> Told<Cached> {
    check_key(&key)?;
    Ok(ok(app.cache()?.get(key).await?))
}

async fn remote(State(app): State<AppState>, Parameter(n): Parameter<String>) -> Told<Vec<Remote>> {
    let count = parse_count(&n)?;
    Ok(ok(app.backend()?.list(count).await?))
}

#[derive(Deserialize)]
struct Id {
    id: Option<String>,
}

#[derive(Serialize)]
struct Mixed {
    user: User,
    cached: Cached,
    records: Vec<Record>,
}

async fn mixed(State(app): State<AppState>, Parameters(Id { id }): Parameters<Id>) -> Told<Mixed> {
    let id = id.filter(|text| !text.is_empty()).unwrap_or_else(|| "1".to_owned());
    let user = app.database()?.user(parse_id(&id)?).await?;
    let cached = app.cache()?.get(format!("mixed-{id}")).await?;
    Ok(ok(Mixed { user, cached, records: records(1) }))
}

async fn upload(body: Body) -> Told<Upload> {
    Ok(ok(upload::sum(body).await?))
}

async fn layers(Parameter(k): Parameter<String>) -> Told<Layers> {
    Ok(ok(Layers { layers: parse_layers(&k)? }))
}

async fn timed() -> Result<String, Refusal> {
    Ok(times::text().ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "no such path"))?)
}

async fn facts() -> Json<Facts> {
    Json(runtime::facts())
}
