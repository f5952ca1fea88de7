use super::*;
use crate::test_fixtures::{SEMANTIC, bare, record};
use juror_journal::journal::JournalWriter;
use juror_types::usage::Money;
use proptest::prelude::*;

#[test]
fn highest_round_counts_and_every_round_adds_cost() {
    let mut fold = Fold::default();
    let mut failed = bare("a", Outcome::Failed);
    failed.cost_usd = Money::from_pico(5);
    let mut scored = bare("a", Outcome::Scored);
    scored.round = 1;
    scored.cost_usd = Money::from_pico(7);
    assert!(fold.apply(&failed, 0));
    assert!(fold.apply(&scored, 100));
    assert!(!fold.apply(&failed, 200));
    assert!(!fold.apply(&scored, 300));
    assert!(fold.is_scored(&scored.job_id));
    let counted = fold.counted();
    assert!(counted.contains(100) && !counted.contains(0) && counted.len() == 1);
    assert_eq!(fold.counts(), OutcomeCounts { scored: 1, ..OutcomeCounts::default() });
    assert_eq!(fold.spent().cost, Money::from_pico(12));
}

#[test]
fn last_round_of_a_job_determines_the_next() {
    let mut fold = Fold::default();
    fold.apply(&bare("a", Outcome::Failed), 0);
    fold.apply(&bare("b", Outcome::Failed), 100);
    let id = |name: &str| bare(name, Outcome::Scored).job_id;
    let mut rounds = fold.rounds();
    assert_eq!((rounds.scored(), rounds.results()), (0, 2));
    rounds.note(&id("a"), 0, Outcome::Failed);
    rounds.note(&id("b"), 2, Outcome::Scored);
    rounds.note(&id("b"), 1, Outcome::Failed);
    rounds.note(&id("c"), 1, Outcome::Skipped);
    let next = ["a", "b", "c", "d"].map(|name| rounds.next_round(&id(name)));
    assert_eq!(next, [Some(1), None, Some(2), Some(0)]);
    assert_eq!((rounds.scored(), rounds.results()), (1, 6));
}

#[test]
fn score_missing_from_the_journal_is_requested_in_its_old_round() {
    let mut fold = Fold::default();
    fold.apply(&bare("written", Outcome::Scored), 0);
    fold.apply(&bare("again", Outcome::Failed), 100);
    let id = |name: &str| bare(name, Outcome::Scored).job_id;
    let mut rounds = fold.rounds();
    rounds.note(&id("written"), 0, Outcome::Scored);
    rounds.note(&id("again"), 1, Outcome::Scored);
    rounds.note(&id("lost"), 0, Outcome::Scored);
    rounds.note(&id("failed"), 0, Outcome::Failed);
    let names = ["written", "again", "lost", "failed", "unknown"];
    let to_send = |rounds: &Rounds| names.map(|name| rounds.round_to_send(&id(name)));
    assert_eq!(to_send(&rounds), [None, Some(1), Some(0), Some(1), Some(0)]);
    assert_eq!((rounds.scored(), rounds.missing(), rounds.results()), (3, 2, 5));
    rounds.trust_journal();
    assert_eq!(to_send(&rounds), [None, None, None, Some(1), Some(0)]);
    assert_eq!(rounds.missing(), 0);
}

#[test]
fn only_current_results_are_read_in_one_pass_or_two() {
    let again = |name, round| JobResult { round, ..bare(name, Outcome::Scored) };
    let one_round = vec![bare("a", Outcome::Failed), bare("b", Outcome::Scored)];
    let repeated = vec![bare("a", Outcome::Failed), again("a", 1), bare("b", Outcome::Scored)];
    let late = vec![again("a", 1), bare("a", Outcome::Failed), bare("b", Outcome::Scored)];
    let expected: [(&str, u32); 2] = [("a", 1), ("b", 0)];
    for (results, expected) in
        [(one_round, [("a", 0), ("b", 0)]), (repeated, expected), (late, expected)]
    {
        let runs = tempfile::tempdir().unwrap();
        let record = record(SEMANTIC, 2);
        let mut writer = JournalWriter::create(runs.path(), &record).unwrap();
        writer.append(&results).unwrap();
        let add = |all: &mut Vec<_>, result: JobResult, _| {
            all.push((result.screenshot_id, result.round));
        };
        let files = writer.files();
        let (read, counted) = Fold::read_current(files, Vec::new, add).unwrap();
        assert_eq!(read, expected.map(|(name, round)| (name.to_owned(), round)));
        assert_eq!(counted.len(), 2);
        assert_eq!(counted.read(files, Vec::new(), add).unwrap(), read);
    }
}

proptest! {
    #[test]
    fn fold_ignores_order_and_duplicates(
        picks in prop::collection::vec((0_u8..6, 0_u32..4), 0..40),
        seed in any::<u64>(),
    ) {
        let result = |&(job, round): &(u8, u32)| {
            let outcome = if (u32::from(job) + round) % 2 == 0 { Outcome::Scored } else { Outcome::Failed };
            let mut result = bare(&format!("item{job}"), outcome);
            result.round = round;
            result.attempts = round + 1;
            result.cost_usd = Money::from_pico(i64::from(job) * 10 + i64::from(round));
            result
        };
        let offset = |&(job, round): &(u8, u32)| u64::from(job) * 100 + u64::from(round);
        let fold_of = |order: &[(u8, u32)]| {
            let mut fold = Fold::default();
            for pick in order {
                fold.apply(&result(pick), offset(pick));
            }
            fold
        };
        let mut shuffled = picks.clone();
        shuffled.sort_by_key(|&(job, round)| {
            (seed ^ u64::from(job)).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(round) << 32
        });
        shuffled.extend(picks.iter().rev());
        let (plain, mixed) = (fold_of(&picks), fold_of(&shuffled));
        prop_assert_eq!(plain.spent(), mixed.spent());
        prop_assert_eq!(plain.counts(), mixed.counts());
        prop_assert_eq!(plain.results(), mixed.results());
        let last = |job: u8| picks.iter().filter(|pick| pick.0 == job).map(|pick| pick.1).max();
        let rounds = (0..6).filter_map(last).map(|round| u64::from(round) + 1);
        prop_assert_eq!(plain.results(), rounds.sum::<u64>());
        for pick in &picks {
            let job = result(pick).job_id;
            prop_assert_eq!(plain.latest(&job), mixed.latest(&job));
        }
    }
}
