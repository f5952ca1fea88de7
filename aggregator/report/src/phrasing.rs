//! Phrases of reports for people, in whatever format.

use juror_analysis::{
    format::{counted, decimals, dollars, figure, grouped},
    history::{DeclineReport, DeclineState},
    metrics::{Provenance, Unit},
    run_facts::Coverage,
    run_report::Report,
};
use juror_types::{
    job::Judge, outcome::ErrorKind, reference::shown, run::DatasetRecord, usage::Money,
};

/// Mark in the heading and beside every score of a simulated run.
pub(crate) const SIMULATED: &str = "SIMULATED";

/// `2 of 5 scored (40%), 1 without output, 1 unscorable, 1 failed`.
pub fn coverage_text(coverage: &Coverage) -> String {
    let mut text = format!("{} of {} scored", grouped(coverage.scored), grouped(coverage.planned));
    if coverage.planned > 0 && !coverage.is_complete() {
        let share = coverage.scored as f64 / coverage.planned as f64;
        text.push_str(&format!(" ({})", figure(share, Unit::Share)));
    }
    for (count, outcome) in coverage.unscored() {
        text.push_str(&format!(", {} {outcome}", grouped(count)));
    }
    text
}

/// `$0.19 of a budget of $1.00`, `$1.20 of a budget of $1.00, which is exceeded`, `$0.19, no budget
/// set`.
pub fn spent_text(spent: Money, budget: Option<Money>) -> String {
    let budget = match budget {
        Some(budget) if spent > budget => {
            format!(" of a budget of {}, which is exceeded", dollars(budget))
        }
        Some(budget) => format!(" of a budget of {}", dollars(budget)),
        None => ", no budget set".to_owned(),
    };
    format!("{}{budget}", dollars(spent))
}

/// Items of a dataset that a run judges: `only tags=button`, `a random sample of 50 of 1,000 items
/// (seed 7)`, `the first 10 items`; empty for every item.
pub fn selection_texts(dataset: &DatasetRecord) -> Vec<String> {
    let mut texts: Vec<String> =
        dataset.filters.iter().map(|filter| format!("only {filter}")).collect();
    texts.extend(dataset.sample.map(|sample| {
        let items = sample.items.min(sample.of);
        let of = counted(sample.of, "item");
        let part = format!("a random sample of {} of {of} (seed {})", grouped(items), sample.seed);
        match sample.until_width {
            None => part,
            Some(width) => format!(
                "{part}, which grew until the score's interval was at most {width} wide or nothing \
                 was left to judge; intervals allow for the looks at it"
            ),
        }
    }));
    texts.extend(dataset.limit.map(|limit| format!("the first {}", counted(limit, "item"))));
    texts
}

/// Part of its dataset that a run judged; `None` for all of it.
pub fn judged_part(report: &Report) -> Option<String> {
    let mut texts = selection_texts(&report.run.dataset);
    texts.extend(report.coverage.errors.get(&ErrorKind::Budget).map(|unjudged| {
        format!(
            "only those judged before the budget ended, which left {} unjudged",
            counted(*unjudged, "job")
        )
    }));
    let Coverage { pending, planned, .. } = report.coverage;
    texts.extend((pending > 0).then(|| format!("{pending} of {planned} jobs have no result yet")));
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// `steady: CUSUM 3.2 of 8.6 over 12 runs since the anchor (90.1% over 20 runs, n-1 to n-20)`.
pub fn decline_text(decline: &DeclineReport, unit: Unit) -> String {
    let DeclineReport { anchor_runs, anchor_runs_wanted, runs_since, .. } = decline;
    let since = counted(*runs_since as u64, "run");
    let sum = match decline.cusum.zip(decline.limit) {
        Some((sum, limit)) => format!("CUSUM {} of {}", decimals(sum, 1), decimals(limit, 1)),
        None => String::new(),
    };
    let mean = decline.anchor_mean.map(|mean| figure(mean, unit)).unwrap_or_default();
    let names = match (&decline.anchor_first, &decline.anchor_last) {
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let anchor = format!("the anchor ({mean} over {anchor_runs} runs{names})");
    let text = match decline.state {
        DeclineState::Steady => format!("steady: {sum} over {since} since {anchor}"),
        DeclineState::Declining => format!(
            "declining for {}: {sum} over {since} since {anchor}",
            counted(decline.alarm_runs as u64, "run")
        ),
        DeclineState::AnchorIncomplete if anchor_runs == anchor_runs_wanted => {
            format!(
                "undecided: the anchor has its {anchor_runs} runs; the watch begins with the next run"
            )
        }
        DeclineState::AnchorIncomplete => {
            format!("undecided: the anchor has {anchor_runs} of {anchor_runs_wanted} runs")
        }
        DeclineState::AnchorMissing => {
            "undecided: no earlier run of this kind has the name in anchor_from".to_owned()
        }
        DeclineState::TooFewItems => {
            "undecided: too few items of this run have the figure".to_owned()
        }
    };
    match decline.left_out {
        0 => text,
        left_out => format!(
            "{text}; {} left out, with too few items or all verdicts from the cache",
            counted(left_out as u64, "run")
        ),
    }
}

/// `measured`, `judged` or `measured and judged`: origin of a metric's figure.
pub fn provenance_text(origin: Provenance) -> &'static str {
    match origin {
        Provenance::Measured => "measured",
        Provenance::Judged => "judged",
        Provenance::Both => "measured and judged",
    }
}

/// Meaning of the origins among these, each under the name that it is shown by.
pub(crate) fn legend(
    origins: impl Iterator<Item = Provenance> + Clone,
    shown: impl Fn(Provenance) -> String,
) -> String {
    let meanings = [
        (Provenance::Measured, "computed by a program"),
        (Provenance::Judged, "the opinion of the vision model"),
    ];
    let occurs =
        |one: Provenance| origins.clone().any(|origin| origin == one || origin == Provenance::Both);
    let meanings = meanings.into_iter().filter(|(origin, _)| occurs(*origin));
    let texts = meanings.map(|(origin, meaning)| format!("{}: {meaning}", shown(origin)));
    texts.collect::<Vec<_>>().join("; ")
}

/// `openai gpt-4o, temperature 0.1`.
pub(crate) fn judge_text(judge: &Judge) -> String {
    let temperature = judge.temperature.map(|value| format!(", temperature {value}"));
    format!("{} {}{}", judge.provider.name(), judge.model, temperature.unwrap_or_default())
}

/// `2026-11-21T02:03:15.123Z` as `2026-11-21 02:03 UTC`.
pub fn minutes(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => time.to_owned(),
    }
}

/// Endpoint of the judge, without possible secrets.
pub fn endpoint(report: &Report) -> Option<String> {
    report.run.base_url.as_deref().map(|url| shown(url).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_that_completes_the_anchor_is_undecided_until_the_next() {
        let text = |anchor_runs| {
            let state = DeclineState::AnchorIncomplete;
            let report = DeclineReport {
                state,
                anchor_runs,
                anchor_runs_wanted: 20,
                ..DeclineReport::default()
            };
            decline_text(&report, Unit::Share)
        };
        assert_eq!(text(19), "undecided: the anchor has 19 of 20 runs");
        assert_eq!(
            text(20),
            "undecided: the anchor has its 20 runs; the watch begins with the next run"
        );
    }
}
