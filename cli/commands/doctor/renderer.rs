//! Check of the browser that renders generated code for measured evidence.

use super::{Check, bad, good, warning};
use juror_app::{
    rendering::test_page::{TEST_BROWSER, TestRender, TestedRenderer, render_test_page},
    settings::Settings,
};

/// Check of the browser by a test page that it renders twice. It is required only where it measures
/// evidence.
pub async fn check(settings: &Settings) -> Check {
    let is_needed = !settings.evidence.mode.is_none() && settings.stages.render_command.is_empty();
    let fault = |reason: String| match is_needed {
        true => bad("renderer", reason),
        false => warning("renderer", format!("{reason}; only --evidence needs it")),
    };
    let tested = match render_test_page(settings).await {
        Ok(tested) => tested,
        Err(error) => return fault(error.to_string()),
    };
    let TestedRenderer { browser, unsandboxed_reason, result, .. } = &tested;
    let doubts = [
        (*result == TestRender::OtherPixels).then(|| {
            format!(
                "each time the same, with other pixels than {TEST_BROWSER}: pictures that other \
                 browser versions drew may differ slightly"
            )
        }),
        unsandboxed_reason.as_ref().map(|fault| format!("without its sandbox: {fault}")),
        font_doubt(tested.fonts),
    ];
    let doubts: Vec<String> = doubts.into_iter().flatten().collect();
    match (result, doubts.is_empty()) {
        (TestRender::Unstable, _) => fault(format!(
            "{browser} renders the same page with other pixels each time, so that evidence would be \
             noise; set render.browser to another Chromium"
        )),
        (_, true) => good("renderer", format!("{}, in its sandbox", drawn(&tested))),
        (_, false) => warning("renderer", format!("{}; {}", drawn(&tested), doubts.join("; "))),
    }
}

fn drawn(tested: &TestedRenderer) -> String {
    let TestedRenderer { browser, fonts, result, .. } = tested;
    let expected = match result {
        TestRender::Expected => " with the expected pixels",
        _ => "",
    };
    let fonts = fonts.map(|count| format!(", has {count} fonts")).unwrap_or_default();
    format!("{browser} renders a test page{expected}{fonts}")
}

fn font_doubt(fonts: Option<usize>) -> Option<String> {
    match fonts {
        Some(0) => Some("text is not drawn: install fonts, as in fonts-liberation".to_owned()),
        Some(_) => None,
        None => Some(
            "its fonts are not known, so kept pictures survive a change of them: install \
             fontconfig (fc-list)"
                .to_owned(),
        ),
    }
}
