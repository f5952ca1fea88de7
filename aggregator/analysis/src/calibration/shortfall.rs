//! Requirements of a calibrated judge, and why a calibration does not meet them.

use super::{Calibration, CriterionCalibration, Figure, figure::SAME_RESAMPLED};

/// Minimum number of labeled items of a calibrated judge.
const MIN_ITEMS: u64 = 20;

/// Kappa above which the whole interval must lie: the upper end of "fair" agreement, above which
/// Landis and Koch (1977, "The measurement of observer agreement for categorical data", Biometrics
/// 33, page 165) call it moderate.
const MIN_KAPPA: f64 = 0.4;

impl Calibration {
    /// Reason for an insufficient calibration: fewer than 20 items, or a kappa whose 95 % interval
    /// is not above 0.40. The total score decides, or, if people did not rate it, the first rated
    /// criterion.
    pub fn shortfall(&self) -> Option<String> {
        let Some(rated) = self.decisive() else {
            return Some(format!(
                "no item has both a score and a label, and {MIN_ITEMS} are needed; label some"
            ));
        };
        let n = rated.agreement.n;
        if n < MIN_ITEMS {
            let items = if n == 1 { "item has" } else { "items have" };
            return Some(format!(
                "{n} {items} a score and a label, and {MIN_ITEMS} are needed; label more"
            ));
        }
        kappa_shortfall(&rated.agreement.weighted_kappa)
    }

    /// True if it rests on the items that a calibrated judge needs, whatever their agreement.
    pub fn has_enough_items(&self) -> bool {
        self.decisive().is_some_and(|rated| rated.agreement.n >= MIN_ITEMS)
    }

    fn decisive(&self) -> Option<&CriterionCalibration> {
        self.all().find(|each| each.agreement.n > 0)
    }
}

fn kappa_shortfall(kappa: &Figure) -> Option<String> {
    let (Some(value), Some(low), Some(high)) = (kappa.value, kappa.low, kappa.high) else {
        // Full agreement has no spread: judge and people are at the same step in every item.
        let is_full = kappa.value == Some(1.0) && kappa.reason.as_deref() == Some(SAME_RESAMPLED);
        let reason = kappa.reason.as_deref().unwrap_or("the labels do not suffice");
        return (!is_full).then(|| format!("kappa has no interval: {reason}"));
    };
    let figure = format!("kappa is {value:.2} [{low:.2}, {high:.2}]");
    if low > MIN_KAPPA {
        None
    } else if high < 0.0 {
        Some(format!(
            "{figure}: judge and people agree less than by chance; check that the labels are of \
             these items and on the same scale"
        ))
    } else if low <= 0.0 {
        Some(format!("{figure}, which does not exclude that judge and people agree by chance"))
    } else if value > MIN_KAPPA {
        Some(format!(
            "{figure}, and the whole interval must lie above {MIN_KAPPA:.2} (moderate agreement); \
             label more items"
        ))
    } else {
        Some(format!(
            "{figure}, which is better than chance but below {MIN_KAPPA:.2} (moderate agreement); \
             sharpen the rubric, or take another model"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_interval_must_lie_above_moderate_agreement() {
        let of = |value, low, high| kappa_shortfall(&Figure::with_interval(value, low, high));
        assert_eq!(of(0.7, 0.45, 0.9), None);
        for (shortfall, word) in [
            (of(0.7, 0.4, 0.9), "label more items"),
            (of(0.05, 0.03, 0.06), "better than chance but below 0.40"),
            (of(0.6, -0.1, 0.8), "does not exclude that judge and people agree by chance"),
            (of(-0.03, -0.05, -0.02), "agree less than by chance"),
        ] {
            let shortfall = shortfall.unwrap();
            assert!(shortfall.contains(word), "{shortfall}");
        }
    }

    #[test]
    fn full_agreement_suffices_with_zero_variance() {
        let of = |value, reason| kappa_shortfall(&Figure::without_interval(value, reason));
        assert_eq!(of(1.0, SAME_RESAMPLED), None);
        assert!(of(0.0, SAME_RESAMPLED).is_some());
        assert!(of(1.0, "its interval needs 10 items").unwrap().contains("needs 10 items"));
    }
}
