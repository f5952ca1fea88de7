//! Reliability of comparisons, and their cost.
//!
//! `cargo bench --bench comparison -- TRIALS ITEMS` (4,000 and 100,000). The first part simulates
//! judges with known true scores and needs no process; the second compares two runs of this many
//! items with the real command.
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

use harness::{Mark, MarkTable, journal, juror, measure};
use juror_analysis::comparison::{Decision, Difference, Pairs, holm};
use juror_journal::journal::JournalWriter;
use juror_types::{id::RunId, outcome::JobResult, rubric::builtin};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use std::path::Path;

/// Criteria of a verdict, each from 0 to 10.
const CRITERIA: usize = 5;
const MARGIN: f64 = 0.01;

/// Items of a simulated dataset and the distribution of their verdicts, in points of a criterion.
#[derive(Clone, Copy)]
struct World {
    items: usize,
    /// None stand alone at 0.
    clusters: usize,
    /// Deviation of a cluster's change from the true one, and of an item's from its cluster's.
    cluster_change: f64,
    item_change: f64,
    /// Deviation of a judge's single score.
    noise: f64,
    /// The true change.
    shift: f64,
}

const ALIKE: World = World {
    items: 200,
    clusters: 0,
    cluster_change: 0.0,
    item_change: 0.0,
    noise: 0.8,
    shift: 0.0,
};

fn main() {
    let Some([trials, items]) = harness::sizes([4_000, 100_000]) else { return };
    let mut random = SmallRng::seed_from_u64(17);
    coverage(trials, &mut random);
    alarms(trials, &mut random);
    power(trials, &mut random);
    memory(items);
}

/// Share of the intervals that contain the true change; it is that of continuous scores, since
/// rounding and the ends of a scale move means.
fn coverage(trials: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "95 % intervals that hold the true change, of {trials} simulated comparisons each"
    ));
    let alone = World { items: 100, item_change: 0.5, shift: -0.3, ..ALIKE };
    let of = |clusters| World { items: 10 * clusters, clusters, cluster_change: 0.6, ..alone };
    let mut row = |name: &str, world: World, uneven: bool| {
        let held = (0..trials).filter(|_| {
            let found = continuous(world, uneven, random).difference(f64::MAX);
            found.low.unwrap() <= world.shift && world.shift <= found.high.unwrap()
        });
        let share = 100.0 * held.count() as f64 / trials as f64;
        table.marked(name, share, "%", Mark::Between(93.0, 97.0));
    };
    row("100 items, none clustered", alone, false);
    for clusters in [20, 50] {
        row(&format!("{clusters} clusters of 10 items"), of(clusters), false);
        row(&format!("{clusters} clusters of 1 to 19 items"), of(clusters), true);
    }
}

/// Share of comparisons of two equal judges that report a difference.
fn alarms(trials: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "False alarms: worse or better on identical judges, of {trials} comparisons each"
    ));
    let worlds = [
        ("10 items", World { items: 10, ..ALIKE }),
        ("50 items", World { items: 50, ..ALIKE }),
        ("200 items", ALIKE),
        ("200 items in 20 clusters", World { clusters: 20, cluster_change: 0.3, ..ALIKE }),
    ];
    for (name, world) in worlds {
        for (margin, strict, how, mark) in [
            (MARGIN, false, "as it is", Mark::AtMost(5.0)),
            (MARGIN, true, "--strict", Mark::AtMost(5.0)),
            // Without a margin, an interval misses the truth, here 0, in 5 % by its very meaning.
            (0.0, false, "--margin 0", Mark::Between(3.5, 6.5)),
        ] {
            let alarm = |_: &usize| {
                let verdicts = verdicts(world, random);
                let reported =
                    matches!(decide(&verdicts, margin), Decision::Worse | Decision::Better);
                reported || (strict && criteria_got_worse(&verdicts, margin))
            };
            let alarms = (0..trials).filter(alarm).count();
            let share = 100.0 * alarms as f64 / trials as f64;
            table.marked(format!("{name}, {how}"), share, "%", mark);
        }
    }
}

/// Share of the planted changes that are detected.
fn power(trials: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "Planted falls that are called worse, of {trials} comparisons each (margin 0.01)"
    ));
    for (items, shift, mark) in [
        (50, 0.3, None),
        (200, 0.3, None),
        (200, 0.5, Some(Mark::AtLeast(80.0))),
        (1_000, 0.2, None),
        (1_000, 0.3, Some(Mark::AtLeast(80.0))),
    ] {
        let world = World { items, item_change: 0.5, shift: -shift, ..ALIKE };
        let worse = |_: &usize| decide(&verdicts(world, random), MARGIN) == Decision::Worse;
        let share = 100.0 * (0..trials).filter(worse).count() as f64 / trials as f64;
        let name = format!("{items} items, {shift} of 10 points");
        match mark {
            Some(mark) => table.marked(name, share, "%", mark),
            None => table.row(name, share, "%"),
        }
    }
    // A detectable difference is found with a probability of 80 %: p ≤ 0.05 at that shift.
    let world = World { items: 50, item_change: 0.5, ..ALIKE };
    let reported: f64 = (0..200)
        .map(|_| continuous(world, false, random).difference(f64::MAX).detectable.unwrap())
        .sum::<f64>()
        / 200.0;
    let world = World { shift: reported, ..world };
    let seen = (0..trials)
        .filter(|_| continuous(world, false, random).difference(f64::MAX).p_value.unwrap() <= 0.05);
    let share = 100.0 * seen.count() as f64 / trials as f64;
    table.marked(
        "50 items, a change as large as is told detectable",
        share,
        "%",
        Mark::Between(77.0, 83.0),
    );
}

