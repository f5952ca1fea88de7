//! Items of one run that are not compared with the other: if there are too many, the pairs do not
//! represent the runs.

use super::rule_findings::RuleFinding;
use crate::format::counted;

/// Maximum share of the base's items that are not compared, without a warning.
const MAX_UNWARNED_SHARE: f64 = 0.1;
/// Maximum share of a run's items that are not compared, in a comparison that can be *same* or
/// *better*.
const MAX_SHARE: f64 = 0.5;
/// Maximum share of items whose input changed between the runs, in such a comparison.
const MAX_CHANGED_SHARE: f64 = 0.2;

/// Numbers of the items of two runs with and without a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnpairedItems {
    /// Items with a pair, including flaky ones, which the comparison leaves out.
    pub(crate) paired: u64,
    /// Items with another input in the head.
    pub(crate) changed: u64,
    /// Items of the base that are gone; 0 if the head is unfinished or has a smaller selection.
    pub(crate) gone: u64,
    /// Items of the head only.
    pub(crate) new: u64,
    /// Items with a pair that are scored in the head only.
    pub(crate) unscored_in_base: u64,
}

impl UnpairedItems {
    /// True if the pairs are too few for the head to be *same* or *better*.
    pub(crate) fn exceeds(self) -> bool {
        self.exceeds_in_base() || self.exceeds_in_head()
    }

    /// The finding that makes a comparison at best inconclusive.
    pub(super) fn finding(self) -> Option<RuleFinding> {
        let Self { paired, changed, gone, new, unscored_in_base } = self;
        let (headline, sentence) = if self.exceeds_in_base() {
            let all = counted(self.base_items(), "item");
            (
                format!("{} of {all} changed or gone", changed + gone),
                format!(
                    "only {paired} of the base's {all} have a pair: {changed} have another input and \
                     {gone} are gone"
                ),
            )
        } else {
            let all = counted(self.head_items(), "item");
            (
                format!("{} of {all} not compared", self.uncompared_in_head()),
                format!(
                    "only {} of the head's {all} are compared: {new} are not in the base, {changed} \
                     have another input there and {unscored_in_base} are not scored there",
                    self.head_items() - self.uncompared_in_head()
                ),
            )
        };
        let rule = "unpaired_items".to_owned();
        self.exceeds().then_some(RuleFinding { rule, headline, sentence })
    }

    /// Warning if the base is hardly comparable.
    pub(crate) fn warning(self) -> Option<String> {
        let Self { changed, gone, .. } = self;
        (self.base_share() > MAX_UNWARNED_SHARE).then(|| {
            format!(
                "{} of the base's {} have another input ({changed}) or are gone ({gone}): the base \
                 is hardly comparable; compare with a run of the present items",
                changed + gone,
                counted(self.base_items(), "item")
            )
        })
    }

    fn exceeds_in_base(self) -> bool {
        let changed = self.changed as f64 / self.base_items().max(1) as f64;
        self.base_share() > MAX_SHARE || changed > MAX_CHANGED_SHARE
    }

    fn exceeds_in_head(self) -> bool {
        self.uncompared_in_head() as f64 > MAX_SHARE * self.head_items() as f64
    }

    fn base_share(self) -> f64 {
        (self.changed + self.gone) as f64 / self.base_items().max(1) as f64
    }

    fn base_items(self) -> u64 {
        self.paired + self.changed + self.gone
    }

    fn head_items(self) -> u64 {
        self.paired + self.changed + self.new
    }

    fn uncompared_in_head(self) -> u64 {
        self.changed + self.new + self.unscored_in_base
    }
}
