//! Test fixtures: record and judge of a run, a score, a finding, and a measured region and token;
//! tests set only the relevant fields.

use crate::{
    SCHEMA,
    evidence::{EvidenceMode, EvidenceRegion, RegionElement, RegionKind, TokenEvidence},
    finding::{Finding, Severity},
    id::{Digest, RunId},
    job::{Detail, Judge, Provider, RubricReference},
    lane::Lane,
    outcome::JudgeRecord,
    run::{DatasetRecord, RunRecord},
    verdict::Score,
};

/// Judge of [`record`].
pub fn judge() -> Judge {
    Judge {
        provider: Provider::OpenAi,
        model: "gpt-4o".to_owned(),
        temperature: Some(0.1),
        detail: Detail::High,
        max_output_tokens: 1_000,
        strip_comments: true,
    }
}

/// Record of [`judge`] in a result.
pub fn judge_record() -> JudgeRecord {
    JudgeRecord {
        provider: Provider::OpenAi,
        model: judge().model,
        fingerprint: None,
        answered_by: None,
        base_url: None,
        simulated: false,
    }
}

/// Score by the five criteria of the rubric `semantic`.
pub fn semantic_score(scores: [u32; 5]) -> Score {
    const KEYS: [&str; 5] = [
        "visual_similarity",
        "token_adherence",
        "variant_accuracy",
        "feature_completeness",
        "layout_accuracy",
    ];
    let (total_score, max_score) = (f64::from(scores.iter().sum::<u32>()), 50.0);
    let semantic_correctness = total_score / max_score;
    let scores = KEYS.map(str::to_owned).into_iter().zip(scores).collect();
    Score::Sum { semantic_correctness, scores, total_score, max_score }
}

/// Minor finding without a place, criteria and a region.
pub fn finding(kind: &str, element: &str, statement: &str) -> Finding {
    Finding {
        kind: kind.to_owned(),
        element: element.to_owned(),
        place: String::new(),
        criteria: Vec::new(),
        shown: String::new(),
        found: String::new(),
        severity: Severity::Minor,
        statement: statement.to_owned(),
        region: None,
        unlisted_kind: None,
        unlisted_element: None,
    }
}

/// Token of this value that was not measured.
pub fn token(key: &str, expected: &str) -> TokenEvidence {
    TokenEvidence { key: key.to_owned(), expected: expected.to_owned(), ..TokenEvidence::default() }
}

/// Run on one machine without jobs, budget and rubric text.
pub fn record(run: &str) -> RunRecord {
    RunRecord {
        schema: SCHEMA,
        run_id: RunId::new(run),
        created_at: "2026-11-21T02:00:03Z".to_owned(),
        program_version: "0.1.0".to_owned(),
        dataset: DatasetRecord {
            path: "examples/golden".to_owned(),
            digest: Digest::from_content(b"dataset"),
            limit: None,
            filters: Vec::new(),
            sample: None,
        },
        data_roots: Vec::new(),
        rubric: RubricReference {
            id: "semantic".to_owned(),
            version: 1,
            digest: Digest::from_content(b"rubric"),
        },
        rubric_text: String::new(),
        judge: Some(judge()),
        evidence: EvidenceMode::None,
        max_side: None,
        preparation: None,
        stages: None,
        base_url: None,
        calls: None,
        judging: None,
        lane: Lane::Realtime,
        budget_usd: None,
        budget_labels: Vec::new(),
        baseline: None,
        decision: None,
        simulated: false,
        state_dir: None,
        repeat: 1,
        planned: 0,
        published: None,
        fleet: None,
        upload: None,
        keep_inputs: false,
        deadline: None,
    }
}

/// Button in another color, explained by one repair.
pub fn recolored_button() -> EvidenceRegion {
    let place = [57, 55, 80, 30];
    EvidenceRegion {
        place,
        render_box: place,
        share: 0.03,
        delta_e: 12.1,
        kind: RegionKind::Color,
        moved_by: None,
        element: Some(RegionElement {
            tag: "button".into(),
            id: None,
            text: "Save".into(),
            path: "body > button".into(),
            selector: None,
            place,
            alike: 1,
        }),
        property: Some("background-color".into()),
        is: Some("#2563EB".into()),
        should_be: Some("#1D4ED8".into()),
        explains: Some(0.97),
        alternatives: Vec::new(),
    }
}
