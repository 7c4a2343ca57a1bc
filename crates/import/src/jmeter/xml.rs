//! A JMX file as a tree of elements, each with its line.
//!
//! Invariants: size, depth, elements and attributes are bounded, so that no file takes more than some 200 MB of memory; a
//! document type is refused, so no entity but the five of XML and characters by number is ever replaced; whatever is malformed
//! is an error with its line.

use crate::error::{Problem, quoted};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

/// Largest file: plans with a thousand samplers have about 5 MB.
const BYTES_MAX: usize = 32 << 20;
/// Deepest element: JMeter nests an element twice for each controller.
const DEPTH_MAX: usize = 200;
/// Most elements and attributes together: a sampler has about a hundred.
const PARTS_MAX: usize = 1_000_000;
/// Most attributes of an element; JMeter writes five.
const ATTRIBUTES_MAX: usize = 64;

/// An element.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its name.
    pub(super) tag: String,
    /// Where its tag begins, from 1.
    pub(super) line: usize,
    attributes: Vec<(String, String)>,
    /// Its text; empty where it has elements.
    pub(super) text: String,
    /// Its elements.
    pub(super) children: Vec<Node>,
}

impl Node {
    /// An attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first element of this name.
    pub(super) fn child(&self, tag: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.tag == tag)
    }
}

/// The root of a document.
pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    if text.len() > BYTES_MAX {
        return Err(Problem::new(
            format!("the plan has {} MB, more than {} MB", text.len() >> 20, BYTES_MAX >> 20),
            "remove results and bodies from it in JMeter, or import a part of it",
        ));
    }
    let mut reader = Reader::from_str(text);
    let mut lines = Lines { text: text.as_bytes(), at: 0, line: 1 };
    let mut tree = Tree::default();
    loop {
        let line = lines.to(reader.buffer_position());
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => return Err(malformed(error.to_string()).at(lines.to(reader.error_position()))),
        };
        let done = matches!(event, Event::Eof);
        tree.take(event, line).map_err(|problem| problem.at(line))?;
        if done {
            return tree.root.ok_or_else(|| malformed("there is no element").at(line));
        }
    }
}

fn malformed(cause: impl std::fmt::Display) -> Problem {
    Problem::new(format!("this is no XML: {cause}"), "save the plan again in JMeter")
}

/// Counts lines up to places that only grow.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn to(&mut self, offset: u64) -> usize {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).clamp(self.at, self.text.len());
        self.line += self.text[self.at..offset].iter().filter(|byte| **byte == b'\n').count();
        self.at = offset;
        self.line
    }
}

/// What was read so far.
#[derive(Default)]
struct Tree {
    open: Vec<Node>,
    root: Option<Node>,
    /// Elements and attributes.
    parts: usize,
}

impl Tree {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), Problem> {
        match event {
            Event::Start(tag) => {
                let node = self.node(&tag, line)?;
                self.open.push(node);
                if self.open.len() > DEPTH_MAX {
                    let remedy = "a plan of JMeter never is: look at what made the file";
                    return Err(Problem::new(format!("elements are more than {DEPTH_MAX} deep"), remedy));
                }
            }
            Event::Empty(tag) => {
                let node = self.node(&tag, line)?;
                self.close(node)?;
            }
            Event::End(_) => {
                let node = self.open.pop().ok_or_else(|| malformed("an element ends that never began"))?;
                self.close(node)?;
            }
            Event::Text(text) => self.text(&text.xml10_content().map_err(malformed)?)?,
            Event::CData(text) => self.text(&text.xml10_content().map_err(malformed)?)?,
            Event::GeneralRef(reference) => {
                let text = replacement(&reference)?;
                self.text(&text)?;
            }
            Event::DocType(_) => {
                return Err(Problem::new(
                    "the file has a document type (<!DOCTYPE …>), which could replace entities",
                    "remove it: JMeter writes none",
                ));
            }
            Event::Eof => {
                if let Some(node) = self.open.pop() {
                    let cause = format!("{} of line {} does not end", quoted(&node.tag), node.line);
                    return Err(malformed(cause));
                }
            }
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
        }
        Ok(())
    }

    fn node(&mut self, tag: &BytesStart<'_>, line: usize) -> Result<Node, Problem> {
        self.count()?;
        let utf8 = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut attributes = Vec::new();
        let mut found = tag.attributes();
        // The check for doubles compares each with each; here they are few, and the first counts.
        for attribute in found.with_checks(false) {
            if attributes.len() == ATTRIBUTES_MAX {
                let cause = format!("an element has more than {ATTRIBUTES_MAX} attributes");
                return Err(Problem::new(cause, "save the plan again in JMeter, which writes five"));
            }
            self.count()?;
            let attribute = attribute.map_err(malformed)?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(malformed)?;
            attributes.push((utf8(attribute.key.as_ref()), value.into_owned()));
        }
        let tag = utf8(tag.name().as_ref());
        Ok(Node { tag, line, attributes, ..Node::default() })
    }

    fn count(&mut self) -> Result<(), Problem> {
        self.parts += 1;
        if self.parts <= PARTS_MAX {
            return Ok(());
        }
        let cause = format!("the plan has more than {PARTS_MAX} elements and attributes");
        Err(Problem::new(cause, "import a part of it"))
    }

    fn close(&mut self, mut node: Node) -> Result<(), Problem> {
        if !node.children.is_empty() {
            node.text = String::new();
        }
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None if self.root.is_some() => return Err(malformed("there is a second root element")),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Problem> {
        match self.open.last_mut() {
            Some(node) => node.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err(malformed("there is text outside of all elements")),
        }
        Ok(())
    }
}

