//! Items with large falls or rises of their score, and an exact test of falls against rises.

use super::sign_test::Directions;
use crate::metrics::round_stable;
use serde::Serialize;

/// Maximum rate at which the rule on fallen items decides *worse* for two exchangeable runs.
pub const FALLEN_FALSE_ALARMS: f64 = 0.025;

/// Items whose score fell or rose far from base to head; without a judge, those that pass a stage
/// (compilation, retrieval) in one of them alone.
///
/// The rule: *worse* if more than `max_share` of the pairs fell far, and an exact one-sided sign
/// test of falls against rises has a p-value of at most [`FALLEN_FALSE_ALARMS`]. Where base and
/// head are exchangeable, a far fall is as likely as a far rise, so that this is the rate of false
/// alarms at most, whatever the noise.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FallenItems {
    /// The change, as a share, above which a fall or rise is far.
    pub by: f64,
    /// True if items fall by failing a stage, since neither run has a judge; absent in JSON if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_stages: bool,
    /// Allowed share of pairs that fell far.
    pub max_share: f64,
    /// Pairs that are scored in both runs; without a judge, all.
    pub pairs: u64,
    /// Pairs that fell far.
    pub fell: u64,
    /// Pairs that rose far.
    pub rose: u64,
    /// Independent falls: single items, and clusters with more falls than rises.
    pub groups_fell: u64,
    /// Independent rises.
    pub groups_rose: u64,
    /// One-sided p-value of the sign test over the groups; `None` without a far fall or rise.
    pub p_value: Option<f64>,
    /// Maximum false-alarm rate of the rule.
    pub false_alarm_rate: f64,
    /// True if the rule decides *worse*.
    pub worse: bool,
}

impl FallenItems {
    /// The rule over this number of pairs, of which `far` fell or rose by more than `by`.
    pub(super) fn new(far: &Directions, pairs: u64, by: f64, max_share: f64) -> Self {
        let Directions { fell, rose, .. } = *far;
        let (groups_fell, groups_rose) = far.groups();
        let p_value = far.fall_p_value();
        let many = fell as f64 > max_share * pairs as f64;
        Self {
            by,
            by_stages: false,
            max_share,
            pairs,
            fell,
            rose,
            groups_fell,
            groups_rose,
            p_value: p_value.map(round_stable),
            false_alarm_rate: FALLEN_FALSE_ALARMS,
            worse: many && p_value.is_some_and(|p_value| p_value <= FALLEN_FALSE_ALARMS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fallen(falls: usize, rises: usize, pairs: u64, cluster: Option<usize>) -> FallenItems {
        let mut directions = Directions::default();
        (0..falls).for_each(|_| directions.add(false, cluster));
        (0..rises).for_each(|_| directions.add(true, cluster));
        FallenItems::new(&directions, pairs, 0.3, 0.01)
    }

    #[test]
    fn six_falls_without_a_rise_are_a_regression_and_five_are_not() {
        // 2⁻⁶ and 2⁻⁵, as SciPy's binomtest has them.
        let six = fallen(6, 0, 200, None);
        assert_eq!((six.worse, six.p_value), (true, Some(0.015_625)));
        let five = fallen(5, 0, 200, None);
        assert_eq!((five.worse, five.p_value), (false, Some(0.031_25)));
        assert!(!fallen(6, 0, 600, None).worse, "6 of 600 are not more than 1 %");
        assert!(!fallen(8, 3, 200, None).worse, "p = 0.113");
        let none = fallen(0, 0, 200, None);
        assert_eq!((none.worse, none.p_value), (false, None));
    }

    #[test]
    fn a_cluster_counts_once_by_its_net_direction() {
        let one = fallen(9, 2, 100, Some(0));
        assert_eq!((one.fell, one.rose), (9, 2));
        assert_eq!((one.groups_fell, one.groups_rose, one.worse), (1, 0, false));
        let even = fallen(2, 2, 100, Some(3));
        assert_eq!((even.groups_fell, even.groups_rose, even.p_value), (0, 0, None));
    }
}
