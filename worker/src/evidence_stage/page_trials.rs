//! Trials on an open page: a search proposes changes and measures off the async threads, the page
//! renders them.

use super::{
    css_pixels,
    rendered_pair::{RenderedPair, unfinished},
};
use juror_evidence::{DefaultsSearch, PageChange, Raster, RepairLimits, RepairSearch, Snapshot};
use juror_render::{OpenPage, RenderError, RenderedPage};
use juror_types::evidence::{BrowserDefault, Evidence, EvidenceSource};
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    task::spawn_blocking,
};

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

/// Adds the repairs found with at most this many renders of the page, which has these defaults, and
/// closes the page. A page that cannot be rendered ends the search with the repairs found so far.
pub(super) async fn with_repairs(
    mut page: OpenPage<'_>,
    defaults: &[PageChange],
    pair: &RenderedPair,
    evidence: Evidence,
    trials: usize,
) -> Result<Evidence, RenderError> {
    let (to_page, mut changes) = channel(1);
    let (to_search, drawings) = channel(1);
    let (pair, live) = (pair.clone(), LivePage { to_page, drawings });
    let searching = spawn_blocking(move || search(&pair, evidence, trials, live));
    while let Some(changes) = changes.recv().await {
        let drawn = match page.draw(&[defaults, &changes].concat()).await {
            Ok(drawn) => drawn,
            Err(error) => {
                // Dropping an unclosed page ends its browser.
                drop((page, to_search));
                let evidence = searching.await.map_err(unfinished)?;
                return Ok(Evidence { cut_short: error.may_pass(), ..evidence });
            }
        };
        if to_search.send(drawn).await.is_err() {
            break;
        }
    }
    page.close().await;
    searching.await.map_err(unfinished)
}

/// A live page for the search.
struct LivePage {
    to_page: Sender<Vec<PageChange>>,
    drawings: Receiver<RenderedPage>,
}

impl LivePage {
    fn draw(&mut self, changes: Vec<PageChange>) -> Option<(Raster, Snapshot)> {
        self.to_page.blocking_send(changes).ok()?;
        css_pixels::decoded(&self.drawings.blocking_recv()?)
    }
}

fn search(
    pair: &RenderedPair,
    mut evidence: Evidence,
    trials: usize,
    mut live: LivePage,
) -> Evidence {
    let Some(snapshot) = &pair.snapshot else { return evidence };
    let pictures = pair.pictures();
    let limits = RepairLimits { trials, ..RepairLimits::default() };
    let mut search = RepairSearch::new(&pictures, snapshot, limits);
    while let Some(changes) = search.next_drawing() {
        let Some((drawing, snapshot)) = live.draw(changes) else { break };
        let drawing = pair.reference.compressed(&drawing).unwrap_or(drawing);
        search.add_drawing(drawing, snapshot);
    }
    search.finish(&pictures, snapshot, &mut evidence);
    evidence
}
