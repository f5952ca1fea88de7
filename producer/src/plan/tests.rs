use super::*;
use crate::dataset::DatasetShape;
use juror_types::{
    id::{JobId, RunId},
    job::{Job, RubricReference},
};
use std::{fmt::Write as _, path::Path};
use tempfile::TempDir;

fn shape() -> DatasetShape {
    DatasetShape { images: vec!["screenshot".to_owned()], ..DatasetShape::default() }
}

/// Manifest of these lines next to one screenshot, `1.png`.
fn manifest(lines: &str) -> (TempDir, Dataset) {
    let backend = tempfile::tempdir().unwrap();
    std::fs::write(backend.path().join("1.png"), "").unwrap();
    std::fs::write(backend.path().join("set.jsonl"), lines).unwrap();
    let dataset = Dataset::open(&backend.path().join("set.jsonl"), &shape()).unwrap();
    (backend, dataset)
}

fn line(id: &str, fields: &str) -> String {
    format!("{{\"id\":\"{id}\",\"screenshot\":\"1.png\"{fields}}}\n")
}

fn numbered(count: u32) -> Vec<String> {
    (0..count)
        .map(|number| line(&number.to_string(), &format!(",\"fifth\":{}", number % 5)))
        .collect()
}

fn options(filters: &[&str], limit: Option<u64>, repeat: u32) -> PlanOptions {
    let filters = filters.iter().map(|filter| filter.parse().unwrap()).collect();
    PlanOptions { filters, sample: None, limit, repeat: NonZeroU32::new(repeat).unwrap() }
}

fn broken(dataset: &Dataset) -> BrokenLines {
    match check(dataset, &PlanOptions::default(), &mut |_| ()) {
        Err(PlanError::Lines(broken)) => broken,
        other => panic!("broken lines are expected: {other:?}"),
    }
}

fn template() -> JobTemplate {
    let rubric =
        RubricReference { id: "semantic".into(), version: 1, digest: Digest::from_content(b"") };
    JobTemplate {
        run_id: RunId::new("run"),
        rubric,
        judge: None,
        evidence: juror_types::evidence::EvidenceMode::None,
    }
}

#[test]
fn one_invalid_line_of_a_thousand_is_found() {
    let mut lines = numbered(1000);
    lines[730] = "{\"id\":\"730\",\"screenshot\":}\n".to_owned();
    let (_backend, dataset) = manifest(&lines.concat());
    let broken = broken(&dataset);
    assert_eq!((broken.count, broken.first[0].place.line), (1, Some(731)));
    let message = broken.to_string();
    assert!(message.starts_with("1 line of the dataset is broken\n  "), "{message}");
    assert!(message.contains("set.jsonl, line 731: not valid JSON at column 26"), "{message}");
}

#[test]
fn duplicates_far_apart_name_both_lines() {
    let mut lines = numbered(20_000);
    lines[19_999] = line("6", "");
    let (_backend, dataset) = manifest(&lines.concat());
    let broken = broken(&dataset);
    assert_eq!(broken.count, 1);
    assert!(
        broken.first[0].to_string().ends_with(
            "line 20000: field \"id\": duplicate id \"6\", first in line 7; ids must be unique"
        ),
        "{broken}"
    );
}

#[test]
fn first_twenty_invalid_lines_are_shown_and_all_are_counted() {
    let (_backend, dataset) = manifest(&"{}\n".repeat(50));
    let broken = broken(&dataset);
    assert_eq!((broken.count, broken.first.len()), (50, 20));
    assert!(broken.to_string().ends_with("\n  and 30 more"));
}

#[test]
fn every_file_must_exist() {
    let lines = [
        line("a", ""),
        "{\"id\":\"b\",\"screenshot\":\"2.png\"}\n".to_owned(),
        line("c", ",\"generated_code\":\"c.tsx\""),
        line("d", ",\"expected_tokens\":\"d.json\""),
        line("e", ",\"extracted_tokens\":\".\""),
    ];
    let (_backend, dataset) = manifest(&lines.concat());
    let broken = broken(&dataset);
    let texts: Vec<String> = broken.first.iter().map(ToString::to_string).collect();
    for (text, end) in texts.iter().zip([
        "line 2: field \"screenshot\": file \"2.png\" does not exist; paths are relative to the \
         manifest's folder",
        "line 3: field \"generated_code\": file \"c.tsx\" does not exist; paths are relative to the \
         manifest's folder; if this is code and not a path, end it with a line break",
        "line 4: field \"expected_tokens\": file \"d.json\" does not exist; paths are relative to \
         the manifest's folder",
        "line 5: field \"extracted_tokens\": \".\" is not a file",
    ]) {
        assert!(text.ends_with(end), "{text}");
    }
    assert_eq!(texts.len(), 4);
}

