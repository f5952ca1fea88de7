//! First steps where there is no run.

use juror_report::sanitize::harmless;
use maud::{Markup, html};

/// First steps where there is no run.
pub fn first_steps(title: &str) -> Markup {
    html! {
        section.card aria-labelledby="none" {
            h2 #none { (harmless(title)) }
            p { "See how it looks, at no cost, against a simulated judge:" }
            pre tabindex="0" { code { "juror demo" } }
            p { "Check your own dataset without a judge, which costs nothing either:" }
            pre tabindex="0" { code { "juror run DATASET" } }
            p { "Or " a href="/start" { "start a run from here" } "." }
        }
    }
}
