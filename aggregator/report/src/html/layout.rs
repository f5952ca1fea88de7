//! Frame of the page: head with its security policy, the run's facts, foot.

use crate::{
    phrasing::{SIMULATED, endpoint, selection_texts},
    sanitize::harmless,
};
use juror_analysis::run_report::Report;
use juror_types::id::Digest;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of the page, light and dark.
pub const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("pictures.js"));

/// The script that lays a screenshot over its render.
pub const PICTURES_SCRIPT: &str = include_str!("pictures.js");

/// Everything before the headline. The elements that it opens are closed by [`closing`].
pub(super) fn opening(report: &Report) -> Markup {
    let run = &report.run;
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy());
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="referrer" content="no-referrer";
            meta name="color-scheme" content="light dark";
            title { (title(report)) " · " (harmless(run.id.as_str())) }
            style { (PreEscaped(STYLE)) }
        }
        (PreEscaped("<body>"))
        a.skip href="#items" { "Skip to the items" }
        header.page {
            h1 { (title(report)) @if run.simulated { " " (simulated()) } }
            p.facts { @for fact in run_facts(report) { span { bdi { (fact) } } " " } }
            @if run.simulated {
                p.notice { "Every score on this page was made up by the simulator. None is a judgement." }
            }
        }
        (PreEscaped("<main>"))
    }
}

/// Everything after the last item.
pub(super) fn closing(report: &Report) -> Markup {
    html! {
        (PreEscaped("</main>"))
        footer {
            p {
                "Written by Juror " (harmless(&report.run.program_version)) ", "
                time datetime=(report.run.finished_at) { (minutes(&report.run.finished_at)) } "."
                " Intervals are at 95 %; jobs that failed or could not be scored enter no average."
                " Everything is in this file: it loads nothing."
            }
        }
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    }
}

/// The mark beside what the simulator made up.
pub fn simulated() -> Markup {
    html! { strong.simulated { (SIMULATED) } }
}

/// Only this page's own style and script are obeyed, and only pictures inside it are shown.
pub(super) fn policy() -> String {
    let hash =
        |text: &str| base64_simd::STANDARD.encode_to_string(Digest::of(text.as_bytes()).as_bytes());
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn title(report: &Report) -> &'static str {
    match report.run.judge {
        Some(_) => "Evaluation with a judge",
        None => "Evaluation without a judge",
    }
}

/// Facts of the run: dataset, rubric, judge, when.
pub fn run_facts(report: &Report) -> Vec<String> {
    let run = &report.run;
    let mut facts = vec![format!("run {}", run.id), run.dataset.path.clone()];
    facts.push(format!("{}@{}: {}", run.rubric.id, run.rubric.version, report.rubric.title));
    match &run.judge {
        Some(judge) => {
            let temperature =
                judge.temperature.map_or(String::new(), |value| format!(", temperature {value}"));
            let (provider, detail) = (judge.provider.name(), judge.detail.name());
            facts.push(format!("{provider} {}{temperature}, detail {detail}", judge.model));
            facts.extend(endpoint(report));
        }
        None => facts.push("judge off".to_owned()),
    }
    facts.extend(selection_texts(&run.dataset));
    if run.repeat > 1 {
        facts.push(format!("each judged {} times", run.repeat));
    }
    facts.push(minutes(&run.created_at));
    facts.iter().map(|fact| harmless(fact)).collect()
}

/// `2026-11-21T02:03:15.123Z` as `2026-11-21 02:03 UTC`.
pub fn minutes(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => time.to_owned(),
    }
}