#[test]
fn a_data_root_holds_files_too() {
    let (backend, _) = manifest("{\"id\":\"a\",\"screenshot\":\"2.png\"}\n");
    let root = backend.path().join("shots");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("2.png"), "").unwrap();
    let shape = DatasetShape { data_roots: vec![root], ..shape() };
    let dataset = Dataset::open(&backend.path().join("set.jsonl"), &shape).unwrap();
    assert_eq!(check(&dataset, &PlanOptions::default(), &mut |_| ()).unwrap().items, 1);
}

#[test]
fn an_empty_dataset_is_an_error() {
    for lines in ["", "\n\n", "\u{feff}"] {
        let (_backend, dataset) = manifest(lines);
        let error = check(&dataset, &PlanOptions::default(), &mut |_| ()).unwrap_err();
        assert!(matches!(&error, PlanError::Empty(path) if path.ends_with("set.jsonl")), "{error}");
    }
}

#[test]
fn empty_selection_is_an_error_that_names_the_selection() {
    let (_backend, dataset) = manifest(&numbered(3).concat());
    let error =
        |options: PlanOptions| check(&dataset, &options, &mut |_| ()).unwrap_err().to_string();
    assert_eq!(
        error(options(&["fifth=9"], None, 1)),
        "no items match: --filter fifth=9 selects none of 3"
    );
    assert_eq!(
        error(options(&["fith=1", "fifth=1"], None, 1)),
        "no items match: --filter fith=1 --filter fifth=1 selects none of 3; no item has fith"
    );
    assert_eq!(error(options(&[], Some(0), 1)), "no items match: --limit 0 selects none of 3");
}

#[test]
fn summary_lists_available_stages() {
    let summary = |fields: &str| {
        let (_backend, dataset) = manifest(&(line("a", "") + &line("b", fields)));
        check(&dataset, &PlanOptions::default(), &mut |_| ()).unwrap()
    };
    let nothing = summary("");
    assert!(!nothing.has_stages());
    assert_eq!((nothing.dataset_items, nothing.items, nothing.jobs), (2, 2, 2));
    assert!(!summary(",\"expected_tokens\":{}").has_stages());
    assert!(summary(",\"expected_tokens\":{},\"extracted_tokens\":{}").has_tokens);
    assert!(summary(",\"expected_pattern\":\"a\",\"retrieved_pattern\":\"b\"").has_patterns);
    let code = summary(",\"generated_code\":\"<a/>\"");
    assert_eq!((code.has_code, code.without_code, nothing.without_code), (true, 1, 2));
    assert!(summary(",\"quality_score\":0.5").has_quality);
    assert_eq!(summary(",\"screenshots\":1").warnings.len(), 1);
}

#[test]
fn both_passes_select_the_same_items_in_the_same_order() {
    let (backend, dataset) = manifest(&numbered(20).concat());
    let options = options(&["fifth=2", "id!=7"], Some(2), 3);
    let summary = check(&dataset, &options, &mut |_| ()).unwrap();
    assert_eq!((summary.dataset_items, summary.items, summary.jobs), (20, 2, 6));
    let manifest = std::fs::read(backend.path().join("set.jsonl")).unwrap();
    assert_eq!(summary.digest, Digest::from_content(&manifest));
    let jobs: Vec<Job> =
        jobs(&dataset, &options, &template()).unwrap().map(Result::unwrap).collect();
    let named: Vec<_> = jobs.iter().map(|job| (job.item.id.as_str(), job.repeat)).collect();
    assert_eq!(named, [("2", 0), ("2", 1), ("2", 2), ("12", 0), ("12", 1), ("12", 2)]);
    assert_eq!(jobs[1].job_id, JobId::for_item(&RunId::new("run"), "2", 1));
    assert_eq!(jobs[0].round, 0);
}

