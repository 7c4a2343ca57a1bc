//! Whether the requests of a scenario can carry the header of a trace.

use super::ProgramError;
use schema::plan::ScenarioPlan;
use units::TraceContext;

/// Why a load of this scenario cannot send a `traceparent` of its own; `None` where it can.
#[must_use]
pub fn untraceable(plan: &ScenarioPlan) -> Option<ProgramError> {
    if plan.script.is_some() {
        let cause = "a script writes its own requests, and a trace needs a header in each";
        return Some(ProgramError::new("script", cause, "leave the traces or the script out"));
    }
    let is_own = |(name, _): &(String, String)| name.eq_ignore_ascii_case(TraceContext::HEADER);
    let index = plan.requests.iter().position(|entry| entry.request.headers.iter().any(is_own))?;
    let name = &plan.requests[index].name;
    let cause = format!("the request `{name}` has a header traceparent, and the load would add its own");
    let remedy = "leave the header out, or send no traces";
    Some(ProgramError::new(format!("requests.{index}.headers.{}", TraceContext::HEADER), cause, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::{entry, made, plan};
    use crate::{Framed, Program};
    use schema::plan::ScriptPlan;
    use std::sync::Arc;
    use units::Tracing;

    fn scenario(headers: &[(&str, &str)]) -> ScenarioPlan {
        plan(vec![entry("only", "GET", "/", headers, "")], &[])
    }

    #[test]
    fn every_request_carries_the_trace_of_its_number_whatever_the_number_of_workers() {
        let tracing = Tracing::new(9, 0.5);
        let program = Program::traced(&scenario(&[("A", "b")]), "h:1", 42, Some(tracing)).unwrap();
        let framed = Framed::new(&Arc::new(program)).unwrap();
        let alone = made(&framed, 1, 64);
        assert_eq!(alone, made(&framed, 8, 64));
        for (number, bytes) in (0..).zip(&alone) {
            let trace = tracing.context(number);
            let text = format!("GET / HTTP/1.1\r\nHost: h:1\r\nA: b\r\ntraceparent: {trace}\r\n\r\n");
            assert_eq!(String::from_utf8_lossy(bytes), text);
        }
    }

    #[test]
    fn a_header_of_the_users_own_and_a_script_are_refused_with_traces_only() {
        let own = scenario(&[("TraceParent", "00-x")]);
        let scripted = ScenarioPlan { script: Some(ScriptPlan::default()), ..scenario(&[]) };
        for (plan, said) in [(own, "header traceparent"), (scripted, "script")] {
            assert!(Program::compile(&plan, "h", 1).is_ok());
            let error = Program::traced(&plan, "h", 1, Some(Tracing::new(1, 0.0))).unwrap_err();
            assert!(error.cause.contains(said) && error.remedy.contains("leave"), "{error:?}");
        }
    }
}
