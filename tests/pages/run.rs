//! Run with hostile text from dataset, judge and provider.

use juror_types::{
    id::{Digest, RunId},
    item::{ImageReference, Item, Text},
    job::{Job, Judge},
    outcome::{ErrorKind, JobError, JobResult, JudgeRecord, Outcome},
    rubric::builtin,
    run::{DatasetRecord, RunRecord},
    test_record::{self, judge_record, semantic_score},
    usage::Money,
    verdict::Verdict,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Markup and scripts that would take effect if unescaped.
pub const HOSTILE: &str =
    "</script></style></template><script>hacked=1</script><img src=x onerror=hacked=2>\"'`&amp;";

/// Writes the run and has the command report it as a page.
pub fn page(folder: &Path) -> PathBuf {
    let rubric = builtin().iter().find(|rubric| rubric.id == "semantic").unwrap();
    let parsed = rubric.parse().unwrap();
    let judge = Judge { model: HOSTILE.into(), ..test_record::judge() };
    let run_id = RunId::parse("page").unwrap();
    let items = items(folder);
    let mut results: Vec<JobResult> = items
        .iter()
        .map(|item| {
            let job = Job::new(&run_id, item.clone(), 0, parsed.reference(), Some(judge.clone()));
            JobResult::empty(&job, Outcome::Scored)
        })
        .collect();
    let scores = [[9, 9, 10, 8, 9], [10; 5], [2, 3, 4, 5, 6]];
    for (number, (result, scores)) in results.iter_mut().zip(scores).enumerate() {
        let issues = if number == 1 { vec![] } else { vec![HOSTILE.into()] };
        let score = semantic_score(scores);
        let strengths = vec![HOSTILE.into()];
        result.semantic = Some(Verdict { issues, strengths, ..Verdict::new(parsed.name(), score) });
        result.judge = Some(JudgeRecord { model: HOSTILE.into(), ..judge_record() });
    }
    let failed = results.last_mut().unwrap();
    failed.outcome = Outcome::Failed;
    failed.error = Some(JobError { kind: ErrorKind::Api, message: HOSTILE.into() });

    let directory = folder.join("runs/page");
    fs::create_dir_all(&directory).unwrap();
    let manifest = folder.join("manifest.jsonl");
    let record = RunRecord {
        dataset: DatasetRecord {
            path: manifest.to_str().unwrap().into(),
            digest: Digest::from_content(&fs::read(&manifest).unwrap()),
            limit: None,
            filters: vec![HOSTILE.into()],
            sample: None,
        },
        rubric: parsed.reference(),
        rubric_text: rubric.text.into(),
        judge: Some(judge),
        base_url: Some("https://api.example/v1".into()),
        budget_usd: Some(Money::ZERO),
        planned: 4,
        ..test_record::record(run_id.as_str())
    };
    fs::write(directory.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    let lines: Vec<String> =
        results.iter().map(|result| serde_json::to_string(result).unwrap() + "\n").collect();
    fs::write(directory.join("results.jsonl"), lines.concat()).unwrap();
    report(folder)
}

fn report(folder: &Path) -> PathBuf {
    let page = folder.join("page.html");
    let reported = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["report", "page", "--quiet", "-o"])
        .arg(&page)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&reported.stderr);
    assert_eq!(reported.status.code(), Some(3), "{said}");
    page
}

/// Four items and their files; the name of the last one is an attack.
fn items(folder: &Path) -> Vec<Item> {
    fs::create_dir_all(folder.join("shots")).unwrap();
    let shot = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/golden/shots/tabs.png");
    fs::copy(shot, folder.join("shots/tabs.png")).unwrap();
    let item = |id: &str, tag: &str| Item {
        id: id.into(),
        images: [(
            "screenshot".to_owned(),
            ImageReference { reference: "shots/tabs.png".into(), sha256: None },
        )]
        .into_iter()
        .collect(),
        generated_code: Some(Text::Inline(format!("<p>\n{HOSTILE}</p>"))),
        tags: vec![tag.into()],
        ..Item::default()
    };
    let items = vec![
        item("alpha", "button"),
        item("beta", "form"),
        item("gamma", "button"),
        item(HOSTILE, HOSTILE),
    ];
    let lines: Vec<String> = items
        .iter()
        .map(|item| {
            let Some(Text::Inline(code)) = &item.generated_code else { unreachable!() };
            let line = serde_json::json!({
                "id": item.id, "screenshot": "shots/tabs.png", "generated_code": code,
                "tags": item.tags,
            });
            format!("{line}\n")
        })
        .collect();
    fs::write(folder.join("manifest.jsonl"), lines.concat()).unwrap();
    items
}
