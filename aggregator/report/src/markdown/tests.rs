use super::*;
use juror_analysis::test_fixtures::{
    ACRUE, SEMANTIC, broken, judged, ledger, record, report_of, restyled, staged,
};
use juror_types::{
    outcome::{ErrorKind, JobResult, Outcome},
    run::RunRecord,
    usage::Money,
};

const HOSTILE: &str = "| x |\n\n# h\n@everyone <img src=x> [a](b) `c` https://evil.example www.evil.example #1 </details>";

fn comment(record: &RunRecord, results: &[JobResult]) -> String {
    let ledger = ledger(results, Money::ZERO);
    let (report, _directory, _runs) = report_of(record, results, Some("targets"), Some(ledger));
    render(&report)
}

/// Asserts that every row of a table has as many cells as its header.
fn tables_hold(comment: &str) {
    let bars = |line: &str| line.matches('|').count();
    let mut wanted = None;
    for line in comment.lines() {
        wanted = if line.starts_with('|') { wanted.or(Some(bars(line))) } else { None };
        if let Some(wanted) = wanted {
            assert_eq!(bars(line), wanted, "{line}");
        }
    }
}

#[test]
fn the_decision_comes_first() {
    let results = [
        judged("good", [10; 5], &[], &["All right"]),
        judged("bad", [4, 9, 10, 5, 9], &["Missing icon"], &[]),
        broken("lost", Outcome::Failed, ErrorKind::Api, "503 four times"),
    ];
    let comment = comment(&record(SEMANTIC, 3), &results);
    let begin = "## Juror: ❌ Gate targets: missed\n\n2 of 3 scored";
    assert!(comment.starts_with(begin), "{comment}");
    for line in [
        "| Visual Similarity | missed | 7/10 | > 9/10 | [",
        "| Semantic Correctness | judged | 87% | [",
        "- Cost: &#36;0.0119 of a budget of &#36;5.00",
        "- Not scored (api): 1 job: 503 four times",
        "- Missing icon (1 item, 50%)",
        "| lost | failed | api: 503 four times |",
        "| bad | 74% | Missing icon |",
    ] {
        assert!(comment.contains(line), "no {line:?} in:\n{comment}");
    }
    tables_hold(&comment);
}

#[test]
fn untrusted_text_breaks_no_table_mentions_no_user_and_adds_no_link() {
    let mut judged = judged(HOSTILE, [4; 5], &[HOSTILE], &[HOSTILE]);
    judged.retrieval.as_mut().unwrap().retrieved = Some(HOSTILE.into());
    let lost = broken("lost", Outcome::Failed, ErrorKind::Api, HOSTILE);
    let comment = comment(&record(SEMANTIC, 2), &[judged, lost]);
    tables_hold(&comment);
    for word in ["@e", "<img", "](", "`", "://", "www.", " #1", "\n# h"] {
        assert!(!comment.contains(word), "{word:?} in:\n{comment}");
    }
    assert_eq!(comment.matches("</details>").count(), 1);
}

#[test]
fn simulated_graded_and_unjudged_runs_are_labeled() {
    let mut fox = restyled("fox", [4, 5, 4, 3, 4], &["Dull"]);
    fox.judge.as_mut().unwrap().simulated = true;
    let graded = comment(&record(ACRUE, 1), &[fox]);
    assert!(graded.contains("- ⚠️ Simulated: every score was made up"), "{graded}");
    assert!(graded.contains("| Percentage SIMULATED | judged | 82% |"), "{graded}");
    assert!(graded.contains("| fox | 82% A SIMULATED | Dull |"), "{graded}");

    let mut record = record(SEMANTIC, 1);
    record.judge = None;
    let mut unjudged = staged("a");
    unjudged.judge = None;
    let unjudged = comment(&record, &[unjudged]);
    assert!(unjudged.contains("judge off") && !unjudged.contains("Cost:"), "{unjudged}");
    assert!(unjudged.contains("| Token Accuracy | measured | 92% |"), "{unjudged}");
}

#[test]
fn comment_stays_within_the_posting_limit() {
    let longest = "<".repeat(5_000);
    let results: Vec<JobResult> = (0..200)
        .map(|number| {
            let kinds = [ErrorKind::Api, ErrorKind::Image, ErrorKind::Input, ErrorKind::Reply];
            let id = format!("{longest}{number}");
            match number % 2 {
                0 => broken(&id, Outcome::Failed, kinds[number / 2 % 4], &longest),
                _ => judged(&id, [1; 5], &[&format!("{longest}{number}")], &[&longest]),
            }
        })
        .collect();
    let mut record = record(SEMANTIC, 200);
    record.judge.as_mut().unwrap().model = longest.clone();
    let comment = comment(&record, &results);
    assert!(comment.chars().count() < 65_536, "{}", comment.len());
    assert!(comment.contains("Look at these first"));
    tables_hold(&comment);
}
