//! Measurements of the item's code.

use juror_report::html::measured_facts;
use juror_types::evidence::EvidenceOutcome;
use maud::{Markup, html};

/// The section.
pub fn section(outcome: &EvidenceOutcome) -> Markup {
    html! {
        section.card aria-labelledby="measured" {
            h2 #measured { "Measured" }
            (measured_facts(outcome, None))
        }
    }
}
