//! Conversion of renders at two device pixels per CSS pixel to CSS pixels: a screenshot of twice the
//! size is halved in the same way, so that equal pages stay equal.

use juror_evidence::{Raster, Snapshot};
use juror_image::RgbPixels;
use juror_render::{RenderedPage, RendererError};
use tokio::task::spawn_blocking;

/// Render in CSS pixels; `None` if its image cannot be decoded, or while the process ends.
pub(super) async fn in_css_pixels(drawn: RenderedPage) -> Option<RenderedPage> {
    if !is_double(&drawn.snapshot) {
        return Some(drawn);
    }
    let halving = spawn_blocking(move || {
        let (raster, snapshot) = decoded(&drawn)?;
        let (width, height, pixels) = (raster.width(), raster.height(), raster.into_pixels());
        let picture = RgbPixels { width, height, pixels }.to_png()?.into();
        Some(RenderedPage { picture, snapshot, ..drawn })
    });
    halving.await.ok()?
}

/// Pixels and elements of a render in CSS pixels; `None` if its image cannot be decoded.
pub(super) fn decoded(drawn: &RenderedPage) -> Option<(Raster, Snapshot)> {
    let picture = RgbPixels::decode(&drawn.picture).ok()?;
    let raster = Raster::from_pixels(picture.width, picture.height, picture.pixels)?;
    let snapshot = drawn.snapshot.clone();
    Some(match is_double(&snapshot) {
        true => (raster.halved(), Snapshot { scale: 1.0, ..snapshot }),
        false => (raster, snapshot),
    })
}

/// Error of a browser whose image cannot be decoded.
pub(super) fn unreadable() -> RendererError {
    RendererError::Ended("its picture of the page cannot be read".to_owned())
}

fn is_double(snapshot: &Snapshot) -> bool {
    snapshot.scale > 1.5
}
