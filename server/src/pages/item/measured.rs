//! Measurements of the item's code.

use juror_report::html::measured_facts;
use juror_types::{evidence::EvidenceOutcome, finding::Finding};
use maud::{Markup, html};

/// The section; regions lead to the findings that cite them.
pub fn section(outcome: &EvidenceOutcome, findings: &[Finding]) -> Markup {
    html! {
        section.card aria-labelledby="measured" {
            h2 #measured { "Measured" }
            (measured_facts(outcome, findings, None))
        }
    }
}
