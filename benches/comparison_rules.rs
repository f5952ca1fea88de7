//! Rates of false and of right decisions of whole comparisons.
//!
//! `cargo bench --bench comparison_rules -- TRIALS` (1,000). Each trial writes two runs of
//! simulated results, and compares them with all rules, as `juror compare` does.
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

use harness::{Mark, MarkTable, journal};
use juror_analysis::{
    compare_runs::{Side, compare},
    comparison::{Comparison, Decision, Rules},
    compute_report::{ReportInput, compute_report},
    metrics::AveragingPolicy,
    run_report::Report,
    stability::ItemStability,
};
use juror_journal::journal::JournalWriter;
use juror_types::{
    outcome::{CountAs, JobResult, Outcome},
    rubric::{Rubric, builtin},
    run::RunRecord,
    stage::Generation,
    verdict::Score,
};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use std::collections::HashMap;

const AVERAGING: AveragingPolicy =
    AveragingPolicy { failed: CountAs::Excluded, no_output: CountAs::Zero };

const RULES: Rules = Rules {
    margin: 0.01,
    strict: false,
    max_lost: 0.02,
    fallen_by: 0.3,
    fallen_share: 0.01,
    use_likely_clusters: true,
    flaky_runs: 0,
    leave_out_flaky: false,
    averaging: AVERAGING,
};

/// Items of a simulated dataset, and how their results come about; scores in points of 10.
#[derive(Clone, Copy)]
struct World {
    items: usize,
    /// Likely clusters, which only the ids tell; 0 for none.
    clusters: usize,
    /// Deviation of a cluster's change, and of a judge's score.
    cluster_change: f64,
    noise: f64,
    /// The chance that a judge gives 0 points, whatever there is to see.
    blunders: f64,
    /// The chance that an item compiles, in either run.
    compiles: f64,
    /// The true change of all items.
    shift: f64,
}

const EQUAL: World = World {
    items: 200,
    clusters: 0,
    cluster_change: 0.0,
    noise: 0.8,
    blunders: 0.0,
    compiles: 0.97,
    shift: 0.0,
};

fn main() {
    let Some([trials]) = harness::sizes([1_000]) else { return };
    let mut random = SmallRng::seed_from_u64(29);
    false_alarms(trials, &mut random);
    undeclared_clusters(trials, &mut random);
    power(trials, &mut random);
}

/// Rate at which any rule distinguishes two equal runs.
fn false_alarms(trials: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "All rules on equal runs: called worse, of {trials} comparisons each"
    ));
    for (name, world) in [
        ("60 items", World { items: 60, ..EQUAL }),
        ("200 items", EQUAL),
        ("200 items, a noisy judge", World { noise: 2.0, ..EQUAL }),
        ("200 items, 5 % of judgments are blunders", World { blunders: 0.05, ..EQUAL }),
        ("200 items, 80 % compile", World { compiles: 0.8, ..EQUAL }),
    ] {
        for (strict, how) in [(false, ""), (true, ", --strict")] {
            let rules = Rules { strict, ..RULES };
            let alarms = count(trials, Decision::Worse, || compared(world, rules, random, |_| {}));
            table.marked(format!("{name}{how}"), alarms, "%", Mark::AtMost(5.0));
        }
    }
}

/// Rate of false decisions that undeclared clusters cause.
fn undeclared_clusters(trials: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "Undeclared clusters without a true change: decided falsely, of {trials} comparisons each"
    ));
    for (clusters, items) in [(8, 120), (20, 120)] {
        let world = World { items, clusters, cluster_change: 0.5, ..EQUAL };
        for (use_likely_clusters, name) in [(false, "warn"), (true, "use")] {
            let rules = Rules { use_likely_clusters, ..RULES };
            let mut reported = 0;
            for _ in 0..trials {
                let found = compared(world, rules, random, |_| {}).decisive.decision;
                reported += usize::from(matches!(found, Decision::Worse | Decision::Better));
            }
            let share = 100.0 * reported as f64 / trials as f64;
            let name =
                format!("{clusters} of {} items, likely_clusters = {name}", items / clusters);
            match use_likely_clusters {
                true => table.marked(name, share, "%", Mark::AtMost(5.0)),
                false => table.row(name, share, "%"),
            }
        }
    }
    let table = MarkTable::new(&format!(
        "What the search for clusters costs without any effect of them: a fall of 0.3 points, called worse, of {trials} comparisons each"
    ));
    for clusters in [0, 8, 20] {
        let world = World { items: 120, clusters, shift: -0.4, ..EQUAL };
        let seen = count(trials, Decision::Worse, || compared(world, RULES, random, |_| {}));
        table.row(format!("120 items, ids of {clusters} stems"), seen, "%");
    }
}

