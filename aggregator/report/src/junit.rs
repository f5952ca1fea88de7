//! The results as JUnit XML, which CI systems show as tests: one test case a result.

mod measured;
mod test_case;

use crate::{
    phrasing::{SIMULATED, endpoint, judged_part},
    sanitize::sanitize,
};
use juror_analysis::{format::decimals, run_facts::Coverage, run_report::Report};
use juror_journal::journal::RunFiles;
use juror_types::{
    outcome::JobResult,
    verdict::{Score, Verdict},
};
use std::io::{self, Write};
use test_case::{TestCase, test_case};

/// Writes one suite with a test case for each result. A result that did not pass is a failure; one
/// that could not be judged is an error; one that was not tried is skipped. All jobs without a
/// result are one more case, an error.
pub(crate) fn write(report: &Report, files: &RunFiles, out: &mut impl Write) -> io::Result<()> {
    let run = &report.run;
    let TestCounts { tests, failures, errors, skipped, seconds } =
        TestCounts::from_results(report, files)?;
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    let totals = format!(
        r#"tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}" time="{seconds:.3}""#
    );
    writeln!(
        out,
        r#"<testsuites name="juror" tests="{tests}" failures="{failures}" errors="{errors}" time="{seconds:.3}">"#
    )?;
    // The JUnit schema allows only times without a zone.
    let timestamp = run.created_at.get(..19).unwrap_or_default();
    let name = escaped(&format!("{}@{} {}", run.rubric.id, run.rubric.version, run.id));
    writeln!(out, r#"  <testsuite name="{name}" {totals} timestamp="{}">"#, escaped(timestamp))?;
    writeln!(out, "    <properties>")?;
    for (name, value) in properties(report) {
        writeln!(out, r#"      <property name="{name}" value="{}"/>"#, escaped(&value))?;
    }
    writeln!(out, "    </properties>")?;
    let groups = report.comparison.as_ref().map(|comparison| comparison.changes.group_of_items());
    let groups = groups.unwrap_or_default();
    for result in report.items.read(files)? {
        let result = result?;
        let change = groups.get(result.screenshot_id.as_str()).copied();
        write_case(report, &result, change, out)?;
    }
    write_missing_jobs(report, out)?;
    writeln!(out, "  </testsuite>\n</testsuites>")
}

/// Numbers of test cases by kind, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TestCounts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
    seconds: f64,
}

impl TestCounts {
    /// Writes these results; the totals precede the cases.
    fn from_results(report: &Report, files: &RunFiles) -> io::Result<Self> {
        let mut counts = Self::default();
        for result in report.items.read(files)? {
            let result = result?;
            counts.tests += 1;
            counts.seconds += seconds(&result);
            match test_case(report, &result) {
                TestCase::Passed => {}
                TestCase::Failure { .. } => counts.failures += 1,
                TestCase::Error(_) => counts.errors += 1,
                TestCase::Skipped => counts.skipped += 1,
            }
        }
        let missing = missing_jobs(report).count() as u64;
        counts.tests += missing;
        counts.errors += missing;
        Ok(counts)
    }
}

/// Facts of the whole suite.
fn properties(report: &Report) -> Vec<(&'static str, String)> {
    let run = &report.run;
    let judge = run.judge.as_ref().map_or("off", |judge| judge.model.as_str());
    let mut properties = vec![
        ("run", run.id.to_string()),
        ("dataset", run.dataset.path.clone()),
        ("judge", judge.to_owned()),
    ];
    properties.extend(endpoint(report).map(|endpoint| ("endpoint", endpoint)));
    properties.extend(judged_part(report).map(|part| ("judged_part", part)));
    properties.extend(report.verdict_checks.as_ref().map(|checks| {
        let count = format!("{} of {}", checks.contradictory, checks.verdicts);
        ("contradictory_verdicts", count)
    }));
    properties.extend(report.evidence.iter().flat_map(measured::properties));
    properties.extend(run.simulated.then(|| ("simulated", SIMULATED.to_owned())));
    properties
}

/// Writes the cases of the jobs without a result, so that a stopped run does not pass.
fn write_missing_jobs(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let class = escaped(&report.run.rubric.id);
    for (kind, message) in missing_jobs(report) {
        let message = escaped(&message);
        writeln!(out, r#"    <testcase name="{kind} jobs" classname="{class}" time="0.000">"#)?;
        writeln!(out, r#"      <error type="{kind}" message="{message}"/>"#)?;
        writeln!(out, "    </testcase>")?;
    }
    Ok(())
}

/// Kinds of jobs without a result, with a message for each.
fn missing_jobs(report: &Report) -> impl Iterator<Item = (&'static str, String)> {
    let Coverage { pending, unpublished, planned, .. } = report.coverage;
    let pending = (pending > 0).then(|| {
        let run = &report.run.id;
        ("pending", format!("{pending} of {planned} jobs have no result: resume run {run}"))
    });
    let unpublished = (unpublished > 0).then(|| {
        let message = format!("the run was cancelled before {unpublished} of {planned} jobs");
        ("unpublished", message)
    });
    pending.into_iter().chain(unpublished)
}

/// `change` is the change of the item since the baseline.
fn write_case(
    report: &Report,
    result: &JobResult,
    change: Option<&'static str>,
    out: &mut impl Write,
) -> io::Result<()> {
    let repeat = match report.run.repeat {
        1 => String::new(),
        _ => format!(" repeat {}", u64::from(result.repeat) + 1),
    };
    let group = result.item.cluster.as_ref().or(result.item.tags.first());
    let class = match group {
        Some(group) => format!("{}.{group}", report.run.rubric.id),
        None => report.run.rubric.id.clone(),
    };
    writeln!(
        out,
        r#"    <testcase name="{}{repeat}" classname="{}" time="{:.3}">"#,
        escaped(&result.screenshot_id),
        escaped(&class),
        seconds(result)
    )?;
    match test_case(report, result) {
        TestCase::Passed => {}
        TestCase::Skipped => {
            let reason = result.error.as_ref().map_or("not tried", |error| &error.message);
            writeln!(out, r#"      <skipped message="{}"/>"#, escaped(reason))?;
        }
        TestCase::Error(kind) => {
            let message = result.error.as_ref().map_or("", |error| &error.message);
            let message = escaped(message);
            writeln!(out, r#"      <error type="{}" message="{message}"/>"#, kind.name())?;
        }
        TestCase::Failure { kind, message } => {
            write!(out, r#"      <failure type="{kind}" message="{}">"#, escaped(&message))?;
            for issue in result.semantic.iter().flat_map(|verdict| &verdict.issues) {
                writeln!(out, "- {}", escaped(issue))?;
            }
            writeln!(out, "</failure>")?;
        }
    }
    write!(out, "      <system-out>")?;
    let change = change.map(|change| ("since_baseline", change.to_owned()));
    for (name, value) in facts(result).into_iter().chain(change) {
        writeln!(out, "{name}: {}", escaped(&value))?;
    }
    writeln!(out, "</system-out>\n    </testcase>")
}

/// Facts of one case beside its end.
fn facts(result: &JobResult) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("outcome", result.outcome.name().to_owned()),
        ("cost_usd", result.cost_usd.to_string()),
        ("attempts", result.attempts.to_string()),
    ];
    facts.extend(result.evidence.iter().flat_map(measured::facts));
    facts.extend(result.unmeasured.clone().map(|reason| ("unmeasured", reason)));
    if let Some(verdict) = result.verdict() {
        facts.push(("score", decimals(verdict.correctness(), 4)));
        facts.extend(grade(verdict).map(|grade| ("grade", grade.to_owned())));
        let rules: Vec<&str> = verdict.contradictions.iter().map(|rule| rule.name()).collect();
        facts.extend((!rules.is_empty()).then(|| ("contradictions", rules.join(", "))));
        let suspected = verdict.suspected_instructions.iter();
        facts.extend(suspected.map(|text| ("suspected_instructions", text.clone())));
        facts.extend(result.is_simulated().then(|| ("simulated", SIMULATED.to_owned())));
    }
    facts
}

fn grade(verdict: &Verdict) -> Option<&str> {
    match &verdict.score {
        Score::Groups { grade, .. } => Some(grade),
        Score::Sum { .. } => None,
    }
}

fn seconds(result: &JobResult) -> f64 {
    result.total_latency_ms as f64 / 1000.0
}

/// Text of others in XML. What XML 1.0 (section 2.2, `Char`) does not allow, and what turns the
/// reading direction, becomes a space.
fn escaped(text: &str) -> String {
    let shown = sanitize(text).replace(['\u{fffe}', '\u{ffff}'], " ");
    maud::html! { (shown) }.into_string()
}

#[cfg(test)]
mod tests;
