//! Head of a report: decision, run and warnings.

use super::gate;
use crate::{
    document::{Block, Level, Topic},
    phrasing::{coverage_text, endpoint, judge_text, minutes, selection_texts},
};
use juror_analysis::{gate::GateDecision, run_report::Report};

/// Lays out run, judge and dataset.
pub fn topic(report: &Report) -> Topic {
    let title = match report.run.judge {
        Some(_) => "Evaluation with a judge",
        None => "Evaluation without a judge",
    };
    let mut blocks = decision(report);
    blocks.push(Block::Facts(facts(report)));
    blocks.extend(notes(report));
    Topic::new("head", title, report.run.simulated, blocks)
}

/// The decision on the run, and the rules that it rests on.
pub fn decision(report: &Report) -> Vec<Block> {
    let coverage = &report.coverage;
    let (level, headline) = match &report.gate {
        Some(gate) => {
            let headline = format!("Gate {}: {}", gate.gate, gate.decision.name());
            (gate::level_of(gate.decision), headline)
        }
        None if coverage.scored == 0 => (Level::Doubtful, "Nothing was scored".to_owned()),
        // Without a gate nothing is decided.
        None if coverage.is_complete() => (Level::Plain, "Complete, no gate set".to_owned()),
        None => (Level::Doubtful, "Incomplete, no gate set".to_owned()),
    };
    let (reason, simulated) = (coverage_text(coverage), report.run.simulated);
    let mut blocks = vec![Block::Decision { level, headline, reason, simulated }];
    let rules = report.gate.iter().flat_map(|gate| &gate.rules);
    for (decision, lead) in
        [(GateDecision::Missed, "Missed"), (GateDecision::Undecided, "Undecided")]
    {
        let rules = rules.clone().filter(|rule| rule.decision == decision);
        let titles: Vec<String> = rules.map(|rule| gate::title(report, rule)).collect();
        if !titles.is_empty() {
            blocks.push(Block::Sentence(gate::level_of(decision), lead, titles.join(", ")));
        }
    }
    blocks
}

/// Run, dataset, rubric, judge, and when, in a line.
pub fn facts(report: &Report) -> Vec<String> {
    let values =
        labeled_facts(report).into_iter().map(|(label, value)| match (label, &report.run.judge) {
            ("Judge", None) => "judge off".to_owned(),
            _ => value,
        });
    std::iter::once(format!("run {}", report.run.id)).chain(values).collect()
}

/// Dataset, rubric, judge, and when, each behind its label.
pub fn labeled_facts(report: &Report) -> Vec<(&'static str, String)> {
    let run = &report.run;
    let mut facts = vec![("Dataset", run.dataset.path.clone())];
    facts.extend(selection_texts(&run.dataset).into_iter().map(|text| ("Items", text)));
    let rubric = format!("{}@{}: {}", run.rubric.id, run.rubric.version, report.rubric.title);
    facts.push(("Rubric", rubric));
    let judge = run.judge.as_ref();
    let judge = judge.map(|judge| format!("{}, detail {}", judge_text(judge), judge.detail.name()));
    facts.push(("Judge", judge.unwrap_or_else(|| "off".to_owned())));
    facts.extend(endpoint(report).filter(|_| run.judge.is_some()).map(|url| ("Endpoint", url)));
    if run.repeat > 1 {
        facts.push(("Repeats", format!("each judged {} times", run.repeat)));
    }
    facts.push(("Created", minutes(&run.created_at)));
    facts
}

/// Note on scores of the simulator, and the warnings.
pub fn notes(report: &Report) -> Vec<Block> {
    let simulated = report.run.simulated.then(simulated);
    let warnings = report.warnings.iter();
    let warnings = warnings.map(|text| Block::Sentence(Level::Doubtful, "", text.clone()));
    simulated.into_iter().chain(warnings).collect()
}

/// The note on scores of the simulator.
pub(super) fn simulated() -> Block {
    let text = "every score was made up by the simulator; none is a judgment".to_owned();
    Block::Sentence(Level::Doubtful, "Simulated", text)
}
