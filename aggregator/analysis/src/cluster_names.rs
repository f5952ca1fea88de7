//! Names of declared clusters, with a number for each.

use indexmap::IndexSet;

/// The declared clusters of items, numbered in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterNames(IndexSet<String>);

impl ClusterNames {
    /// The number of a cluster, which is new if the name did not occur before.
    pub(crate) fn number_of(&mut self, name: &str) -> usize {
        let known = self.0.get_index_of(name);
        known.unwrap_or_else(|| self.0.insert_full(name.to_owned()).0)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