/// Rate at which a planted defect is called worse.
fn power(trials: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "Planted defects in 200 items: called worse, of {trials} comparisons each"
    ));
    type Planted = (&'static str, fn(&mut Vec<JobResult>));
    let planted: [Planted; 4] = [
        ("6 items fall to 0 points", |head| {
            head.iter_mut().take(6).for_each(|result| score(result, [0; 5]));
        }),
        ("12 items fall to 0 points", |head| {
            head.iter_mut().take(12).for_each(|result| score(result, [0; 5]));
        }),
        ("14 items no longer compile", |head| {
            head.iter_mut().take(14).for_each(|result| compile(result, false));
        }),
        ("20 items are unscorable", |head| {
            for result in head.iter_mut().take(20) {
                (result.outcome, result.semantic) = (Outcome::Unscorable, None);
            }
        }),
    ];
    for (name, plant) in planted {
        let seen = count(trials, Decision::Worse, || compared(EQUAL, RULES, random, plant));
        table.marked(name, seen, "%", Mark::AtLeast(60.0));
    }
}

/// The share of comparisons with this decision, in percent.
fn count(trials: usize, wanted: Decision, mut one: impl FnMut() -> Comparison) -> f64 {
    100.0 * (0..trials).filter(|_| one().decision == wanted).count() as f64 / trials as f64
}

fn compared(
    world: World,
    rules: Rules,
    random: &mut SmallRng,
    plant: impl Fn(&mut Vec<JobResult>),
) -> Comparison {
    let text = builtin().iter().find(|rubric| rubric.id == "semantic").unwrap().text;
    let rubric: Rubric = toml::from_str(text).unwrap();
    let record = journal::record(&rubric, text, world.items as u64);
    let (base, mut head) = results(world, &record, random);
    plant(&mut head);
    let (before, base_files, _base) = report(&record, &rubric, &base);
    let (after, head_files, _head) = report(&record, &rubric, &head);
    compare(
        Side { report: &before, files: base_files.files() },
        Side { report: &after, files: head_files.files() },
        rules,
        &ItemStability::default(),
    )
    .unwrap()
}

fn report(
    record: &RunRecord,
    rubric: &Rubric,
    results: &[JobResult],
) -> (Report, JournalWriter, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(folder.path(), record).unwrap();
    writer.append(results).unwrap();
    let input = ReportInput::new(rubric, AVERAGING);
    (compute_report(writer.files(), &input).unwrap(), writer, folder)
}

/// The results of both runs.
fn results(
    world: World,
    record: &RunRecord,
    random: &mut SmallRng,
) -> (Vec<JobResult>, Vec<JobResult>) {
    let mut changes = HashMap::new();
    let (mut base, mut head) = (Vec::new(), Vec::new());
    for number in 0..world.items {
        let stem = number.checked_rem(world.clusters).unwrap_or_default();
        let change = *changes.entry(stem).or_insert_with(|| world.cluster_change * normal(random));
        let quality = 7.5 + 2.0 * normal(random);
        let truths: [f64; 5] = std::array::from_fn(|_| quality + normal(random));
        for (results, change) in [(&mut base, 0.0), (&mut head, world.shift + change)] {
            let mut result = journal::result(record, number);
            if world.clusters > 0 {
                let letter = char::from(b'a' + stem as u8);
                result.screenshot_id = format!("{letter}{letter}_{number:04}");
            }
            let blunder = random.random::<f64>() < world.blunders;
            let judged = truths.map(|truth| {
                let seen = (truth + change + world.noise * normal(random)).round();
                if blunder { 0 } else { seen.clamp(0.0, 10.0) as u32 }
            });
            score(&mut result, judged);
            compile(&mut result, random.random::<f64>() < world.compiles);
            results.push(result);
        }
    }
    (base, head)
}

fn score(result: &mut JobResult, points: [u32; 5]) {
    let Some(verdict) = &mut result.semantic else { return };
    if let Score::Sum { semantic_correctness, scores, total_score, .. } = &mut verdict.score {
        *total_score = f64::from(points.iter().sum::<u32>());
        *semantic_correctness = *total_score / 50.0;
        scores.values_mut().zip(points).for_each(|(score, points)| *score = points);
    }
}

fn compile(result: &mut JobResult, compiles: bool) {
    let passes =
        result.semantic.as_ref().is_some_and(|verdict| verdict.correctness() > 0.85) && compiles;
    result.generation = Some(Generation {
        code_compiles: Some(compiles),
        quality_score: None,
        renders: None,
        error: None,
    });
    result.pipeline_success = Some(passes);
}

/// Standard normal, by Box and Muller.
fn normal(random: &mut SmallRng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}
