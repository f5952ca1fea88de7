//! The browser that draws generated code for measured evidence.

use super::{Check, bad, good, warning};
use juror_app::{
    rendering::{TestedRenderer, draw_test_page},
    settings::Settings,
};

/// Check of the browser by a test page. It is required only where it measures evidence.
pub async fn check(settings: &Settings) -> Check {
    let is_needed = !settings.evidence.mode.is_none() && settings.stages.render_command.is_empty();
    match draw_test_page(settings).await {
        Ok(TestedRenderer { browser, is_sandboxed: true }) => {
            good("renderer", format!("{browser} draws a test page, in its sandbox"))
        }
        Ok(TestedRenderer { browser, is_sandboxed: false }) => warning(
            "renderer",
            format!(
                "{browser} draws a test page, without its sandbox: this is root, or the system \
                 does not allow user namespaces"
            ),
        ),
        Err(error) if is_needed => bad("renderer", error.to_string()),
        Err(error) => warning("renderer", format!("{error}; only --evidence needs it")),
    }
}
