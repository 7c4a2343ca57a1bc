//! Elements of a test plan and their properties, as JMeter 5 writes them: each element is followed by a `hashTree`
//! that holds what lies below it.
//!
//! Absent on purpose: what an element means.

use super::xml::Node;

/// An element of the plan with what lies below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    node: &'a Node,
    below: Option<&'a Node>,
}

/// The elements of a `hashTree`, enabled or not.
pub(super) fn elements(tree: &Node) -> impl Iterator<Item = Element<'_>> {
    let nodes = tree.children.iter().enumerate().filter(|(_, node)| node.tag != "hashTree");
    nodes.map(move |(place, node)| {
        let below = tree.children.get(place + 1).filter(|next| next.tag == "hashTree");
        Element { node, below }
    })
}

impl<'a> Element<'a> {
    /// Its class, such as `HTTPSamplerProxy`; of a plugin without its package.
    pub(super) fn kind(&self) -> &'a str {
        let tag = self.node.tag.as_str();
        tag.rsplit_once('.').map_or(tag, |(_, class)| class)
    }

    /// Class of its window, which tells some elements of one class apart.
    pub(super) fn window(&self) -> &'a str {
        let class = self.node.attribute("guiclass").unwrap_or_default();
        class.rsplit_once('.').map_or(class, |(_, class)| class)
    }

    pub(super) fn line(&self) -> usize {
        self.node.line
    }

    /// What its author called it.
    pub(super) fn name(&self) -> &'a str {
        self.node.attribute("testname").unwrap_or_default().trim()
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.node.attribute("enabled") != Some("false")
    }

    /// What lies below it and is enabled.
    pub(super) fn below(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        self.all_below().filter(Element::is_enabled)
    }

    /// What lies below it.
    pub(super) fn all_below(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        self.below.into_iter().flat_map(elements)
    }

    /// Its properties.
    pub(super) fn properties(&self) -> Properties<'a> {
        Properties(self.node)
    }

    /// A property that is a plain value, trimmed; `None` where it is empty, too.
    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        self.properties().value(key).map(str::trim).filter(|value| !value.is_empty())
    }

    /// Why an assertion or extractor cannot be kept because of what it looks at; `key` is where that stands. Nothing
    /// there means the answer itself.
    pub(super) fn looks_elsewhere(&self, key: &str) -> Option<&'static str> {
        match self.value(key) {
            Some("variable") => Some("it looks at a variable, and prony at answers"),
            Some("children") => Some("it looks at embedded resources, which are not loaded"),
            _ => None,
        }
    }

    /// A property that is yes or no.
    pub(super) fn is(&self, key: &str) -> bool {
        self.value(key) == Some("true")
    }
}

/// Properties of an element, or of a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Properties<'a>(&'a Node);

impl<'a> Properties<'a> {
    /// A plain value as it stands. `doubleProp` holds name and value as elements, the others as attribute and text.
    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        self.0.children.iter().find_map(|child| match child.tag.as_str() {
            "doubleProp" | "floatProp" | "FloatProperty" if child.attribute("name").is_none() => {
                let is_it = child.child("name").is_some_and(|name| name.text.trim() == key);
                child.child("value").filter(|_| is_it).map(|value| value.text.as_str())
            }
            tag if tag.ends_with("Prop") && child.children.is_empty() => {
                (child.attribute("name") == Some(key)).then_some(child.text.as_str())
            }
            _ => None,
        })
    }

    /// A property that has properties of its own.
    pub(super) fn part(&self, key: &str) -> Option<Properties<'a>> {
        let is_it = |child: &&Node| child.tag.ends_with("Prop") && child.attribute("name") == Some(key);
        self.0.children.iter().find(is_it).map(Properties)
    }

    /// The items of a collection.
    pub(super) fn items(&self, key: &str) -> impl Iterator<Item = Properties<'a>> + use<'a> {
        self.part(key).into_iter().flat_map(|part| part.0.children.iter().map(Properties))
    }

    /// The name that the item of a collection has.
    pub(super) fn name(&self) -> &'a str {
        self.0.attribute("name").unwrap_or_default()
    }

    /// The text of an item that is a plain value.
    pub(super) fn text(&self) -> &'a str {
        &self.0.text
    }

    /// The plain values that the item holds, in order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.0.children.iter().map(|child| child.text.as_str())
    }

    /// Where it stands.
    pub(super) fn line(&self) -> usize {
        self.0.line
    }
}
