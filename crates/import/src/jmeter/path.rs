//! JSONPath as JSON pointers (RFC 6901), where it names one place.
//!
//! `$.a.b[0]['c d']` does; wildcards, filters, slices and `..` name many and have no pointer.

/// The pointer to the place that a path names.
pub(super) fn pointer(path: &str) -> Option<String> {
    let mut rest = path.trim().strip_prefix('$')?;
    let mut pointer = String::new();
    while !rest.is_empty() {
        let (name, after) = if let Some(inner) = rest.strip_prefix('[') {
            bracketed(inner)?
        } else {
            let inner = rest.strip_prefix('.')?;
            let end = inner.find(['.', '[']).unwrap_or(inner.len());
            let name = &inner[..end];
            let is_name = !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@'));
            is_name.then_some((name, &inner[end..]))?
        };
        pointer.push('/');
        pointer += &name.replace('~', "~0").replace('/', "~1");
        rest = after;
    }
    Some(pointer)
}

/// `0]` or `'name']`, and what follows.
fn bracketed(inner: &str) -> Option<(&str, &str)> {
    for quote in ['\'', '"'] {
        if let Some(inner) = inner.strip_prefix(quote) {
            let (name, after) = inner.split_once(quote)?;
            return after.strip_prefix(']').filter(|_| !name.contains('\\')).map(|after| (name, after));
        }
    }
    let (index, after) = inner.split_once(']')?;
    let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some((index, after))
}

#[cfg(test)]
mod tests {
    use super::pointer;

    #[test]
    fn paths_to_one_place_have_a_pointer() {
        for (path, wanted) in [
            ("$", Some("")),
            ("$.token", Some("/token")),
            ("$.items[0].id", Some("/items/0/id")),
            ("$['a b']['c/d~']", Some("/a b/c~1d~0")),
            ("$[\"x\"][12]", Some("/x/12")),
            (" $.user-id ", Some("/user-id")),
            ("$..id", None),
            ("$.items[*].id", None),
            ("$.items[-1]", None),
            ("$.items[?(@.a>1)]", None),
            ("$.items[0:2]", None),
            ("$.a.", None),
            ("$['a", None),
            ("token", None),
            ("", None),
            ("$.*", None),
            ("$.length()", None),
        ] {
            assert_eq!(pointer(path).as_deref(), wanted, "{path}");
        }
    }
}
