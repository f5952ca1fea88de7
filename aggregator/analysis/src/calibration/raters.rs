//! Agreement of people with each other, an upper bound of the judge's agreement with them.

use super::{bootstrap::Groups, figure::Figure};
use crate::repeats::Judgments;
use serde::{Deserialize, Serialize};

/// Agreement of people with each other on one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaterAgreement {
    /// Maximum number of ratings of an item.
    pub raters: u64,
    /// Number of items with at least two ratings.
    pub items: u64,
    /// Krippendorff's alpha for interval data.
    pub alpha: Figure,
}

impl RaterAgreement {
    /// The agreement of each item's ratings, with the items' clusters.
    pub(super) fn from_ratings(ratings: &[Vec<f64>], clusters: &[Option<usize>]) -> Self {
        let rated = ratings.iter().zip(clusters).filter(|(ratings, _)| ratings.len() > 1);
        let (several, clusters): (Vec<&Vec<f64>>, Vec<Option<usize>>) = rated.unzip();
        let alpha_of = |times: &[u32]| {
            let mut judgments = Judgments::default();
            for (ratings, times) in several.iter().zip(times) {
                (0..*times).for_each(|_| judgments.add(ratings));
            }
            [judgments.agreement().alpha]
        };
        let raters = ratings.iter().map(|ratings| ratings.len() as u64).max().unwrap_or_default();
        let alpha = match alpha_of(&vec![1; several.len()]) {
            _ if several.is_empty() => Figure::unknown("no item was rated by two people"),
            [None] => Figure::unknown("all ratings are equal"),
            value => {
                let [alpha] = Groups::from_clusters(&clusters).intervals(value, alpha_of);
                alpha
            }
        };
        Self { raters, items: several.len() as u64, alpha }
    }
}
