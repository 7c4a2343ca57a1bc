//! Folded stacks as a tree for flame graphs that are drawn elsewhere.
//!
//! Invariants: a node's value is that of all stacks through it; what is left out because it is narrower than
//! [`NARROWEST`] of the whole, or deeper than [`DEPTH_MAX`], stays in its parent's value and so counts as the parent's
//! own; a tree has at most [`NODES_MAX`] nodes, for which narrow ones are left out until it has.

use crate::Folded;
use schema::page::FlameNode;
use std::collections::BTreeMap;

/// Share of the whole below which nobody can see a frame.
const NARROWEST: f64 = 0.001;
/// Frames above each other.
const DEPTH_MAX: usize = 100;
/// Most nodes.
const NODES_MAX: usize = 4_000;

/// A stack, or what is left of it below some frames, with its value.
type Stack<'a> = (&'a str, u64);
/// The stacks that go on with one frame, and the sum of their values.
type Group<'a> = (u64, Vec<Stack<'a>>);

/// The whole profile; the root is called `all`.
#[must_use]
pub fn tree(folded: &Folded) -> FlameNode {
    let stacks: Vec<Stack<'_>> = folded.stacks().collect();
    let total = folded.total();
    let mut narrowest = NARROWEST;
    loop {
        let mut left = NODES_MAX;
        let least = ((total as f64 * narrowest).ceil() as u64).max(1);
        if let Some(children) = children(&stacks, least, 0, &mut left) {
            return FlameNode { name: "all".to_owned(), value: total, children };
        }
        narrowest *= 2.0;
    }
}

/// The nodes below, of stacks whose frames above are taken off already; `None` where they would be too many.
fn children(stacks: &[Stack<'_>], least: u64, depth: usize, left: &mut usize) -> Option<Vec<FlameNode>> {
    if depth == DEPTH_MAX {
        return Some(Vec::new());
    }
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for (stack, value) in stacks.iter().filter(|(stack, _)| !stack.is_empty()) {
        let (frame, rest) = stack.split_once(';').unwrap_or((stack, ""));
        let group = groups.entry(frame).or_default();
        group.0 = group.0.saturating_add(*value);
        group.1.push((rest, *value));
    }
    let mut wide: Vec<_> = groups.into_iter().filter(|(_, (value, _))| *value >= least).collect();
    // Equal ones stay in the order of their names.
    wide.sort_by_key(|(_, (value, _))| std::cmp::Reverse(*value));
    *left = left.checked_sub(wide.len())?;
    let node = |(name, (value, rest)): (&str, Group<'_>)| {
        let children = children(&rest, least, depth + 1, left)?;
        Some(FlameNode { name: name.to_owned(), value, children })
    };
    wide.into_iter().map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::profile::ProfileUnit;

    fn nodes(node: &FlameNode) -> usize {
        1 + node.children.iter().map(nodes).sum::<usize>()
    }

    fn depth(node: &FlameNode) -> usize {
        1 + node.children.iter().map(depth).max().unwrap_or(0)
    }

    #[test]
    fn stacks_become_nodes_and_narrow_ones_count_as_their_callers_own() {
        let folded = crate::text::read(
            b"a 1000\na b;c 1\na;b 500\na;b;c 2500\na;tiny 3\nz 4000\n",
            ProfileUnit::CpuNs,
            1,
        );
        let tree = tree(&folded.unwrap());
        assert_eq!((tree.name.as_str(), tree.value), ("all", 8_004));
        let told: Vec<_> = tree.children.iter().map(|node| (&*node.name, node.value)).collect();
        assert_eq!(told, [("a", 4_003), ("z", 4_000)]);
        let below = &tree.children[0].children;
        assert_eq!((below.len(), &*below[0].name, below[0].value), (1, "b", 3_000));
        assert_eq!(below[0].children[0].value, 2_500);
    }

    #[test]
    fn hostile_profiles_have_small_trees() {
        let mut folded = Folded::new(ProfileUnit::CpuNs);
        let deep = vec!["f"; 200];
        folded.add(&deep, 10_000);
        for width in 0..20_000 {
            folded.add(&["w", &format!("x{}", width % 900), &format!("y{width}")], 40);
        }
        let tree = tree(&folded);
        assert!(nodes(&tree) <= NODES_MAX + 1, "{}", nodes(&tree));
        assert!(depth(&tree) <= DEPTH_MAX + 1);
        assert_eq!(super::tree(&Folded::new(ProfileUnit::CpuNs)).children, []);
        let mut huge = Folded::new(ProfileUnit::CpuNs);
        ["a", "b", "c"].iter().for_each(|name| huge.add(&[name], u64::MAX));
        assert!(super::tree(&huge).children.len() == 3);
    }
}
