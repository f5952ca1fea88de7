//! Hints for an empty runs directory.

use juror_report::sanitize::sanitize;
use maud::{Markup, html};

/// Section with first commands.
pub fn first_steps(title: &str) -> Markup {
    html! {
        section.card aria-labelledby="none" {
            h2 #none { (sanitize(title)) }
            p { "Try it with a simulated judge, at no cost:" }
            pre tabindex="0" { code { "juror demo" } }
            p { "Run the free stages on your own dataset:" }
            pre tabindex="0" { code { "juror run DATASET" } }
            p { "Or " a href="/start" { "start a run from here" } "." }
        }
    }
}