#[test]
fn numeric_and_string_ids_are_equal() {
    let (_backend, dataset) = manifest(concat!(
        "{\"id\":17,\"screenshot\":\"1.png\"}\n",
        "{\"id\":\"17\",\"screenshot\":\"1.png\"}\n",
    ));
    let error = check(&dataset, &PlanOptions::default(), &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("line 2: field \"id\": duplicate id \"17\""), "{error}");
}

#[test]
fn pairs_of_the_same_name_are_duplicates() {
    let backend = tempfile::tempdir().unwrap();
    for name in ["1.png", "1.jpg"] {
        std::fs::write(backend.path().join(name), "").unwrap();
    }
    let dataset = Dataset::open(backend.path(), &shape()).unwrap();
    let broken = broken(&dataset);
    assert_eq!(broken.first[0].place.file.file_name(), Some("1.png".as_ref()));
    assert!(broken.to_string().ends_with("duplicate id \"1\"; ids must be unique"), "{broken}");
}

#[test]
fn a_hundred_thousand_lines_are_planned() {
    let mut lines = String::new();
    for number in 0..100_000 {
        writeln!(lines, "{{\"id\":\"item-{number}\",\"screenshot\":\"1.png\",\"n\":{number}}}")
            .unwrap();
    }
    let (_backend, dataset) = manifest(&lines);
    let options = PlanOptions::default();
    assert_eq!(check(&dataset, &options, &mut |_| ()).unwrap().jobs, 100_000);
    let last = jobs(&dataset, &options, &template()).unwrap().last().unwrap().unwrap();
    assert_eq!(last.item.id, "item-99999");
}

#[test]
fn errors_display_paths_as_given() {
    let error = Dataset::open(Path::new("no/such.jsonl"), &shape()).unwrap_err();
    assert_eq!(PlanError::from(error).to_string(), "no/such.jsonl does not exist; check the path");
}

#[test]
fn sample_is_equal_in_both_passes_and_stable_under_added_lines() {
    let chosen = |lines: &str, options: &PlanOptions| -> Vec<String> {
        let (_backend, dataset) = manifest(lines);
        let summary = check(&dataset, options, &mut |_| ()).unwrap();
        let jobs = jobs(&dataset, options, &template()).unwrap();
        let ids: Vec<String> = jobs.map(|job| job.unwrap().item.id).collect();
        assert_eq!(summary.items, ids.len() as u64);
        assert_eq!(summary.sampled_from.is_some(), options.sample.is_some());
        ids
    };
    let sampled = |items, seed| PlanOptions {
        sample: Some(ItemSample { items, seed }),
        ..PlanOptions::default()
    };
    let lines = numbered(200);
    let of_all = chosen(&lines.concat(), &sampled(40, 7));
    assert_eq!(of_all.len(), 40);
    assert_ne!(of_all, chosen(&lines.concat(), &sampled(40, 8)), "another seed");
    let reversed: String = lines.iter().rev().map(String::as_str).collect();
    let mut other_order = chosen(&reversed, &sampled(40, 7));
    other_order.reverse();
    assert_eq!(other_order, of_all);
    let more = chosen(&numbered(220).concat(), &sampled(40, 7));
    let kept = more.iter().filter(|id| of_all.contains(id)).count();
    let new = more.iter().filter(|id| id.parse::<u32>().unwrap() >= 200).count();
    assert_eq!(kept + new, 40, "an item leaves a sample only for a new one");
    assert!(chosen(&lines.concat(), &sampled(10, 7)).iter().all(|id| of_all.contains(id)));
    assert_eq!(chosen(&lines.concat(), &sampled(500, 7)).len(), 200);

    let filtered = options(&["fifth=2"], None, 1);
    let filtered = PlanOptions { sample: Some(ItemSample { items: 10, seed: 7 }), ..filtered };
    let of_fifth = chosen(&lines.concat(), &filtered);
    assert_eq!(of_fifth.len(), 10);
    assert!(of_fifth.iter().all(|id| id.parse::<u32>().unwrap() % 5 == 2));
    let limited = chosen(&lines.concat(), &PlanOptions { limit: Some(3), ..filtered });
    assert_eq!(limited, of_fifth[..3]);
}
