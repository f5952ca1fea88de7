//! Distinct names in the results of a run: fingerprints of the model, endpoints, renderers.

use std::collections::BTreeSet;

/// Maximum number of names. The smallest ones are kept, so that equal sets of names stay equal in
/// any order of the results.
const MAX_NAMES: usize = 100;
/// Maximum number of names in a sentence.
const MAX_LISTED: usize = 8;

/// A bounded set of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DistinctNames(BTreeSet<String>);

impl DistinctNames {
    /// Adds a name.
    pub(crate) fn add(&mut self, name: &str) {
        if !self.0.contains(name) {
            self.0.insert(name.to_owned());
            if self.0.len() > MAX_NAMES {
                self.0.pop_last();
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The names in a sentence, the first few of many.
    pub(crate) fn listed(&self) -> String {
        let first: Vec<&str> = self.0.iter().take(MAX_LISTED).map(String::as_str).collect();
        match self.0.len().saturating_sub(MAX_LISTED) {
            0 => first.join(", "),
            more => format!("{} and {more} more", first.join(", ")),
        }
    }

    /// The names in their order.
    pub(crate) fn to_vec(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(numbers: impl Iterator<Item = usize>) -> DistinctNames {
        let mut names = DistinctNames::default();
        numbers.for_each(|number| names.add(&format!("name {number:04}")));
        names
    }

    #[test]
    fn sets_are_compared_as_a_whole_and_in_any_order() {
        assert_eq!(names(0..20), names((0..20).rev()));
        assert_eq!(names(0..500), names((0..500).rev()));
        assert_ne!(names(0..20), names(0..21));
        assert_eq!(names(0..500).len(), MAX_NAMES);
    }

    #[test]
    fn sentence_lists_the_first_of_many_names() {
        assert_eq!(names([1, 0, 1].into_iter()).listed(), "name 0000, name 0001");
        let many = names(0..11).listed();
        assert!(
            many.starts_with("name 0000, ") && many.ends_with("name 0007 and 3 more"),
            "{many}"
        );
    }
}
