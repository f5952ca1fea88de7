//! Frame of the page: head with its security policy, the run's facts, foot.

use crate::{
    document::{Level, Topic},
    phrasing::{SIMULATED, minutes},
    sanitize::sanitize,
};
use juror_analysis::run_facts::RunSummary;
use juror_types::id::Digest;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of the page, light and dark.
pub const STYLE: &str = include_str!("page.css");
const SCRIPT: &str =
    concat!(include_str!("page.js"), include_str!("heat_map.js"), include_str!("pictures.js"));

/// The script that lays a screenshot over its render and maps their differences.
pub const PICTURES_SCRIPT: &str = concat!(include_str!("heat_map.js"), include_str!("pictures.js"));

/// Class of the style sheet for a decision of this level.
pub fn class_of(level: Level) -> &'static str {
    match level {
        Level::Good => "met",
        Level::Plain | Level::Faint | Level::Doubtful => "undecided",
        Level::Bad => "missed",
    }
}

/// Everything before the figures, `content` under the title of the report's head. The elements that
/// it opens are closed by [`closing`].
pub(super) fn opening(run: &RunSummary, head: &Topic, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy());
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="referrer" content="no-referrer";
            meta name="color-scheme" content="light dark";
            title { (head.title) " · " (sanitize(run.id.as_str())) }
            style { (PreEscaped(STYLE)) }
        }
        (PreEscaped("<body>"))
        a.skip href="#items" { "Skip to the items" }
        header.page {
            h1 { (head.title) @if head.simulated { " " (simulated()) } }
            (content)
        }
        (PreEscaped("<main>"))
    }
}

/// Everything after the last item.
pub(super) fn closing(run: &RunSummary) -> Markup {
    html! {
        (PreEscaped("</main>"))
        footer {
            p {
                "Written by Juror " (sanitize(&run.program_version)) ", "
                time datetime=(run.finished_at) { (minutes(&run.finished_at)) } "."
                " Intervals are at 95 %; jobs that failed or could not be scored enter no average."
                " Everything is in this file: it loads nothing."
            }
        }
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    }
}

/// Mark of simulated content.
pub fn simulated() -> Markup {
    html! { strong.simulated { (SIMULATED) } }
}

/// Content security policy that permits only the page's own style and script, and only embedded
/// images.
pub(super) fn policy() -> String {
    let hash = |text: &str| {
        base64_simd::STANDARD.encode_to_string(Digest::from_content(text.as_bytes()).as_bytes())
    };
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}
