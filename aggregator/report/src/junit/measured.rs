//! Measured evidence in a suite: counts as properties, facts of each test case.

use crate::regions::region_text;
use juror_analysis::{evidence_summary::EvidenceSummary, format::decimals};
use juror_types::evidence::EvidenceOutcome;

/// Counts of the measured evidence as properties of the suite.
pub(super) fn properties(summary: &EvidenceSummary) -> [(&'static str, String); 7] {
    [
        ("evidence_measured", summary.measured),
        ("evidence_differing", summary.differing),
        ("evidence_not_rendered", summary.not_rendered),
        ("evidence_unmeasured", summary.unmeasured),
        ("evidence_contradictory_verdicts", summary.contradictory),
        ("evidence_pasted_screenshots", summary.pasted),
        ("evidence_cut_short", summary.cut_short),
    ]
    .map(|(name, count)| (name, count.to_string()))
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
            let holds = [
                ("pastes_screenshot", evidence.pastes_screenshot),
                ("evidence_cut_short", evidence.cut_short),
            ];
            let holds = holds.into_iter().filter(|(_, holds)| *holds);
            facts.extend(holds.map(|(name, _)| (name, "yes".to_owned())));
            facts.extend(evidence.regions.iter().map(|region| ("region", region_text(region))));
            facts
        }
    }
}
