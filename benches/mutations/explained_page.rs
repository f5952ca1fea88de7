//! Page that is opened and explained as in the product.

use super::browser::BenchBrowser;
use juror_evidence::{
    DefaultsSearch, PageChange, Raster, RepairLimits, RepairSearch, Snapshot, ViewportSearch,
};
use juror_types::evidence::{Evidence, EvidenceSource};

/// Opens a page as the product does: in the viewport of the screenshot, or without the margin of
/// the screenshot if that fits better.
pub fn open_fitted(
    browser: &mut BenchBrowser,
    screenshot: &Raster,
    usual: [u32; 2],
    open: impl Fn(&mut BenchBrowser, [u32; 2]),
) {
    open(browser, usual);
    let (evidence, Snapshot { content, .. }, drawing) = measured(browser, screenshot, &[]);
    let mut search = ViewportSearch::new(screenshot, &drawing, &evidence, usual, content);
    let (mut opened, mut best) = (usual, usual);
    while let Some(viewport) = search.next_viewport() {
        opened = viewport;
        open(browser, viewport);
        let (evidence, snapshot, _) = measured(browser, screenshot, &[]);
        if search.add_fit(&evidence, snapshot.content) {
            best = viewport;
        }
    }
    if opened != best {
        open(browser, best);
    }
}

/// Evidence of the open page with changes, its elements, and its render.
pub fn measured(
    browser: &mut BenchBrowser,
    screenshot: &Raster,
    changes: &[PageChange],
) -> (Evidence, Snapshot, Raster) {
    let (drawing, snapshot) = browser.draw(changes);
    let pair = browser.pair(screenshot, &drawing);
    (pair.measure(EvidenceSource::Browser, Some(&snapshot)), snapshot, drawing)
}

/// Changes of the open page that give it the defaults of the screenshot's browser, if those explain
/// most of the difference.
pub fn other_defaults(browser: &mut BenchBrowser, screenshot: &Raster) -> Vec<PageChange> {
    let (drawing, snapshot) = browser.draw(&[]);
    let pair = browser.pair(screenshot, &drawing);
    let evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    let mut search = DefaultsSearch::new(&pair, &evidence, &snapshot);
    let mut best = Vec::new();
    while let Some(changes) = search.next_drawing() {
        let (drawing, snapshot) = browser.draw(&changes);
        let pair = browser.pair(screenshot, &drawing);
        let evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
        if search.add_fit(&pair, &evidence, &snapshot) {
            best = changes;
        }
    }
    if search.explains_most() { best } else { Vec::new() }
}

/// Evidence of the open page with its repairs, and the number of renders that they took.
pub fn explain(browser: &mut BenchBrowser, screenshot: &Raster) -> (Evidence, Snapshot, usize) {
    let defaults = other_defaults(browser, screenshot);
    let (drawing, snapshot) = browser.draw(&defaults);
    let pair = browser.pair(screenshot, &drawing);
    let mut evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    let mut search = RepairSearch::new(&pair, &snapshot, RepairLimits::default());
    while let Some(changes) = search.next_drawing() {
        let (drawing, snapshot) = browser.draw(&[defaults.as_slice(), &changes].concat());
        search.add_drawing(drawing, snapshot);
    }
    let drawn = search.drawn();
    search.finish(&pair, &snapshot, &mut evidence);
    (evidence, snapshot, drawn)
}
