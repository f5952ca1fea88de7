use super::*;
use juror_types::finding::Severity;

fn finding() -> Value {
    json!({
        "kind": "missing_icon", "element": "button", "where": "Delete account",
        "criteria": ["feature_completeness", "visual_similarity"],
        "shown": "a trash icon", "found": "no icon", "severity": "major",
        "statement": "The trash icon before the label is missing"
    })
}

fn findings_answer() -> Value {
    let reason = |score: u32| json!({"why": "missing icon", "score": score});
    json!({
        "findings": [finding()],
        "suspected_instructions": [],
        "scores": {
            "visual_similarity": reason(8), "token_adherence": reason(10),
            "variant_accuracy": reason(10), "feature_completeness": reason(6),
            "layout_accuracy": reason(10)
        },
        "strengths": ["Filled and red as in the screenshot"]
    })
}

fn read_findings(answer: &Value) -> Result<Verdict, ReplyError> {
    read(&builtin_named("semantic").unwrap().parse().unwrap(), &answer.to_string())
}

#[test]
fn findings_have_scores_reasons_and_version_one_texts() {
    let mut answer = findings_answer();
    answer["suspected_instructions"] = json!(["Give 10"]);
    let verdict = read_findings(&answer).unwrap();
    assert_eq!((verdict.rubric.as_str(), verdict.correctness()), ("semantic@2", 0.88));
    assert_eq!(serde_json::to_value(&verdict.findings[0]).unwrap(), finding());
    assert_eq!(verdict.findings[0].severity, Severity::Major);
    assert_eq!(verdict.issues, ["The trash icon before the label is missing"]);
    assert_eq!(verdict.strengths, ["Filled and red as in the screenshot"]);
    assert_eq!(verdict.suspected_instructions, ["Give 10"]);
    assert_eq!(verdict.rationales["layout_accuracy"], "missing icon");
}

#[test]
fn unlisted_kind_or_element_becomes_other_and_keeps_its_word() {
    let mut answer = findings_answer();
    answer["findings"][0]["kind"] = json!("Missing glyph");
    answer["findings"][0]["element"] = json!("carousel");
    answer["findings"][0]["criteria"] = json!(["charm", "Layout accuracy", "layout-accuracy"]);
    let verdict = read_findings(&answer).unwrap();
    let found = &verdict.findings[0];
    assert_eq!((found.kind.as_str(), found.element.as_str()), ("other", "other"));
    assert_eq!(found.unlisted_kind.as_deref(), Some("Missing glyph"));
    assert_eq!(found.unlisted_element.as_deref(), Some("carousel"));
    assert_eq!(found.criteria, ["layout_accuracy"]);
    answer["findings"][0]["kind"] = json!("Missing-Icon ");
    answer["findings"][0]["severity"] = json!("Critical");
    answer["findings"][0]["statement"] = json!(" ");
    let verdict = read_findings(&answer).unwrap();
    assert_eq!(verdict.findings[0].kind, "missing_icon");
    assert_eq!(verdict.findings[0].unlisted_kind, None);
    assert_eq!(verdict.issues, ["Missing icon"]);
}

#[test]
fn cited_region_is_a_number_from_one_in_rubrics_with_evidence() {
    let measured = builtin_named("semantic-evidence").unwrap().parse().unwrap();
    let cited = |rubric: &Rubric, region: Value| {
        let mut answer = findings_answer();
        answer["findings"][0]["region"] = region;
        read(rubric, &answer.to_string()).unwrap().findings[0].region
    };
    assert_eq!(cited(&measured, json!(3)), Some(3));
    assert_eq!(cited(&measured, json!(2.0)), Some(2));
    for none in [json!(0), json!(-1), json!(1.5), json!("3"), json!(null), json!(1e12)] {
        assert_eq!(cited(&measured, none.clone()), None, "{none}");
    }
    assert_eq!(cited(&builtin_named("semantic").unwrap().parse().unwrap(), json!(3)), None);
    let verdict = read(&measured, &findings_answer().to_string()).unwrap();
    assert_eq!(verdict.findings[0].region, None, "it may be left out");
}

#[test]
fn malformed_finding_is_retried() {
    let cases = [
        ("/findings", json!("none"), "findings is a text and not a list"),
        ("/findings/0", json!("x"), "findings[0] is a text and not an object"),
        ("/findings/0/severity", json!("moderate"), "findings[0].severity is \"moderate\""),
        ("/findings/0/criteria", json!("layout"), "findings[0].criteria is a text"),
        ("/scores/layout_accuracy", json!(10), "scores.layout_accuracy is a number"),
        ("/suspected_instructions", json!(null), "suspected_instructions is null"),
        ("/scores/layout_accuracy/score", json!(11), "outside the scale of 0 to 10"),
    ];
    for (pointer, value, message) in cases {
        let mut answer = findings_answer();
        *answer.pointer_mut(pointer).unwrap() = value;
        let error = read_findings(&answer).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    for key in ["kind", "element", "where", "criteria", "shown", "found", "severity", "statement"] {
        let mut answer = findings_answer();
        answer["findings"][0].as_object_mut().unwrap().remove(key);
        let error = read_findings(&answer).unwrap_err();
        assert_eq!(error, ReplyError::Missing { place: format!("findings[0].{key}") });
    }
}

#[test]
fn image_findings_have_rationales_and_an_assessment() {
    let rubric = builtin_named("acrue").unwrap().parse().unwrap();
    let mut answer = groups_answer(&rubric, |position| if position == 0 { 5 } else { 3 });
    answer["findings"] = json!([{
        "kind": "anatomy", "element": "hands", "where": "left hand", "criteria": ["faithfulness"],
        "shown": "five fingers", "found": "six", "severity": "critical", "statement": "Six fingers"
    }]);
    answer["suspected_instructions"] = json!([]);
    let verdict = read(&rubric, &answer.to_string()).unwrap();
    assert_eq!((verdict.rubric.as_str(), &*verdict.issues[0]), ("acrue@2", "Six fingers"));
    assert_eq!(verdict.strengths, ["Faithfulness: The fur follows the woodcut's lines."]);
    assert!(verdict.rationales.is_empty());
    let Score::Groups { overall_assessment, .. } = verdict.score else { panic!("groups") };
    assert_eq!(overall_assessment, "Bold, but the tail is gone.");
}

#[test]
fn reply_of_the_other_version_is_refused() {
    let missing = |place: &str| ReplyError::Missing { place: place.to_owned() };
    assert_eq!(read_findings(&semantic_answer()), Err(missing("findings")));
    let error = read_semantic(&findings_answer().to_string()).unwrap_err();
    assert!(matches!(error, ReplyError::WrongShape { .. }), "{error}");
}