/// What an entity or a character by its number stands for.
fn replacement(reference: &BytesRef<'_>) -> Result<String, Problem> {
    if let Some(character) = reference.resolve_char_ref().map_err(malformed)? {
        return Ok(character.to_string());
    }
    let name = reference.decode().map_err(malformed)?;
    match resolve_predefined_entity(&name) {
        Some(text) => Ok(text.to_owned()),
        None => Err(malformed(format!("there is no entity {}", quoted(&name)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (usize, String) {
        let problem = parse(text).expect_err(&text[..text.len().min(200)]);
        assert!(!problem.remedy.is_empty());
        (problem.line.unwrap_or_default(), problem.cause)
    }

    #[test]
    fn elements_have_their_lines_attributes_and_texts() {
        let text =
            "<?xml version=\"1.0\"?>\n<a x='1 &lt; 2'>\n  <b>c&amp;&#x41;<![CDATA[<d>]]></b>\n  <e/></a>\n";
        let root = parse(text).unwrap();
        assert_eq!((root.tag.as_str(), root.line, root.attribute("x")), ("a", 2, Some("1 < 2")));
        assert_eq!(root.text, "");
        let inner: Vec<_> =
            root.children.iter().map(|node| (node.tag.as_str(), node.line, &*node.text)).collect();
        assert_eq!(inner, [("b", 3, "c&A<d>"), ("e", 4, "")]);
        assert_eq!(root.child("e").map(|node| node.line), Some(4));
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_line() {
        for (text, line, cause) in [
            ("", 1, "no element"),
            ("{}", 1, "outside of all elements"),
            ("<a>\n<b>\n</a>", 3, "this is no XML"),
            ("<a>\n<b>\n", 3, "`b` of line 2 does not end"),
            ("<a>\n&nbsp;</a>", 2, "no entity `nbsp`"),
            ("<a/>\n<b/>", 2, "second root"),
            ("<a\nx=1/>", 1, "this is no XML"),
            ("<a>&#0;</a>", 1, "this is no XML"),
        ] {
            let found = refused(text);
            assert_eq!(found.0, line, "{text}: {}", found.1);
            assert!(found.1.contains(cause), "{text}: {}", found.1);
        }
    }

    #[test]
    fn hostile_files_are_refused_in_bounded_time_and_memory() {
        let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n <!ENTITY lol \"lol\">\n \
                    <!ENTITY lol2 \"&lol;&lol;\">\n]>\n<a>&lol2;</a>";
        assert!(refused(bomb).1.contains("document type"));
        let (line, cause) = refused(&"<a>\n".repeat(100_000));
        assert_eq!((line, cause.contains("200 deep")), (DEPTH_MAX + 1, true));
        for (part, parts) in [("<b/>", 1), ("<b c=''/>", 2)] {
            let many = format!("<a>{}</a>", part.repeat(PARTS_MAX / parts));
            assert!(refused(&many).1.contains("elements and attributes"));
        }
        let wide = format!("<a {}/>", "b=\"\" ".repeat(1_000_000));
        assert!(refused(&wide).1.contains("64 attributes"));
        let large = " ".repeat(BYTES_MAX + 1);
        assert!(refused(&large).1.contains("more than 32 MB"));
    }
}
