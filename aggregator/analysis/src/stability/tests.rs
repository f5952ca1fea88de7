use super::*;
use crate::test_fixtures::{SEMANTIC, comparisons::shown, record, rubric};
use NightOutcome::{Failed, NotScored, Passed};
use juror_journal::journal::JournalWriter;
use juror_types::{id::Digest, outcome::Outcome, run::RunRecord};
use std::{fs, path::Path};

/// Run with one item per letter: `p` passes, `f` fails, `n` is not scored; an upper-case letter has
/// another input.
fn night(runs: &Path, day: u32, letters: &str) -> RunFiles {
    let results: Vec<JobResult> = letters
        .chars()
        .enumerate()
        .map(|(id, letter)| {
            let input: &[u8] = if letter.is_uppercase() { b"two" } else { b"one" };
            let passes = letter.eq_ignore_ascii_case(&'p');
            let mut result = shown(id, if passes { [9; 5] } else { [4; 5] }, input);
            result.pipeline_success = Some(passes);
            if letter.eq_ignore_ascii_case(&'n') {
                result.outcome = Outcome::Failed;
            }
            result
        })
        .collect();
    saved(runs, day, &results)
}

fn saved(runs: &Path, day: u32, results: &[JobResult]) -> RunFiles {
    let record = RunRecord {
        run_id: RunId::new(format!("night-{day}")),
        created_at: format!("2026-11-{day:02}T02:00:00Z"),
        ..record(SEMANTIC, results.len() as u64)
    };
    let mut writer = JournalWriter::create(runs, &record).unwrap();
    writer.append(results).unwrap();
    fs::write(writer.files().path_of("report.json"), "{}").unwrap();
    writer.files().clone()
}

fn stability(nights: &[&str], runs: usize) -> ItemStability {
    let folder = tempfile::tempdir().unwrap();
    let days = nights.iter().zip(1..);
    let files: Vec<_> = days.map(|(letters, day)| night(folder.path(), day, letters)).collect();
    let (rubric, policy) = (rubric(SEMANTIC), AveragingPolicy::default());
    ItemStability::from_run(files.last().unwrap(), runs, &rubric, policy).unwrap()
}

#[test]
fn alternating_item_is_flaky_and_a_single_fall_is_not() {
    let found = stability(&["pppp", "pfpn", "pppp", "pffp"], 7);
    let flaky: Vec<_> = found.flaky.values().collect();
    let ids: Vec<_> = flaky.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["shot_001"]);
    assert_eq!((flaky[0].changes, &flaky[0].outcomes), (3, &vec![Passed, Failed, Passed, Failed]));
    let runs: Vec<_> = found.runs.iter().map(RunId::as_str).collect();
    assert_eq!(runs, ["night-1", "night-2", "night-3", "night-4"]);
    assert!(found.is_flaky("shot_001") && !found.is_flaky("shot_002"));
}

#[test]
fn outage_and_reverted_fix_are_not_flaky() {
    assert!(stability(&["p", "n", "f"], 7).flaky.is_empty());
    assert!(stability(&["f", "p", "f"], 7).flaky.is_empty());
    let [item] = &stability(&["p", "f", "n", "p"], 7).flaky.into_values().collect::<Vec<_>>()[..]
    else {
        panic!("one item is flaky")
    };
    assert_eq!((item.changes, &item.outcomes), (2, &vec![Passed, Failed, NotScored, Passed]));
}

#[test]
fn only_recent_runs_count_and_a_new_input_restarts_the_item() {
    assert!(stability(&["p", "f", "f", "p"], 3).flaky.is_empty());
    assert_eq!(stability(&["p", "f", "f", "p"], 4).flaky.len(), 1);
    assert!(stability(&["p", "f", "P"], 7).flaky.is_empty());
    assert_eq!(stability(&["p", "f"], 0), ItemStability::default());
    assert_eq!(stability(&["p", "f"], 1), ItemStability::default());
}

#[test]
fn noise_is_estimated_from_runs_before_the_newest() {
    let (steady, fallen) = ("p".repeat(12), "f".repeat(12));
    let calm = stability(&[&steady, &steady, &steady, &fallen], 7);
    assert_eq!(calm.noise_variance, Some(0.0));
    // Between 9 and 4 of 10 points: half of 0.5² on average.
    let noisy = stability(&[&steady, &fallen, &steady, &steady], 7);
    assert!((noisy.noise_variance.unwrap() - 0.125).abs() < 1e-9, "{noisy:?}");
    assert_eq!(stability(&["pp", "pp", "pp"], 7).noise_variance, None, "too few items");
}