fn decide(verdicts: &Verdicts, margin: f64) -> Decision {
    Decision::for_difference(&verdicts.score.difference(1.0), margin)
}

/// As `--strict` has it.
fn criteria_got_worse(verdicts: &Verdicts, margin: f64) -> bool {
    let found: Vec<Difference> =
        verdicts.criteria.iter().map(|pairs| pairs.difference(10.0)).collect();
    let adjusted = holm(&found.iter().map(|each| each.p_value).collect::<Vec<_>>());
    let worse = |(each, p_value): (&Difference, Option<f64>)| {
        let sure = p_value.is_some_and(|p_value| p_value <= 0.05);
        sure && Decision::for_difference(each, margin * 10.0) == Decision::Worse
    };
    found.iter().zip(adjusted).any(worse)
}

/// Pairs of a run's verdicts as the rubric `semantic` has them.
struct Verdicts {
    score: Pairs,
    criteria: [Pairs; CRITERIA],
}

/// Whole points, cut at the ends of the scale.
fn verdicts(world: World, random: &mut SmallRng) -> Verdicts {
    let changes = cluster_changes(world, random);
    let mut found = Verdicts { score: Pairs::default(), criteria: Default::default() };
    for item in 0..world.items {
        let cluster = (world.clusters > 0).then(|| item % world.clusters);
        let quality = 7.5 + 2.0 * normal(random);
        let change = world.shift
            + cluster.map_or(0.0, |cluster| changes[cluster])
            + world.item_change * normal(random);
        let mut sums = [0.0; 2];
        for pairs in &mut found.criteria {
            let truth = quality + normal(random);
            let mut judged =
                |truth: f64| (truth + world.noise * normal(random)).round().clamp(0.0, 10.0);
            let both = [judged(truth), judged(truth + change)];
            pairs.add(both[0], both[1], cluster, None);
            sums = [sums[0] + both[0], sums[1] + both[1]];
        }
        found.score.add(sums[0] / 50.0, sums[1] / 50.0, cluster, None);
    }
    found
}

/// One score without ends or steps. Uneven clusters have 1 to 2k − 1 items where even ones have k.
fn continuous(world: World, uneven: bool, random: &mut SmallRng) -> Pairs {
    let changes = cluster_changes(world, random);
    let mut pairs = Pairs::default();
    let mut add = |cluster: Option<usize>, random: &mut SmallRng| {
        let base = 7.0 + normal(random);
        let change = world.shift
            + cluster.map_or(0.0, |cluster| changes[cluster])
            + world.item_change * normal(random)
            + world.noise * 2.0_f64.sqrt() * normal(random);
        pairs.add(base, base + change, cluster, None);
    };
    if world.clusters == 0 {
        (0..world.items).for_each(|_| add(None, random));
        return pairs;
    }
    let each = world.items / world.clusters;
    for cluster in 0..world.clusters {
        let size = if uneven { random.random_range(1..2 * each) } else { each };
        (0..size).for_each(|_| add(Some(cluster), random));
    }
    pairs
}

fn cluster_changes(world: World, random: &mut SmallRng) -> Vec<f64> {
    (0..world.clusters).map(|_| world.cluster_change * normal(random)).collect()
}

/// Standard normal, by Box and Muller.
fn normal(random: &mut SmallRng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// Cost of comparing two large runs.
fn memory(items: usize) {
    let folder = tempfile::tempdir().unwrap();
    for (name, shift) in [("base", 0), ("head", 1)] {
        write_run(folder.path(), name, items, shift);
    }
    let arguments = ["compare", "base", "head", "--json"];
    let measured = measure(&mut juror(folder.path(), &arguments), &[0, 100]);
    let table = MarkTable::new(&format!("juror compare of two runs of {items} items each"));
    table.marked("peak memory", measured.peak_mb, "MB", Mark::AtMost(200.0));
    table.row("time", measured.wall.as_secs_f64(), "s");
    table.row("CPU per item", measured.cpu_ms_each(items) * 1_000.0, "µs");
}

fn write_run(folder: &Path, name: &str, items: usize, shift: usize) {
    let rubric = builtin().iter().find(|rubric| rubric.id == "semantic").unwrap();
    let mut record = journal::record(&rubric.parse().unwrap(), rubric.text, items as u64);
    record.run_id = RunId::new(name);
    let mut writer = JournalWriter::create(&folder.join("runs"), &record).unwrap();
    let numbers: Vec<usize> = (0..items).collect();
    for batch in numbers.chunks(1_000) {
        let result = |number: &usize| -> JobResult {
            let moved = usize::from(number.is_multiple_of(7)) * shift;
            let mut result = journal::result(&record, *number);
            let other = journal::result(&record, number + moved);
            result.semantic = other.semantic;
            result.item.cluster = Some(format!("cluster_{}", number / 10));
            result
        };
        writer.append(&batch.iter().map(result).collect::<Vec<_>>()).unwrap();
    }
}
