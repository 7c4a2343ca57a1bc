//! Cookies of one virtual user: names and values (RFC 6265).
//!
//! Invariants: bounded, whatever a target sets; nothing in a cookie can end the header field that carries it back.
//! Absent on purpose: domains, paths and dates. A user talks to one target, and loads are shorter than dates.

use std::fmt::Write as _;

/// Cookies of one jar; the oldest goes first. RFC 6265 §6.1 asks for at least 50 for each domain.
const COOKIES_MAX: usize = 50;
/// Name and value of one cookie; RFC 6265 §6.1 asks for at least 4096.
const COOKIE_BYTES_MAX: usize = 4096;

/// The cookies that one virtual user sends back: at most 50 of at most 4 KiB each, oldest first.
#[derive(Clone, Debug, Default)]
pub struct CookieJar {
    cookies: Vec<(String, String)>,
}

impl CookieJar {
    /// Takes a pair of [`super::Notes::cookies`]: replaces the cookie of that name, deletes it where the value is
    /// empty. A cookie of more than 4 KiB is ignored; the 51st drops the oldest.
    pub fn set(&mut self, name: &str, value: &str) {
        let place = self.cookies.iter().position(|(known, _)| known == name);
        if value.is_empty() {
            if let Some(place) = place {
                self.cookies.remove(place);
            }
            return;
        }
        if name.len() + value.len() > COOKIE_BYTES_MAX {
            return;
        }
        match place {
            Some(place) => {
                let held = &mut self.cookies[place].1;
                held.clear();
                held.push_str(value);
            }
            None => {
                if self.cookies.len() == COOKIES_MAX {
                    self.cookies.remove(0);
                }
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    /// Whether there is nothing to send back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Forgets all cookies, for the next user.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Appends the value of a `Cookie` field, `a=1; b=2`, to `out`; nothing where the jar is empty.
    pub fn render(&self, out: &mut String) {
        let mut separator = "";
        for (name, value) in &self.cookies {
            // Writing to a String cannot fail.
            let _ = write!(out, "{separator}{name}={value}");
            separator = "; ";
        }
    }
}

/// Name and value of a `Set-Cookie` field (RFC 6265 §5.2); an empty value where the cookie is to be deleted at once.
/// None for what is no cookie, or could not stand in a header field.
pub(super) fn parse_set_cookie(field: &[u8]) -> Option<(&str, &str)> {
    let field = std::str::from_utf8(field).ok()?;
    let mut parts = field.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let (name, value) = (name.trim_matches([' ', '\t']), value.trim_matches([' ', '\t']));
    if name.is_empty() || name.chars().chain(value.chars()).any(char::is_control) {
        return None;
    }
    // The last attribute of a name counts (RFC 6265 §5.3).
    let is_over = parts
        .filter_map(max_age)
        .next_back()
        .is_some_and(|seconds| seconds.starts_with('-') || is_zero(seconds));
    Some((name, if is_over { "" } else { value }))
}

/// The value of a valid Max-Age attribute (RFC 6265 §5.2.2).
fn max_age(attribute: &str) -> Option<&str> {
    let (name, value) = attribute.split_once('=')?;
    let value = value.trim();
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (name.trim().eq_ignore_ascii_case("max-age") && is_number).then_some(value)
}

fn is_zero(digits: &str) -> bool {
    digits.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_do() {
        for (field, expected) in [
            (&b"sid=abc; Path=/; HttpOnly"[..], Some(("sid", "abc"))),
            (b" a = b c ;x", Some(("a", "b c"))),
            (b"a=b=c", Some(("a", "b=c"))),
            (b"a=\"q\"", Some(("a", "\"q\""))),
            (b"a=", Some(("a", ""))),
            (b"a=1; Max-Age=0", Some(("a", ""))),
            (b"a=1; max-age = -5", Some(("a", ""))),
            (b"a=1; Max-Age=60", Some(("a", "1"))),
            (b"a=1; Max-Age=", Some(("a", "1"))),
            (b"a=1; Max-Age=0; Max-Age=9", Some(("a", "1"))),
            (b"a=1; Max-Age=99999999999999999999999", Some(("a", "1"))),
            (b"no cookie", None),
            (b"=x", None),
            (b"", None),
            (b"a=1\r\n X: y", None),
            (b"a=\xff", None),
        ] {
            assert_eq!(parse_set_cookie(field), expected, "{}", String::from_utf8_lossy(field));
        }
    }

    #[test]
    fn the_jar_replaces_deletes_and_is_bounded() {
        let mut jar = CookieJar::default();
        let render = |jar: &CookieJar| {
            let mut text = String::new();
            jar.render(&mut text);
            text
        };
        assert_eq!(render(&jar), "");
        for (name, value) in [("a", "1"), ("b", "2"), ("c", "3"), ("a", "4"), ("b", ""), ("unknown", "")] {
            jar.set(name, value);
        }
        assert_eq!(render(&jar), "a=4; c=3");
        jar.set("long", &"x".repeat(COOKIE_BYTES_MAX));
        assert_eq!(render(&jar), "a=4; c=3", "a cookie of more than 4 KiB is ignored");
        (0..COOKIES_MAX).for_each(|n| jar.set(&format!("n{n}"), "v"));
        assert!(render(&jar).starts_with("n0=v; n1=v; "), "{}", render(&jar));
        assert_eq!(render(&jar).matches('=').count(), COOKIES_MAX);
        jar.clear();
        assert!(jar.is_empty());
    }
}
