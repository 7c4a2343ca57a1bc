//! What a right answer is: status sets spelled out, files read, contradictions reported.

use super::read;
use schema::plan::{BodyExpectation, ExpectPlan};
use schema::scenario::{Expect, StatusItem};
use schema::text::Problem;
use std::path::Path;

/// `at` is the key of the table; `is_template` tells that requests differ, so that no two answers need be equal.
pub(super) fn plan(
    expect: &Expect,
    at: &str,
    is_template: bool,
    folder: &Path,
) -> Result<ExpectPlan, Problem> {
    if !expect.grpc_status.is_empty() {
        let key = format!("{at}.grpc_status");
        return Err(Problem::at(&key, "only calls of gRPC have this status", "give `status` instead"));
    }
    if !expect.message_has.is_empty() || !expect.message_equals.is_empty() {
        let cause = "only calls of gRPC have messages";
        return Err(Problem::at(at, cause, "give `json_has` and `json_equals` instead"));
    }
    let body = body(expect, at, folder)?;
    if is_template && matches!(body, BodyExpectation::Json(_)) {
        let cause = "requests from a template have no answer that always comes again";
        return Err(Problem::at(at, cause, "use json_equals, json_has, contains or regex instead of json"));
    }
    if expect.sample.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        return Err(Problem::at(
            &format!("{at}.sample"),
            "this share cannot be",
            "give one above 0, at most 1",
        ));
    }
    let headers =
        expect.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    Ok(ExpectPlan {
        status: status(&expect.status, at)?,
        headers,
        body,
        length: expect.length,
        contains: expect.contains.clone(),
        regex: expect.regex.clone(),
        json_has: expect.json_has.clone(),
        json_equals: expect
            .json_equals
            .iter()
            .map(|(pointer, value)| (pointer.clone(), value.clone()))
            .collect(),
        sha256: expect.sha256.as_ref().map(|text| text.to_ascii_lowercase()),
        sample: expect.sample,
    })
}

/// What the answer to a call must be besides its status of gRPC; `at` is the key of the table.
pub(super) fn of_call(expect: &Expect, at: &str) -> Result<ExpectPlan, Problem> {
    let Expect { status, headers, .. } = expect;
    if !status.is_empty() {
        let cause = "calls of gRPC always have the status 200 of HTTP";
        return Err(Problem::at(&format!("{at}.status"), cause, "give `grpc_status` instead"));
    }
    let of_calls = Expect {
        headers: headers.clone(),
        grpc_status: expect.grpc_status.clone(),
        message_has: expect.message_has.clone(),
        message_equals: expect.message_equals.clone(),
        ..Expect::default()
    };
    if *expect != of_calls {
        let cause = "the answer to a call has no other checks than of status, header fields and message";
        let remedy = "keep `grpc_status`, `headers`, `message_has` and `message_equals`";
        return Err(Problem::at(at, cause, remedy));
    }
    let headers = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    Ok(ExpectPlan { status: vec![200], headers, ..ExpectPlan::default() })
}

fn status(items: &[StatusItem], at: &str) -> Result<Vec<u16>, Problem> {
    let mut codes = Vec::new();
    for item in items {
        let (from, to) = range(item).ok_or_else(|| {
            let shown = match item {
                StatusItem::Code(code) => code.to_string(),
                StatusItem::Range(text) => format!("`{text}`"),
            };
            let remedy =
                "give codes from 100 to 999, a class such as \"2xx\", or a range such as \"200-299\"";
            Problem::at(&format!("{at}.status"), format!("{shown} is no status code"), remedy)
        })?;
        codes.extend(from..=to);
    }
    codes.sort_unstable();
    codes.dedup();
    Ok(codes)
}

fn range(item: &StatusItem) -> Option<(u16, u16)> {
    let (from, to) = match item {
        StatusItem::Code(code) => (*code, *code),
        StatusItem::Range(text) => match (text.strip_suffix("xx"), text.split_once('-')) {
            (Some(class), _) => {
                let class: u16 = class.parse().ok().filter(|class| (1..=9).contains(class))?;
                (class * 100, class * 100 + 99)
            }
            (None, Some((from, to))) => (from.trim().parse().ok()?, to.trim().parse().ok()?),
            (None, None) => {
                let code = text.parse().ok()?;
                (code, code)
            }
        },
    };
    (from <= to && from >= 100 && to <= 999).then_some((from, to))
}

fn body(expect: &Expect, at: &str, folder: &Path) -> Result<BodyExpectation, Problem> {
    let given = [expect.body.is_some(), expect.json.is_some(), expect.json_file.is_some()];
    if given.into_iter().filter(|given| *given).count() > 1 {
        return Err(Problem::at(at, "the body is expected twice", "keep one of body, json, json_file"));
    }
    let key = format!("{at}.json_file");
    Ok(match (&expect.body, &expect.json, &expect.json_file) {
        (Some(text), _, _) => BodyExpectation::Exact(text.clone()),
        (_, Some(text), _) => BodyExpectation::Json(json(text.as_bytes(), &format!("{at}.json"))?),
        (_, _, Some(file)) => BodyExpectation::Json(json(&read(folder, file, &key)?, &key)?),
        _ => BodyExpectation::Any,
    })
}

pub(super) fn json(text: &[u8], key: &str) -> Result<serde_json::Value, Problem> {
    serde_json::from_slice(text)
        .map_err(|error| Problem::at(key, format!("not JSON: {error}"), "mend the JSON text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_items_spell_out_classes_and_ranges() {
        let of = |items: &[StatusItem]| status(items, "expect");
        let text = |text: &str| StatusItem::Range(text.to_owned());
        assert_eq!(of(&[StatusItem::Code(204), text("200-202"), text("201")]).unwrap(), [200, 201, 202, 204]);
        assert_eq!(of(&[text("3xx")]).unwrap(), (300..400).collect::<Vec<u16>>());
        for wrong in [
            StatusItem::Code(99),
            StatusItem::Code(1000),
            text("xx"),
            text("0xx"),
            text("300-200"),
            text("ok"),
        ] {
            let problem = of(std::slice::from_ref(&wrong)).unwrap_err();
            assert!(problem.cause.ends_with("is no status code"), "{wrong:?}: {problem:?}");
        }
    }
}
