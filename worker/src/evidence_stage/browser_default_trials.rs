//! Search for the default styles of the browser that took a screenshot: the open page renders them,
//! and their fit is measured off the async threads.

use super::{css_pixels, pair::RenderedPair};
use juror_evidence::{DefaultsSearch, PageChange};
use juror_render::{OpenPage, RenderError, RenderedPage};
use juror_types::evidence::{BrowserDefault, Evidence, EvidenceSource};

/// A page with the default styles of another browser.
pub(super) struct PageWithDefaults {
    pub defaults: Vec<BrowserDefault>,
    /// Changes of the open page that apply them.
    pub changes: Vec<PageChange>,
    pub drawn: RenderedPage,
    pub pair: RenderedPair,
    pub evidence: Evidence,
}

/// The page with the defaults that explain the pair's difference, or most of it; none if the search
/// finds no such defaults.
///
/// # Errors
/// The page cannot be rendered any more.
pub(super) async fn explaining_defaults(
    page: &mut OpenPage<'_>,
    pair: &RenderedPair,
    mut search: DefaultsSearch,
) -> Result<Option<PageWithDefaults>, RenderError> {
    let mut best = None;
    while let Some(changes) = search.next_drawing() {
        let drawn = page.draw(&changes).await?;
        let drawn = css_pixels::in_css_pixels(drawn).await.ok_or_else(css_pixels::unreadable)?;
        let pair = RenderedPair::of_page(&pair.reference, &drawn).await?;
        let evidence = pair.measure(EvidenceSource::Browser).await?;
        let is_better;
        (search, is_better) = pair.add_to_search(search, &evidence).await?;
        if is_better {
            best = Some((changes, drawn, pair, evidence));
        }
    }
    let fitting = best.filter(|_| search.explains_most());
    Ok(fitting.map(|(changes, drawn, pair, evidence)| {
        let defaults = search.defaults();
        PageWithDefaults { defaults, changes, drawn, pair, evidence }
    }))
}
