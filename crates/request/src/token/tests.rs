//! Tokens are checked with the public key, their times, shares and kinds counted, and their renewal watched.

use super::pool::Law;
use super::*;
use crate::program::tests::{compile, entry, made, plan};
use crate::program::{MakeCause, Maker};
use crate::template::compile_vars;
use crate::template::eval::{Nothing, Outside};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use schema::load::TokenKind;
use schema::scenario::TokenAlgorithm;
use serde_json::Value as Json;
use std::time::{Instant, SystemTime};
use units::Nanos;

const KEYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/keys");
/// What the tests' clock says, in seconds.
const NOW_S: u64 = 1_700_000_000;

fn maker(algorithm: TokenAlgorithm) -> TokenMaker {
    let (secret, key_file) = match algorithm {
        TokenAlgorithm::HS256 => (Some("topsecret".to_owned()), None),
        TokenAlgorithm::RS256 => (None, Some("rs256.pem".to_owned())),
        TokenAlgorithm::ES256 => (None, Some("es256.pem".to_owned())),
        TokenAlgorithm::EdDSA => (None, Some("eddsa.pem".to_owned())),
    };
    TokenMaker {
        algorithm,
        secret,
        secret_env: None,
        key_file,
        key_id: None,
        claims: BTreeMap::new(),
        expires_at_least: None,
        expires_at_most: None,
        expired: None,
        badly_signed: None,
        pool: Some(20),
    }
}

fn start_with(
    maker: &TokenMaker,
    vars: &[(&str, &str)],
    clock: fn() -> Duration,
) -> Result<Tokens, ProgramError> {
    let env = |name: &str| (name == "KEY").then(|| "topsecret".to_owned());
    let scope = Scope { vars: &[], captures: None, feeders: &[], tokens: &[], env: &env };
    let vars: Vec<_> = vars.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let vars = compile_vars(&vars, scope).unwrap();
    Tokens::start(&BTreeMap::from([("jwt".to_owned(), maker.clone())]), KEYS, &vars, scope, Seed(1), clock)
}

fn start(maker: &TokenMaker) -> Tokens {
    start_with(maker, &[], || Duration::from_secs(NOW_S)).unwrap()
}

/// The pool's tokens in order.
fn all(tokens: &Tokens, count: u64) -> Vec<(String, TokenKind)> {
    let view = tokens.views().remove(0);
    (0..count)
        .map(|place| view.hand_out(place).map(|(text, kind)| (text.to_owned(), kind)).unwrap())
        .collect()
}

fn decode(part: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(part).unwrap()
}

fn json(part: &str) -> Json {
    serde_json::from_slice(&decode(part)).unwrap()
}

/// Header, claims, signed text and signature.
fn parts(token: &str) -> (Json, Json, &str, Vec<u8>) {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    (json(header), json(claims), signed, decode(signature))
}

/// The bytes of the public key as openssl wrote it, without the `skip` bytes of its wrapping.
fn public_key(file: &str, skip: usize) -> Vec<u8> {
    let text = std::fs::read(format!("{KEYS}/{file}")).unwrap();
    pem::parse(text).unwrap().contents()[skip..].to_vec()
}

fn verifies(algorithm: TokenAlgorithm, signed: &str, signature: &[u8]) -> bool {
    // SubjectPublicKeyInfo (RFC 5280 §4.1.2.7): the key is the end of it; its begin depends on algorithm and size alone.
    let (law, key): (&'static dyn VerificationAlgorithm, Vec<u8>) = match algorithm {
        TokenAlgorithm::HS256 => {
            let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"topsecret");
            return ring::hmac::verify(&key, signed.as_bytes(), signature).is_ok();
        }
        TokenAlgorithm::RS256 => (&RSA_PKCS1_2048_8192_SHA256, public_key("rs256.pub.pem", 24)),
        TokenAlgorithm::ES256 => (&ECDSA_P256_SHA256_FIXED, public_key("es256.pub.pem", 26)),
        TokenAlgorithm::EdDSA => (&ED25519, public_key("eddsa.pub.pem", 12)),
    };
    UnparsedPublicKey::new(law, key).verify(signed.as_bytes(), signature).is_ok()
}

