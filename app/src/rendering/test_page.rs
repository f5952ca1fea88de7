//! Test page of shapes that verifies that a browser renders, and renders reproducibly.

use super::renderer;
use crate::settings::Settings;
use futures_util::future::BoxFuture;
use juror_image::RgbPixels;
use juror_render::{PageCode, PageSource, RenderError, Renderer, RendererError, RendererSettings};
use juror_types::id::Digest;
use serde_json::Map;

/// Shapes only: text would depend on the fonts of the machine.
const TEST_PAGE: &str = r#"<!doctype html>
<title>test</title>
<style>
  body { margin: 0; background: #f8fafc }
  div { position: absolute; width: 120px; height: 72px; box-sizing: border-box }
  .gradient { left: 20px; top: 16px; background: linear-gradient(135deg, #1d4ed8, #f97316) }
  .round { left: 180px; top: 16px; border: 3px solid #0f172a; border-radius: 18px; background: #16a34a }
  .clear { left: 20px; top: 112px; border-radius: 50%; background: rgb(220 38 38 / 50%) }
  .turned { left: 180px; top: 112px; transform: rotate(9deg); background: #7c3aed }
</style>
<div class="gradient"></div><div class="round"></div><div class="clear"></div><div class="turned"></div>
"#;

/// Browser that rendered the expected pixels, by name and major version.
pub const TEST_BROWSER: &str = "Chromium 156";
/// SHA-256 of the page's pixels, each as red, green and blue.
const TEST_PIXELS: &str = "e097dbc566dece2dc4fa49a50aca572ad5abe03860a0a75f66b13efedc142161";

/// Browser that has rendered the test page twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestedRenderer {
    /// Name and version.
    pub browser: String,
    /// Reason why pages run without its sandbox; `None` in it.
    pub unsandboxed_reason: Option<String>,
    /// Number of installed fonts; `None` if the system does not list them.
    pub fonts: Option<usize>,
    /// Comparison of the two renders with each other and with the expected pixels.
    pub result: TestRender,
}

/// Result of rendering the test page twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestRender {
    /// Both renders have the expected pixels.
    Expected,
    /// The renders are equal, with other pixels than those of [`TEST_BROWSER`].
    OtherPixels,
    /// The renders differ from each other.
    Unstable,
}

/// Starts the browser and renders the test page twice.
///
/// # Errors
/// There is no browser, or it does not draw.
pub fn render_test_page(settings: &Settings) -> BoxFuture<'_, Result<TestedRenderer, RenderError>> {
    Box::pin(async move {
        let settings = RendererSettings { concurrency: 1, ..renderer(settings) };
        let renderer = Renderer::start(settings).await?;
        let renders = [pixels(&renderer).await?, pixels(&renderer).await?];
        renderer.shut_down().await;
        Ok(TestedRenderer {
            browser: renderer.browser().to_owned(),
            unsandboxed_reason: renderer.unsandboxed_reason().map(str::to_owned),
            fonts: renderer.fonts(),
            result: compare(&renders),
        })
    })
}

fn compare([first, second]: &[Digest; 2]) -> TestRender {
    match first == second {
        false => TestRender::Unstable,
        true if first.to_string() == TEST_PIXELS => TestRender::Expected,
        true => TestRender::OtherPixels,
    }
}

/// Digest of the pixels of a render of the test page.
async fn pixels(renderer: &Renderer) -> Result<Digest, RenderError> {
    let (code, props) = (PageCode::Html(TEST_PAGE.to_owned()), Map::new());
    let source = PageSource { code, props, frame: None, viewport: [320, 200], scale: 1 };
    let mut page = renderer.open(&source).await?;
    let drawn = page.draw(&[]).await?;
    page.close().await;
    let picture = RgbPixels::decode(&drawn.picture).map_err(|error| {
        RendererError::Ended(format!("its picture of the test page cannot be read: {error}"))
    })?;
    Ok(Digest::from_content(picture.pixels.as_flattened()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_are_compared_with_each_other_and_with_the_expected_pixels() {
        let expected = TEST_PIXELS.parse::<Digest>().unwrap();
        let [one, other] = [Digest::from_content(b"one"), Digest::from_content(b"other")];
        assert_eq!(compare(&[expected, expected]), TestRender::Expected);
        assert_eq!(compare(&[one, one]), TestRender::OtherPixels);
        assert_eq!(compare(&[expected, other]), TestRender::Unstable);
    }
}
