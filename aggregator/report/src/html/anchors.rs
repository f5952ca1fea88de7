//! Anchors of the items that are shown in full.

use crate::html::page_plan::PagePlan;
use crate::sanitize::sanitize;
use juror_analysis::run_report::Report;
use maud::{Markup, html};
use std::collections::HashMap;

/// The first section of each item that is shown in full, by its id.
pub(super) struct Anchors<'a>(HashMap<&'a str, usize>);

impl<'a> Anchors<'a> {
    /// Anchors of this page.
    pub fn for_report(report: &'a Report, plan: &PagePlan) -> Self {
        let numbered = plan.in_full().iter().enumerate().rev();
        let item = |place: &u32| Some(report.items.id(report.items.number_at(*place)?));
        Self(numbered.filter_map(|(number, place)| Some((item(place)?, number))).collect())
    }

    /// An item's id, as a link if it is shown in full.
    pub fn link(&self, id: &str) -> Markup {
        html! {
            @match self.0.get(id) {
                Some(number) => { a href=(format!("#i{number}")) { bdi { (sanitize(id)) } } }
                None => { bdi { (sanitize(id)) } }
            }
        }
    }
}
