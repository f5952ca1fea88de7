//! Links between the pages of a table.

use juror_analysis::format::grouped;
use maud::{Markup, html};

/// Links to the previous and next pages.
pub fn pager(number: usize, pages: usize, address: &dyn Fn(usize) -> String) -> Markup {
    html! {
        @if pages > 1 {
            nav.pager aria-label="Pages of this table" {
                @if number > 1 {
                    a href=(address(1)) { "First" }
                    a href=(address(number - 1)) rel="prev" { "Previous" }
                }
                span { "Page " (grouped(number as u64)) " of " (grouped(pages as u64)) }
                @if number < pages {
                    a href=(address(number + 1)) rel="next" { "Next" }
                    a href=(address(pages)) { "Last" }
                }
            }
        }
    }
}
