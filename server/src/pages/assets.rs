//! Style sheet and script. Their names contain a digest, so that browsers can cache them forever.

use crate::problem::Problem;
use axum::{
    extract::Path,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use juror_report::html::{PICTURES_SCRIPT, STYLE};
use juror_types::id::Digest;
use std::sync::LazyLock;

/// A file that pages load.
pub struct Asset {
    name: String,
    media_type: &'static str,
    text: String,
}

/// Serves the file of a name.
pub async fn serve(Path(name): Path<String>) -> Result<Response, Problem> {
    let mut assets = [&STYLE_SHEET, &SCRIPT].into_iter();
    let Some(asset) = assets.find(|asset| asset.name == name) else {
        return Err(Problem::missing("There is no file of this name."));
    };
    let headers =
        [(CONTENT_TYPE, asset.media_type), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, asset.text.clone()).into_response())
}

/// Style sheet of the reports and the dashboard.
pub static STYLE_SHEET: LazyLock<Asset> = LazyLock::new(|| {
    let text = format!("{STYLE}\n{}", include_str!("dashboard.css"));
    Asset::new("dashboard", "css", "text/css; charset=utf-8", text)
});

/// Script of the dashboard.
pub static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let parts = [
        include_str!("live.js"),
        include_str!("overview.js"),
        include_str!("keys.js"),
        include_str!("slider.js"),
        PICTURES_SCRIPT,
    ];
    Asset::new("dashboard", "js", "text/javascript; charset=utf-8", parts.concat())
});

impl Asset {
    fn new(stem: &str, ending: &str, media_type: &'static str, text: String) -> Self {
        let digest = Digest::from_content(text.as_bytes()).to_string();
        let short: String = digest.chars().rev().take(12).collect();
        Self { name: format!("{stem}-{short}.{ending}"), media_type, text }
    }

    /// URL of the file.
    pub fn url(&self) -> String {
        format!("/assets/{}", self.name)
    }
}