/// Runs of 24 items of which the first ones are changed.
fn noise_of_nights(changed: [&dyn Fn(&mut JobResult); 3]) -> Option<f64> {
    let folder = tempfile::tempdir().unwrap();
    let unchanged: &dyn Fn(&mut JobResult) = &|_| ();
    let nights = changed.into_iter().chain([unchanged]).zip(1..);
    let files: Vec<_> = nights
        .map(|(change, day)| {
            let mut results: Vec<_> = (0..24).map(|id| shown(id, [9; 5], b"one")).collect();
            results.iter_mut().take(4).for_each(change);
            saved(folder.path(), day, &results)
        })
        .collect();
    let rubric = rubric(SEMANTIC);
    let found = ItemStability::from_run(&files[3], 7, &rubric, AveragingPolicy::default());
    found.unwrap().noise_variance
}

#[test]
fn changed_code_verdicts_from_the_cache_and_zeros_without_a_verdict_are_no_noise() {
    let steady = &|_: &mut JobResult| ();
    let fallen = |result: &mut JobResult| result.semantic = shown(0, [4; 5], b"one").semantic;
    // Of 48 differences, 8 are half of the scale.
    let variance = noise_of_nights([steady, &fallen, steady]).unwrap();
    assert!((variance - 8.0 * 0.25 / 48.0 / 2.0).abs() < 1e-9, "{variance}");
    let other_code = |result: &mut JobResult| {
        fallen(result);
        let code = Some(Digest::from_content(b"broken"));
        result.item.inputs.push(InputRecord { digest: code, ..result.item.inputs[0].clone() });
    };
    assert_eq!(noise_of_nights([steady, &other_code, steady]), Some(0.0));
    let unjudged = |result: &mut JobResult| {
        result.outcome = Outcome::NoOutput;
        result.semantic = None;
    };
    assert_eq!(noise_of_nights([steady, &unjudged, steady]), Some(0.0));
}

#[test]
fn runs_from_the_cache_alone_tell_no_noise() {
    let folder = tempfile::tempdir().unwrap();
    let runs = (1..=4).map(|day| {
        let mut results: Vec<_> = (0..24).map(|id| shown(id, [9; 5], b"one")).collect();
        results.iter_mut().for_each(|result| result.cached = day > 1);
        saved(folder.path(), day, &results)
    });
    let files: Vec<_> = runs.collect();
    let rubric = rubric(SEMANTIC);
    let found = ItemStability::from_run(&files[3], 7, &rubric, AveragingPolicy::default());
    assert_eq!(found.unwrap().noise_variance, None);
}

#[test]
fn new_verdicts_of_changed_code_among_verdicts_from_the_cache_are_no_noise() {
    let folder = tempfile::tempdir().unwrap();
    let runs = (1..=4).map(|day| {
        let mut results: Vec<_> = (0..24).map(|id| shown(id, [9; 5], b"one")).collect();
        for (id, result) in results.iter_mut().enumerate() {
            // Each half of the items gets other code once, and keeps it.
            let has_other_code = day > 2 || day == 2 && id < 12;
            let is_new = day == 1 || day == if id < 12 { 2 } else { 3 };
            if has_other_code {
                result.semantic = shown(id, [4; 5], b"one").semantic;
                let digest = Some(Digest::from_content(b"other"));
                let code = InputRecord::unread(InputRecord::CODE, "code.tsx");
                result.item.inputs.push(InputRecord { digest, ..code });
            }
            result.cached = !is_new;
        }
        saved(folder.path(), day, &results)
    });
    let files: Vec<_> = runs.collect();
    let rubric = rubric(SEMANTIC);
    let found = ItemStability::from_run(&files[3], 7, &rubric, AveragingPolicy::default());
    assert_eq!(found.unwrap().noise_variance, None);
}

#[test]
fn changed_code_and_lasting_failures_are_not_flaky() {
    let folder = tempfile::tempdir().unwrap();
    let nights = [("a", 9), ("b", 4), ("a", 9), ("c", 4), ("c", 4)];
    let files: Vec<_> = nights
        .into_iter()
        .zip(1..)
        .map(|((code, score), day)| {
            let mut result = shown(0, [score; 5], b"one");
            result.pipeline_success = Some(score == 9);
            let digest = Some(Digest::from_content(code.as_bytes()));
            let code = InputRecord::unread(InputRecord::CODE, "code.tsx");
            result.item.inputs.push(InputRecord { digest, ..code });
            saved(folder.path(), day, &[result])
        })
        .collect();
    let is_flaky = |night: usize| {
        let (rubric, policy) = (rubric(SEMANTIC), AveragingPolicy::default());
        let found = ItemStability::from_run(&files[night - 1], 7, &rubric, policy).unwrap();
        !found.flaky.is_empty()
    };
    assert!(is_flaky(4), "each run has other code");
    assert!(!is_flaky(5), "the code stays, and so does its failure");
    assert!(!stability(&["p", "f", "p", "f", "f"], 7).flaky.is_empty());
    assert!(stability(&["p", "f", "p", "f", "n", "f", "f"], 7).flaky.is_empty());
}
