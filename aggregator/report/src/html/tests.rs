//! Tests of the page's content and of its escaping. tests/pages opens it in a real browser.

use super::*;
use crate::{Attachment, NoAttachments, Picture, attachment::Code};
use juror_analysis::test_fixtures::{
    ACRUE, SEMANTIC, broken, judged, record, report_of, restyled, staged,
};
use juror_types::{
    item::Language,
    outcome::{ErrorKind, InputRecord, JobResult, Outcome},
    run::RunRecord,
};
use std::collections::HashMap;

const HOSTILE: &str = "</script></style><img src=x onerror=alert(1)>\"'&\u{202e}";

fn page_of(record: &RunRecord, results: &[JobResult], attachments: &dyn Attachments) -> String {
    let (report, directory, _runs) = report_of(record, results, Some("targets"), None);
    let mut page = Vec::new();
    write(&report, directory.files(), attachments, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

fn has(page: &str, words: &[&str]) {
    for word in words {
        assert!(page.contains(word), "no {word:?}");
    }
}

struct OneExhibit;

impl Attachments for OneExhibit {
    fn gather(&self, shown: &[AttachmentRequest]) -> HashMap<String, Attachment> {
        let picture = Picture {
            media_type: "image/png",
            bytes: vec![1, 2, 3],
            width: 4,
            height: 5,
            is_original: true,
            remark: None,
        };
        let attachment = Attachment {
            pictures: vec![
                ("screenshot".into(), Ok(picture)),
                ("second".into(), Err(HOSTILE.into())),
            ],
            code: Some(Ok(Code {
                text: format!("a\n\tb {HOSTILE}"),
                language: Some(Language::Tsx),
                left_out: 1_234,
                remark: Some(HOSTILE.to_owned()),
            })),
        };
        shown.iter().map(|one| (one.screenshot_id.clone(), attachment.clone())).collect()
    }
}

#[test]
fn banner_without_a_gate_is_neutral() {
    let page_without_gate = |planned| {
        let record = record(SEMANTIC, planned);
        let (report, directory, _runs) =
            report_of(&record, &[judged("good", [10; 5], &[], &[])], None, None);
        let mut page = Vec::new();
        write(&report, directory.files(), &NoAttachments, &mut page).unwrap();
        String::from_utf8(page).unwrap()
    };
    let complete = page_without_gate(1);
    has(&complete, &["decision no-gate", "Complete, no gate set", ">measured<", ">judged<"]);
    let incomplete = page_without_gate(2);
    has(&incomplete, &["decision undecided", "Incomplete, no gate set"]);
    for page in [complete, incomplete] {
        assert!(!page.contains("decision met") && !page.contains("decision missed"));
    }
}

#[test]
fn decision_comes_first_and_every_result_is_listed() {
    let results = [
        judged("good", [10; 5], &[], &["All right"]),
        judged("bad", [4, 9, 10, 5, 9], &["Missing icon"], &[]),
        broken("lost", Outcome::Failed, ErrorKind::Api, "503 four times"),
        broken("late", Outcome::Skipped, ErrorKind::Budget, "no budget"),
    ];
    let page = page_of(&record(SEMANTIC, 4), &results, &NoAttachments);
    has(
        &page,
        &[
            "Gate targets: missed",
            "2 of 4 scored (50%), 1 failed, 1 skipped.",
            "<strong>Missed: </strong>",
            "503 four times",
            "<caption><span>4 results, worst first",
            "aria-label=\"Visual similarity. 4: 1, 10: 1\"",
            "Missing icon",
            "7/10",
        ],
    );
    let place = |word: &str| page.find(word).unwrap();
    for (number, id) in ["lost", "bad", "good", "late"].into_iter().enumerate() {
        let head = format!("<th scope=\"row\"><a href=\"#i{number}\"><bdi>{id}</bdi>");
        has(&page, &[&head]);
    }
    assert!(place("Gate targets") < place("Semantic Correctness"));
    assert!(!page.contains("SIMULATED"));
}

#[test]
fn simulated_results_are_marked_everywhere() {
    let mut result = judged("a", [9; 5], &["Missing icon"], &["All right"]);
    result.judge.as_mut().unwrap().simulated = true;
    let page = page_of(&record(SEMANTIC, 1), &[result], &NoAttachments);
    for heading in [
        "<h1>Evaluation with a judge ",
        "Gate targets: missed</strong> ",
        "Semantic Correctness <span class=\"origin\">judged</span> ",
        "Pipeline Success <span class=\"origin\">measured and judged</span> ",
        "<bdi>targets</bdi> <span class=\"chip missed\">missed</span> ",
        "Distribution of scores ",
        "Issues and strengths ",
        "All items ",
        "90% <span class=\"faint\">45/50</span></strong>",
    ] {
        has(&page, &[&format!("{heading}<strong class=\"simulated\">SIMULATED</strong>")]);
    }
}

#[test]
fn untrusted_text_is_escaped_in_the_page() {
    let mut result = judged(HOSTILE, [9; 5], &[HOSTILE], &[HOSTILE]);
    result.item.tags = vec![HOSTILE.into()];
    result.item.cluster = Some(HOSTILE.into());
    result.retrieval.as_mut().unwrap().retrieved = Some(HOSTILE.into());
    let input = |name: &str| InputRecord {
        name: name.into(),
        reference: HOSTILE.into(),
        digest: None,
        note: Some(HOSTILE.into()),
        signature: None,
    };
    result.item.inputs = vec![input("screenshot"), input(HOSTILE)];
    let lost = broken("lost", Outcome::Failed, ErrorKind::Api, HOSTILE);
    let mut record = record(SEMANTIC, 2);
    record.dataset.path = HOSTILE.into();
    record.dataset.filters = vec![HOSTILE.into()];
    let page = page_of(&record, &[result, lost], &OneExhibit);
    assert!(!page.contains("<img src=x") && !page.contains('\u{202e}'));
    assert_eq!(page.matches("</script>").count(), 1);
    assert_eq!(page.matches("</style>").count(), 1);
    has(
        &page,
        &[
            "&lt;/script&gt;&lt;/style&gt;&lt;img src=x onerror=alert(1)&gt;&quot;",
            "src=\"data:image/png;base64,AQID\" width=\"4\" height=\"5\"",
            "<code dir=\"ltr\">a\n\tb &lt;/script",
            "1,234 more bytes are left out.",
        ],
    );
}

#[test]
fn graded_item_shows_its_dimensions_and_all_rationales() {
    let page =
        page_of(&record(ACRUE, 1), &[restyled("fox", [4, 5, 4, 3, 4], &["Dull"])], &NoAttachments);
    has(&page, &["A faithful print.", "82%", "20.5/25", "× 0.5", "It shows.", "Exceptional"]);
}

#[test]
fn page_without_a_judge_shows_only_stages() {
    let mut record = record(SEMANTIC, 1);
    record.judge = None;
    let mut result = staged("a");
    result.judge = None;
    let page = page_of(&record, &[result], &NoAttachments);
    has(&page, &["Evaluation without a judge", "judge off", "Token Accuracy"]);
    assert!(!page.contains("Cost, $") && !page.contains("Distribution of scores"));
}

#[test]
fn rows_beyond_the_table_limit_are_collapsed_and_sections_kept_for_the_worst() {
    let results: Vec<JobResult> = (0..MAX_SECTIONS + 1)
        .map(|number| judged(&format!("item_{number:05}"), [9; 5], &[], &[]))
        .collect();
    let page = page_of(&record(SEMANTIC, results.len() as u64), &results, &NoAttachments);
    has(&page, &["<summary>Results 2,001 to 2,001</summary>", "These are the 2,000 to look at"]);
    assert_eq!(page.matches("<tr data-o=").count(), MAX_SECTIONS + 1);
    assert_eq!(page.matches("<article").count(), MAX_SECTIONS);
    assert_eq!(page.matches("</details>").count(), page.matches("<details").count());
    assert_eq!(page.matches("</table>").count(), page.matches("<table").count());
}
