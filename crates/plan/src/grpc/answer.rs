//! Checks of an answer's message, and what is taken from it: JSON pointers become numbers of fields, values are encoded as the
//! server encodes them.

use super::encode::{alone, field_of};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use schema::plan::{Encoded, MessageCapture, MessageCheck};
use schema::scenario::{Capture, Expect};
use schema::text::Problem;
use std::collections::BTreeMap;

/// Most checks of one call.
const CHECKS_MAX: usize = 1000;

/// The checks of a call whose answers are messages of this type; `at` is the key of what is expected.
///
/// # Errors
/// A field that the type does not have, or a value that the field cannot have.
pub(super) fn checks(
    expect: &Expect,
    kind: &MessageDescriptor,
    at: &str,
) -> Result<Vec<MessageCheck>, Problem> {
    let (has, equals) = (format!("{at}.message_has"), format!("{at}.message_equals"));
    let remedy = format!("name a field of the message {} as /name or /list/0/name", kind.full_name());
    let mut checks = Vec::new();
    for pointer in &expect.message_has {
        let found = place(kind, pointer).map_err(|cause| Problem::at(&has, cause, &*remedy))?;
        checks.push(found.check(format!("message_has {pointer}"), None));
    }
    for (pointer, value) in &expect.message_equals {
        let wrong = |cause: String| Problem::at(&equals, cause, &*remedy);
        let found = place(kind, pointer).map_err(wrong)?;
        if matches!(found.field.kind(), Kind::Message(_)) {
            return Err(wrong(format!("`{pointer}` is a message, which has no single value")));
        }
        let encoded =
            alone(&found.field, value.clone()).map_err(|cause| wrong(format!("`{pointer}`: {cause}")))?;
        let name = format!("message_equals {pointer} = {value}");
        if found.field.is_list() {
            // A field that is not there has its default value; an item that is not there has none.
            checks.push(found.check(name.clone(), None));
        }
        checks.push(found.check(name, Some(Encoded(encoded))));
    }
    if checks.len() > CHECKS_MAX {
        let cause = format!("there are more than {CHECKS_MAX} checks");
        return Err(Problem::at(&has, cause, "keep those that matter"));
    }
    Ok(checks)
}

/// What is taken from the message of an answer; `at` is the key of the request.
///
/// # Errors
/// A field that the type does not have, or that has no single value.
pub(super) fn captures(
    captures: &BTreeMap<String, Capture>,
    kind: &MessageDescriptor,
    at: &str,
) -> Result<Vec<MessageCapture>, Problem> {
    let taken =
        captures.iter().filter_map(|(name, capture)| Some((name, capture, capture.message.as_ref()?)));
    taken
        .map(|(name, capture, pointer)| {
            let wrong = |cause: String| {
                let remedy = format!("name a field of the message {} as /id or /list/0/id", kind.full_name());
                Problem::at(&format!("{at}.capture.{name}"), cause, remedy)
            };
            let Place { path, field } = place(kind, pointer).map_err(wrong)?;
            if matches!(field.kind(), Kind::Message(_)) {
                return Err(wrong(format!("`{pointer}` is a message, which has no single value")));
            }
            let names = match field.kind() {
                Kind::Enum(kind) => {
                    kind.values().map(|value| (value.number(), value.name().to_owned())).collect()
                }
                _ => BTreeMap::new(),
            };
            Ok(MessageCapture {
                name: name.clone(),
                path,
                kind: super::encode::scalar_kind(&field.kind()),
                names,
                implied: !field.supports_presence() && !field.is_list(),
                default: capture.default.clone(),
            })
        })
        .collect()
}

/// A place in a message.
struct Place {
    path: Vec<(u32, u32)>,
    /// The last field of the way.
    field: FieldDescriptor,
}

impl Place {
    fn check(&self, name: String, expected: Option<Encoded>) -> MessageCheck {
        let kind = self.field.kind();
        let kind = (!matches!(kind, Kind::Message(_))).then(|| super::encode::scalar_kind(&kind));
        MessageCheck { name, path: self.path.clone(), kind, expected }
    }
}

/// Where a pointer leads.
fn place(kind: &MessageDescriptor, pointer: &str) -> Result<Place, String> {
    let names = pointer.strip_prefix('/').ok_or_else(|| format!("`{pointer}` does not begin with /"))?;
    let mut names = names.split('/');
    let (mut within, mut path) = (Some(kind.clone()), Vec::new());
    let mut last = None;
    while let Some(name) = names.next() {
        let message =
            within.ok_or_else(|| format!("`{pointer}`: nothing is within `{}`", shown(last.as_ref())))?;
        let field = field_of(&message, name)?;
        if field.is_map() {
            return Err(format!("`{pointer}`: the field `{name}` is a map, which is not looked into"));
        }
        let index = match field.is_list() {
            false => 0,
            true => names.next().and_then(|index| index.parse().ok()).ok_or_else(|| {
                format!("`{pointer}`: the field `{name}` is a list; say which item, as {name}/0")
            })?,
        };
        path.push((field.number(), index));
        within = match field.kind() {
            Kind::Message(inner) => Some(inner),
            _ => None,
        };
        last = Some(field);
    }
    let field = last.ok_or_else(|| format!("`{pointer}` names no field"))?;
    Ok(Place { path, field })
}

fn shown(field: Option<&FieldDescriptor>) -> String {
    field.map_or_else(String::new, |field| field.name().to_owned())
}