#[test]
fn signatures_are_right_or_wrong_as_they_were_meant() {
    for (algorithm, name) in [
        (TokenAlgorithm::HS256, "HS256"),
        (TokenAlgorithm::RS256, "RS256"),
        (TokenAlgorithm::ES256, "ES256"),
        (TokenAlgorithm::EdDSA, "EdDSA"),
    ] {
        let plan = TokenMaker {
            key_id: Some("k1".into()),
            expired: Some(0.3),
            badly_signed: Some(0.3),
            ..maker(algorithm)
        };
        let mut kinds = std::collections::BTreeSet::new();
        for (token, kind) in all(&start(&plan), 20) {
            let (header, claims, signed, signature) = parts(&token);
            assert_eq!(header, serde_json::json!({"alg": name, "typ": "JWT", "kid": "k1"}));
            assert_eq!(
                verifies(algorithm, signed, &signature),
                kind != TokenKind::BadlySigned,
                "{name} {kind:?}"
            );
            assert_eq!(
                claims["exp"].as_u64().unwrap() < NOW_S,
                kind == TokenKind::Expired,
                "{name} {claims}"
            );
            kinds.insert(kind);
        }
        assert_eq!(kinds.len(), 3, "{name}");
    }
}

/// RFC 7515, appendix A.1: the same text and key give the same signature.
#[test]
fn hs256_is_that_of_the_standard() {
    let signed = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &decode(key));
    let signature = URL_SAFE_NO_PAD.encode(ring::hmac::sign(&key, signed.as_bytes()));
    assert_eq!(signature, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
}

#[test]
fn shares_and_lives_over_ten_thousand_tokens() {
    let plan = TokenMaker {
        expired: Some(0.1),
        badly_signed: Some(0.05),
        pool: Some(10_000),
        ..maker(TokenAlgorithm::HS256)
    };
    let tokens = all(&start(&plan), 10_000);
    let count = |wanted| tokens.iter().filter(|(_, kind)| *kind == wanted).count() as f64;
    // Five standard deviations of a binomial count.
    assert!((count(TokenKind::Expired) - 1000.0).abs() < 5.0 * 900_f64.sqrt());
    assert!((count(TokenKind::BadlySigned) - 500.0).abs() < 5.0 * 475_f64.sqrt());
    let mut lives = Vec::new();
    for (token, kind) in &tokens {
        let (_, claims, _, _) = parts(token);
        let (issued, expires) = (claims["iat"].as_u64().unwrap(), claims["exp"].as_u64().unwrap());
        match kind {
            TokenKind::Expired => assert!(expires == NOW_S - 3600 && issued < expires),
            _ => assert_eq!(issued, NOW_S),
        }
        lives.push(expires - issued);
    }
    assert!(lives.iter().all(|life| (30..=300).contains(life)), "30 s to 5 min");
    let mean = lives.iter().sum::<u64>() as f64 / 10_000.0;
    assert!((mean - 165.0).abs() < 5.0 * 78.0 / 100.0, "uniform between the two: {mean}");
}

#[test]
fn claims_are_rendered_by_number() {
    let mut plan = maker(TokenAlgorithm::HS256);
    let claims = serde_json::json!({
        "sub": "user-${counter()}", "n": 3, "roles": ["r${id}", true], "deep": {"$${": "${id}"}, "q": "\"${id}\""
    });
    plan.claims = serde_json::from_value(claims).unwrap();
    let vars = [
        ("other", "1 / (counter() - counter())"),
        ("id", "uniform(1, 1000) + base"),
        ("base", "worker_counter()"),
    ];
    let tokens = start_with(&plan, &vars, || Duration::from_secs(NOW_S)).unwrap();
    for (number, (token, _)) in all(&tokens, 20).iter().enumerate() {
        let (_, claims, _, _) = parts(token);
        let id = claims["deep"]["$${"].as_str().unwrap();
        assert_eq!(claims["sub"], format!("user-{number}"));
        assert_eq!(
            (&claims["n"], &claims["roles"]),
            (&3.into(), &serde_json::json!([format!("r{id}"), true]))
        );
        assert_eq!(claims["q"], format!("\"{id}\""));
    }
}

