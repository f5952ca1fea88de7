//! Quality of grouping statements, and its cost for many.
//!
//! `cargo bench --bench issues -- STATEMENTS` (100,000). The labeled statements and their creation
//! are in `aggregator/analysis/tests-data/statements`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement prints, and may break off"
)]

mod harness;

#[path = "../aggregator/analysis/tests-data/statements/labelled.rs"]
mod labelled;

use harness::{Mark, MarkTable};
use juror_analysis::issues::{Statements, Tone};
use labelled::Labeled;
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike as _,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use std::collections::HashSet;

/// Number of statements outside the vocabulary, the maximum that a report counts.
const MAX_OTHERS: usize = 50_000;

fn main() {
    let Some([count]) = harness::sizes([100_000]) else { return };
    let (tuned, held_back) = labelled::halves();
    let (tuned_domains, other_domains) = labelled::domains();
    let table = MarkTable::new("agreement with people, B-cubed, over every statement");
    for (name, statements, aim) in [
        ("tuned by", tuned, None),
        ("tuned by, added later", labelled::added(), None),
        ("held back", held_back, Some(0.85)),
        ("other domains, tuned by", tuned_domains, None),
        ("other domains, held back", other_domains, Some(0.75)),
        ("written when all was tuned, in odd words", labelled::afterwards(), None),
    ] {
        agree(&table, name, &statements, aim);
    }
    let texts: Vec<String> =
        labelled::halves().0.into_iter().chain(labelled::added()).map(|known| known.text).collect();
    let known: Vec<String> = (0..count).map(|number| varied(&texts, number)).collect();
    time("like labelled ones, with other names and numbers", &known);
    let unknown: Vec<String> = (0..count).map(invented).collect();
    time("in words that no vocabulary has", &unknown);
}

fn agree(table: &MarkTable, name: &str, statements: &[Labeled], aim: Option<f64>) {
    let found = labelled::agreement(statements, |kind, texts| {
        let tone = if kind == "issue" { Tone::Issues } else { Tone::Strengths };
        let mut collected = Statements::new(tone, Vec::new(), MAX_OTHERS);
        for (item, text) in (0..).zip(texts) {
            collected.add(item, std::slice::from_ref(text));
        }
        let mut numbers = vec![usize::MAX; texts.len()];
        for (number, group) in collected.finish(1).0.into_iter().enumerate() {
            group.items.into_iter().for_each(|item| numbers[item as usize] = number);
        }
        numbers
    });
    let count = statements.len();
    table.row(format!("{name} ({count}): precision"), found.precision, "");
    table.row(format!("{name}: recall"), found.recall, "");
    match aim {
        Some(aim) => table.marked(format!("{name}: F1"), found.f1, "", Mark::AtLeast(aim)),
        None => table.row(format!("{name}: F1"), found.f1, ""),
    }
}

fn time(what: &str, statements: &[String]) {
    let different = statements.iter().collect::<HashSet<_>>().len();
    let table =
        MarkTable::new(&format!("{} statements, {different} different, {what}", statements.len()));
    let began = cpu_seconds();
    let mut collected = Statements::new(Tone::Issues, Vec::new(), MAX_OTHERS);
    for (item, statement) in (0..).zip(statements) {
        collected.add(item, std::slice::from_ref(statement));
    }
    let (groups, dropped) = collected.finish(statements.len() as u64);
    let seconds = cpu_seconds() - began;
    table.marked("time on one core", seconds, "s", Mark::AtMost(10.0));
    table.row("per statement", seconds / statements.len() as f64 * 1e6, "µs");
    table.row("groups", groups.len() as f64, "");
    table.row("dropped", dropped as f64, "");
}

/// Processor time of this process, independent of other load.
fn cpu_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

/// Labeled statement with its own name and numbers.
fn varied(texts: &[String], number: usize) -> String {
    let mut random = StdRng::seed_from_u64(number as u64);
    let text = &texts[random.random_range(0..texts.len())];
    let (used, meant) = (random.random_range(0..400), random.random_range(0..400));
    format!("{text} ({}, {used}px against {meant}px)", word(&mut random))
}

/// Five to ten words out of many thousands, some of them frequent.
fn invented(number: usize) -> String {
    let mut random = StdRng::seed_from_u64(number as u64);
    let words = random.random_range(5..=10);
    (0..words)
        .map(|_| {
            let rank = random.random_range(0.0_f64..1.0).powi(3) * 20_000.0;
            word(&mut StdRng::seed_from_u64(rank as u64))
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn word(random: &mut StdRng) -> String {
    const SYLLABLES: [&str; 12] =
        ["ka", "zu", "lo", "mi", "re", "vo", "tak", "nur", "bel", "dos", "fi", "gam"];
    (0..random.random_range(2..=4)).map(|_| SYLLABLES[random.random_range(0..12)]).collect()
}
