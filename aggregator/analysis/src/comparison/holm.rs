//! Adjustment of p-values of multiple tests.

/// Holm's step-down adjustment (1979): the smallest of m p-values times m, the next times m − 1 and
/// so on, none smaller than the one before and none above 1. Tests without a p-value are skipped.
pub fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(position, p_value)| Some((position, (*p_value)?)))
        .collect();
    order.sort_by(|left, right| left.1.total_cmp(&right.1));
    let mut adjusted = vec![None; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, (position, p_value)) in order.iter().enumerate() {
        let factor = (order.len() - rank) as f64;
        largest = largest.max((p_value * factor).min(1.0));
        if let Some(place) = adjusted.get_mut(*position) {
            *place = Some(largest);
        }
    }
    adjusted
}