#[test]
fn mistakes_name_their_key() {
    let check = |change: &dyn Fn(&mut TokenMaker), key: &str, cause: &str| {
        let mut plan = maker(TokenAlgorithm::HS256);
        change(&mut plan);
        let error = start_with(&plan, &[("w", "worker()")], || Duration::from_secs(NOW_S)).unwrap_err();
        assert!(error.key == key && error.cause.contains(cause), "{error}");
    };
    let claim = |text: &str| BTreeMap::from([("sub".to_owned(), Json::from(text))]);
    check(&|plan| plan.secret = None, "tokens.jwt", "exactly one");
    check(&|plan| plan.secret_env = Some("KEY".into()), "tokens.jwt", "exactly one");
    check(&|plan| plan.secret = Some(String::new()), "tokens.jwt", "the secret is empty");
    check(&|plan| plan.key_file = Some("x".into()), "tokens.jwt.key_file", "takes a secret");
    check(&|plan| plan.algorithm = TokenAlgorithm::ES256, "tokens.jwt.key_file", "takes a key file");
    let with_key = |plan: &mut TokenMaker, algorithm, file: Option<&str>| {
        (plan.algorithm, plan.secret, plan.key_file) = (algorithm, None, file.map(str::to_owned));
    };
    check(&|plan| with_key(plan, TokenAlgorithm::RS256, None), "tokens.jwt.key_file", "needs a private key");
    check(
        &|plan| with_key(plan, TokenAlgorithm::RS256, Some("no.pem")),
        "tokens.jwt.key_file",
        "No such file",
    );
    check(
        &|plan| with_key(plan, TokenAlgorithm::RS256, Some("es256.pem")),
        "tokens.jwt.key_file",
        "no key for RS256",
    );
    check(
        &|plan| with_key(plan, TokenAlgorithm::ES256, Some("eddsa.pem")),
        "tokens.jwt.key_file",
        "no key for ES256",
    );
    check(
        &|plan| with_key(plan, TokenAlgorithm::EdDSA, Some("eddsa.pub.pem")),
        "tokens.jwt.key_file",
        "`PUBLIC KEY`",
    );
    check(
        &|plan| with_key(plan, TokenAlgorithm::EdDSA, Some("../../Cargo.toml")),
        "tokens.jwt.key_file",
        "no PEM",
    );
    check(
        &|plan| plan.claims = BTreeMap::from([("exp".into(), 1.into())]),
        "tokens.jwt.claims.exp",
        "is set by prony",
    );
    check(&|plan| plan.claims = claim("${users.name}"), "tokens.jwt.claims.sub", "column 3: unknown feeder");
    check(&|plan| plan.claims = claim("${w}"), "tokens.jwt.claims.sub", "uses the worker");
    check(&|plan| plan.claims = claim("${1 / (counter() * 0)}"), "tokens.jwt.claims", "divides by zero");
    check(&|plan| plan.expired = Some(1.1), "tokens.jwt.expired", "from 0 to 1");
    check(
        &|plan| (plan.expired, plan.badly_signed) = (Some(0.6), Some(0.6)),
        "tokens.jwt.badly_signed",
        "exceed",
    );
    check(&|plan| plan.pool = Some(0), "tokens.jwt.pool", "1 to 1,000,000");
    check(&|plan| plan.expires_at_least = Some(Nanos(1)), "tokens.jwt.expires_at_least", "less than 1 s");
    check(
        &|plan| {
            (plan.expires_at_least, plan.expires_at_most) =
                (Some(Nanos(9_000_000_000)), Some(Nanos(8_000_000_000)));
        },
        "tokens.jwt.expires_at_least",
        "above the longest",
    );
    let mut from_env = maker(TokenAlgorithm::HS256);
    (from_env.secret, from_env.secret_env) = (None, Some("KEY".into()));
    let (token, _) = all(&start(&from_env), 1).remove(0);
    let (_, _, signed, signature) = parts(&token);
    assert!(verifies(TokenAlgorithm::HS256, signed, &signature));
}

#[test]
fn one_bound_of_lives_may_be_left_out() {
    let mut plan = maker(TokenAlgorithm::HS256);
    plan.expires_at_most = Some(Nanos(10_000_000_000));
    assert!(Law::new(&plan, "k").is_ok(), "shorter than the default of the other");
    (plan.expires_at_least, plan.expires_at_most) = (Some(Nanos(3_600_000_000_000)), None);
    assert!(Law::new(&plan, "k").is_ok(), "longer than the default of the other");
}

