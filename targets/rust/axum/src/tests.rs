//! The contract, asked without a socket; the routes with a service are asked of real ones by `prony targets
//! check`.
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use common::contract_test::{Told, check, told};
use common::settings::{Reader, Settings, SettingsError};
use tower::ServiceExt;

use crate::routes::router;
use crate::services::{App, ServiceSettings};

fn read(variables: &[(&str, &str)]) -> Result<(Settings, ServiceSettings), SettingsError> {
    let lookup =
        |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let mut reader = Reader::new(&lookup);
    let settings = Settings::read(&mut reader);
    let services = ServiceSettings::read(&mut reader);
    reader.finish((settings, services))
}

fn target(variables: &[(&str, &str)]) -> Router {
    let (settings, services) = read(variables).unwrap();
    router(App::new(&settings, services).unwrap(), settings.logger)
}

async fn ask(target: &Router, request: Request<Body>) -> Told {
    let Ok(answer) = target.clone().oneshot(request).await;
    told(answer).await
}

async fn get(target: &Router, path: &str) -> Told {
    ask(target, Request::get(path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn the_contract_is_kept() {
    let target = target(&[]);
    for name in ["ping", "health", "json", "file", "auth", "upload", "middleware"] {
        check(name, async |request| ask(&target, request.map(Body::new)).await).await;
    }
}

#[tokio::test]
async fn every_refusal_is_in_the_envelope() {
    let target = target(&[]);
    let cases = [
        ("/db/x", 400),
        ("/db/7?queries=0", 400),
        ("/db/7?queries=21", 400),
        ("/db/7?queries=%ff", 400),
        ("/db/scan", 400),
        ("/cache/a%20b", 400),
        ("/cache/%ff", 400),
        ("/mixed?id=1&id=2", 400),
        ("/grpc/0", 400),
        ("/file/none", 404),
    ];
    for (path, status) in cases {
        let answer = get(&target, path).await;
        let json: serde_json::Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        assert_eq!((answer.status().as_u16(), &json["code"]), (status, &status.into()), "{path}: {json}");
    }
}

#[tokio::test]
async fn a_service_without_an_address_is_told() {
    let target = target(&[]);
    let cases = [
        ("/db/7", "MARIADB"),
        ("/db/scan?name=x", "MARIADB"),
        ("/mixed", "MARIADB"),
        ("/cache/k", "REDIS"),
        ("/grpc/1", "GRPC"),
    ];
    for (path, name) in cases {
        let answer = get(&target, path).await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(String::from_utf8_lossy(answer.body()).contains(name), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_is_told() {
    // A port that was just free: nothing listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let database = [
        ("MARIADB_HOST", "127.0.0.1"),
        ("MARIADB_PORT", &free),
        ("MARIADB_USER", "u"),
        ("MARIADB_DATABASE", "d"),
    ];
    for (variables, path, name) in [
        (&database[..], "/db/7", "mariadb"),
        (&[("REDIS_HOST", "127.0.0.1"), ("REDIS_PORT", &free)][..], "/cache/k", "redis"),
    ] {
        let target = target(variables);
        assert_eq!(get(&target, path).await.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
        let health = get(&target, "/health").await;
        assert_eq!(health.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(String::from_utf8_lossy(health.body()).contains(name), "{health:?}");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_not_served() {
    let target = target(&[]);
    for path in ["/", "/json/", "/json/1/2", "/none"] {
        assert_eq!(get(&target, path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let posted = ask(&target, Request::post("/ping").body(Body::empty()).unwrap()).await;
    assert_eq!(posted.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn each_answer_is_logged_once() {
    let path = std::env::temp_dir().join(format!("prony-axum-log-{}", std::process::id()));
    let guard = tracing::subscriber::set_default(common::log::writer(&path).unwrap());
    for logger in ["false", "true"] {
        let target = target(&[("LOGGER", logger)]);
        for path in ["/json/1", "/middleware/0", "/middleware/1", "/middleware/2"] {
            get(&target, path).await;
        }
    }
    drop(guard);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    // Two behind the layer, then all four.
    assert_eq!(text.lines().count(), 6, "{text}");
    assert_eq!(text.matches("path=/middleware/2").count(), 2, "{text}");
    assert_eq!(text.matches("status=401 duration=").count(), 2, "{text}");
}

#[test]
fn wrong_settings_are_told() {
    let cases = [
        (&[("DB_MAX_OPEN", "0")][..], "DB_MAX_OPEN"),
        (&[("DB_ACQUIRE_TIMEOUT", "x")], "DB_ACQUIRE_TIMEOUT"),
        (&[("MARIADB_HOST", "h"), ("MARIADB_PORT", "1")], "MARIADB_USER"),
        (&[("GRPC_HOST", "h"), ("GRPC_PORT", "1")], "GRPC_CA_FILE"),
        (&[("REDIS_HOST", "h")], "REDIS_PORT"),
    ];
    for (variables, name) in cases {
        let error = read(variables).err().expect(name).to_string();
        assert!(error.contains(name), "{error}");
    }
}
