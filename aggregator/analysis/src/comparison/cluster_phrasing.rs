//! Sentences about likely clusters in a comparison.

use super::ClusterReading;

/// Clause about likely clusters for the end of a decision's reason, as in `; 120 of 120 items look
/// like 8 clusters (…) and are taken together; …`.
pub(crate) fn cluster_clause(reading: &ClusterReading) -> String {
    let (description, otherwise) = (reading.clusters.description(), reading.otherwise.name());
    match reading.used {
        true => format!(
            "; {description} and are taken together; as independent items the decision would be {otherwise}"
        ),
        false => {
            format!("; {description}: taken together, the decision would be {otherwise}")
        }
    }
}

/// The warning about likely clusters that are not declared.
pub(crate) fn cluster_warning(reading: &ClusterReading) -> String {
    let effect = reading.clusters.effect.as_ref();
    format!(
        "{}, and their changes differ between the clusters (design effect {:.1}): declare `cluster` \
         in the dataset{}",
        reading.clusters.description(),
        effect.map_or(1.0, |effect| effect.design_effect),
        match reading.used {
            true => "; until then the intervals take them together (likely_clusters = \"use\")",
            false => ", or the intervals are too narrow (likely_clusters = \"warn\")",
        }
    )
}