/// With lives of 5 s to 5 min, some tokens come within the margin (2.5 s) 200 s on: others take their places.
#[test]
fn tokens_about_to_expire_are_not_handed_out() {
    let plan = TokenMaker {
        expires_at_least: Some(Nanos(5_000_000_000)),
        expired: Some(0.2),
        pool: Some(200),
        ..maker(TokenAlgorithm::HS256)
    };
    let tokens = start(&plan);
    let mut view = tokens.views().remove(0);
    let expiries = |view: &View| -> Vec<(u64, TokenKind)> {
        let token = |place| view.hand_out(place).unwrap();
        (0..200).map(token).map(|(text, kind)| (parts(text).1["exp"].as_u64().unwrap(), kind)).collect()
    };
    let before = expiries(&view);
    view.refresh(Duration::from_secs(NOW_S + 200));
    let after = expiries(&view);
    let valid = |list: &[(u64, TokenKind)]| list.iter().filter(|(_, kind)| *kind == TokenKind::Valid).count();
    assert!(before.iter().any(|(expires, kind)| *kind == TokenKind::Valid && *expires < NOW_S + 202));
    assert!(after.iter().all(|(expires, kind)| *kind != TokenKind::Valid || *expires >= NOW_S + 202));
    assert_eq!(valid(&before), valid(&after), "the shares stay");
    view.refresh(Duration::from_secs(NOW_S + 1000));
    assert_eq!(expiries(&view), before, "where none is fresh, the old ones must do");
}

/// The real clock and lives of 1 s: a new generation comes by itself, with later expiries, until the end.
#[test]
fn pools_are_renewed_and_the_thread_ends() {
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let plan = TokenMaker {
        claims: BTreeMap::from([("jti".to_owned(), "${counter()}".into())]),
        expires_at_least: Some(Nanos(1_000_000_000)),
        expires_at_most: Some(Nanos(1_000_000_000)),
        ..maker(TokenAlgorithm::HS256)
    };
    let tokens = start_with(&plan, &[], now).unwrap();
    let mut view = tokens.views().remove(0);
    let first = view.hand_out(0).unwrap().0.to_owned();
    let begin = Instant::now();
    while view.hand_out(0).unwrap().0 == first && begin.elapsed() < Duration::from_secs(20) {
        view.refresh(now());
        std::thread::yield_now();
    }
    let (_, claims, _, _) = parts(view.hand_out(0).unwrap().0);
    assert_ne!(claims["jti"], "0", "numbers go on");
    // Ends only because the thread does.
    drop(tokens);
    assert!(view.hand_out(0).is_some(), "what a worker holds outlives the thread");
}

#[test]
fn requests_carry_tokens_and_say_which() {
    let mut scenario = plan(
        vec![
            entry("a", "GET", "/", &[("Authorization", "Bearer ${token('jwt')}")], ""),
            entry("b", "GET", "/b", &[], ""),
        ],
        &[],
    );
    scenario.folder = KEYS.to_owned();
    let bad = TokenMaker { badly_signed: Some(1.0), ..maker(TokenAlgorithm::HS256) };
    scenario.tokens =
        BTreeMap::from([("jwt".to_owned(), bad), ("idle".to_owned(), maker(TokenAlgorithm::EdDSA))]);
    let program = compile(&scenario).unwrap();
    assert_eq!(program.program().token_makers(), ["idle", "jwt"]);
    let one = made(&program, 1, 60);
    assert_eq!(made(&program, 2, 60), one, "the pool is shared by number");
    let mut maker = Maker::new(program.clone(), 0, 1);
    maker.refresh(SystemTime::now());
    let mut out = Vec::new();
    for n in 0..20 {
        let made = maker.make(n, None, &mut out).unwrap();
        let used = (made.entry == 0).then_some(crate::TokenUse { maker: 1, kind: TokenKind::BadlySigned });
        assert_eq!(made.token, used);
    }
    scenario.requests[0] = entry("a", "GET", "/${token('jtw')}", &[], "");
    let error = compile(&scenario).unwrap_err();
    assert!(error.cause.contains("unknown token maker `jtw`") && error.remedy.contains("`jwt`"), "{error}");
    assert_eq!(Outside::token(&mut Nothing, 0, &mut vec![]), Err(MakeCause::OutOfReach));
}
