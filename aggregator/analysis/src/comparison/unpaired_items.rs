//! Items of the base that have no pair although the head's selection includes them.

use super::rule_findings::RuleFinding;
use crate::format::counted;

/// Name of the rule on unpaired items in `decided_by`.
const UNPAIRED_ITEMS: &str = "unpaired_items";
/// Maximum share of unpaired items without a warning.
const MAX_UNWARNED_SHARE: f64 = 0.1;
/// Maximum share of unpaired items of a comparison that can be *same* or *better*.
const MAX_SHARE: f64 = 0.5;

/// Numbers of the base's items with and without a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnpairedItems {
    /// Items with a pair, flaky ones that are left out included.
    pub(crate) paired: u64,
    /// Items with another input in the head.
    pub(crate) changed: u64,
    /// Items that are gone; zero where the head may have them still, since it is not finished or
    /// has a smaller selection.
    pub(crate) gone: u64,
}

impl UnpairedItems {
    /// True if the pairs are too few for the base's items to be *same* or *better*.
    pub(crate) fn exceeds(self) -> bool {
        self.share() > MAX_SHARE
    }

    /// The finding that makes a comparison at best inconclusive.
    pub(super) fn finding(self) -> Option<RuleFinding> {
        let Self { paired, changed, gone } = self;
        let all = counted(self.all(), "item");
        self.exceeds().then(|| RuleFinding {
            rule: UNPAIRED_ITEMS.to_owned(),
            headline: format!("{} of {all} changed or gone", self.count()),
            sentence: format!(
                "only {paired} of the base's {all} have a pair, fewer than half: {changed} have \
                 another input and {gone} are gone"
            ),
        })
    }

    /// Warning if the base is hardly comparable.
    pub(crate) fn warning(self) -> Option<String> {
        let Self { changed, gone, .. } = self;
        (self.share() > MAX_UNWARNED_SHARE).then(|| {
            format!(
                "{} of the base's {} have another input ({changed}) or are gone ({gone}): the base \
                 is hardly comparable; compare with a run of the present items",
                self.count(),
                counted(self.all(), "item")
            )
        })
    }

    fn count(self) -> u64 {
        self.changed + self.gone
    }

    fn share(self) -> f64 {
        self.count() as f64 / self.all().max(1) as f64
    }

    fn all(self) -> u64 {
        self.paired + self.count()
    }
}
