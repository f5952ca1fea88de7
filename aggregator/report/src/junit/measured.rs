//! Measured evidence in a suite: counts as properties, facts of each test case.

use crate::regions::region_text;
use juror_analysis::{evidence_summary::EvidenceSummary, format::decimals};
use juror_types::evidence::EvidenceOutcome;

/// Counts of the measured evidence as properties of the suite.
pub(super) fn properties(summary: &EvidenceSummary) -> Vec<(&'static str, String)> {
    let EvidenceSummary { measured, differing, not_rendered, unmeasured, contradictory, .. } =
        summary;
    [
        ("evidence_measured", measured),
        ("evidence_differing", differing),
        ("evidence_not_rendered", not_rendered),
        ("evidence_unmeasured", unmeasured),
        ("evidence_contradictory_verdicts", contradictory),
    ]
    .map(|(name, count)| (name, count.to_string()))
    .into()
}

/// Facts of the measured evidence.
pub(super) fn facts(outcome: &EvidenceOutcome) -> Vec<(&'static str, String)> {
    match outcome {
        EvidenceOutcome::Failed { error } => {
            vec![("renders", "no".to_owned()), ("render_error", error.clone())]
        }
        EvidenceOutcome::Measured(evidence) => {
            let mut facts = vec![
                ("renders", "yes".to_owned()),
                ("pixels_equal", decimals(evidence.pixels_equal, 4)),
                ("ssim", decimals(evidence.ssim, 4)),
            ];
            facts.extend(evidence.regions.iter().map(|region| ("region", region_text(region))));
            facts
        }
    }
}
