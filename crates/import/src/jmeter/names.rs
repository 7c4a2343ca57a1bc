//! Names of which no two are alike.

use std::collections::{HashMap, HashSet};

/// Names that are given out.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// How often each base was asked for, so that equal ones do not cost ever more tries.
    asked: HashMap<String, usize>,
}

impl Names {
    /// `base`, or with a number behind the separator where that name is taken.
    pub(super) fn fresh(&mut self, base: String, separator: char) -> String {
        let asked = self.asked.entry(base.clone()).or_default();
        loop {
            *asked += 1;
            let name = if *asked == 1 { base.clone() } else { format!("{base}{separator}{asked}") };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Names::default();
        let given = ["a", "a_2", "a", "b", "a"].map(|base| names.fresh(base.to_owned(), '_'));
        assert_eq!(given, ["a", "a_2", "a_3", "b", "a_4"]);
    }
}
