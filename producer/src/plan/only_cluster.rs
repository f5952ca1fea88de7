//! Detection of a dataset whose items are all in one cluster.

use juror_types::item::Item;

/// The cluster that all selected items share, if they do.
#[derive(Debug, Default)]
pub(super) struct OnlyCluster {
    items: u64,
    name: Option<String>,
    /// True once an item has no cluster, or another one than the first.
    has_groups: bool,
}

impl OnlyCluster {
    pub(super) fn add(&mut self, item: &Item) {
        self.items += 1;
        if self.items == 1 {
            self.name.clone_from(&item.cluster);
        }
        self.has_groups |= item.cluster.is_none() || item.cluster != self.name;
    }

    /// Warning about several items that count as one observation.
    pub(super) fn warning(&self) -> Option<String> {
        let name = self.name.as_ref().filter(|_| self.items > 1 && !self.has_groups)?;
        Some(format!(
            "all {} items are in cluster {name:?}, so they count as one observation: metrics have \
             no interval, and a comparison of two runs stays inconclusive; leave `cluster` out of \
             the dataset, or name at least two clusters",
            self.items
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(clusters: &[Option<&str>]) -> Option<String> {
        let mut only = OnlyCluster::default();
        for cluster in clusters {
            only.add(&Item { cluster: cluster.map(str::to_owned), ..Item::default() });
        }
        only.warning()
    }

    #[test]
    fn several_items_in_one_cluster_are_warned_of() {
        let found = warning(&[Some("a"), Some("a"), Some("a")]).unwrap();
        assert!(found.starts_with("all 3 items are in cluster \"a\""), "{found}");
    }

    #[test]
    fn two_groups_need_no_warning() {
        for clusters in [
            &[][..],
            &[Some("a")],
            &[None, None],
            &[Some("a"), Some("b"), Some("a")],
            &[None, Some("a"), Some("a")],
            &[Some("a"), None],
        ] {
            assert_eq!(warning(clusters), None, "{clusters:?}");
        }
    }
}
