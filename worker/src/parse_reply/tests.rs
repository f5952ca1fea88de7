mod findings;

use super::*;
use juror_types::{rubric::builtin_named, verdict::Score};
use proptest::prelude::*;
use serde_json::{Value, json};

fn semantic() -> Rubric {
    builtin_named("semantic@1").unwrap().parse().unwrap()
}

fn acrue() -> Rubric {
    builtin_named("acrue@1").unwrap().parse().unwrap()
}

fn semantic_answer() -> Value {
    json!({
        "scores": {
            "visual_similarity": 8,
            "token_adherence": 9,
            "variant_accuracy": 10,
            "feature_completeness": 6,
            "layout_accuracy": 9
        },
        "issues": ["The trash icon left of the label is not rendered"],
        "strengths": ["The button is filled and red as in the screenshot"]
    })
}

fn groups_answer(rubric: &Rubric, score: impl Fn(usize) -> u32) -> Value {
    let mut answer = json!({"scores": {}, "overall_assessment": "Bold, but the tail is gone."});
    for (position, criterion) in rubric.criteria.iter().enumerate() {
        let group = criterion.group.as_ref().unwrap();
        answer["scores"][group]["sub_scores"][&criterion.key] =
            json!({"score": score(position), "rationale": "The fur follows the woodcut's lines."});
    }
    answer
}

fn read_semantic(reply: &str) -> Result<Verdict, ReplyError> {
    read(&semantic(), reply)
}

/// Error of a semantic reply with this value at this pointer.
fn error_with(pointer: &str, value: Value) -> ReplyError {
    let mut answer = semantic_answer();
    *answer.pointer_mut(pointer).unwrap() = value;
    read_semantic(&answer.to_string()).unwrap_err()
}

#[test]
fn half_characters_of_a_verdict_are_replaced() {
    let mut answer = semantic_answer();
    answer["issues"] = json!(["The icon HALF is missing"]);
    let reply = answer.to_string().replace("HALF", "\\ud83d");
    assert_eq!(read_semantic(&reply).unwrap().issues, ["The icon \u{fffd} is missing"]);
}

#[test]
fn plain_semantic_reply_is_parsed() {
    let verdict = read_semantic(&semantic_answer().to_string()).unwrap();
    assert_eq!(verdict.correctness(), 0.84);
    assert_eq!(verdict.issues, ["The trash icon left of the label is not rendered"]);
    assert_eq!(verdict.strengths.len(), 1);
}

#[test]
fn acrue_reply_is_parsed() {
    let rubric = acrue();
    let answer = groups_answer(&rubric, |position| if position == 3 { 2 } else { 4 });
    let verdict = read(&rubric, &answer.to_string()).unwrap();
    assert_eq!(verdict.issues, ["No hallucinations: The fur follows the woodcut's lines."]);
    let Score::Groups { percentage, overall_assessment, .. } = verdict.score else {
        panic!("groups were expected")
    };
    assert_eq!(percentage, 78.0);
    assert_eq!(overall_assessment, "Bold, but the tail is gone.");
}

#[test]
fn single_object_is_found_in_surrounding_text() {
    let plain = semantic_answer().to_string();
    let pretty = format!("{:#}", semantic_answer());
    let replies = [
        format!("\u{feff}\r\n  {plain}\n\n"),
        format!("```json\n{pretty}\n```"),
        format!("```\n{pretty}\n```\n"),
        format!(
            "Here is my evaluation:\n\n```JSON\n{pretty}\n```\n\nTell me if you need more {{or less}}."
        ),
        format!("I compared <Button style={{{{color: 'red'}}}}> with the picture. {plain} Done."),
    ];
    let expected = read_semantic(&plain).unwrap();
    for reply in replies {
        assert_eq!(read_semantic(&reply).as_ref(), Ok(&expected), "{reply}");
    }
}

#[test]
fn last_matching_object_is_the_verdict() {
    let plain = semantic_answer().to_string();
    let mut draft = semantic_answer();
    draft["scores"]["layout_accuracy"] = json!(1);
    let expected = read_semantic(&plain).unwrap();
    for reply in [
        format!("{draft}\n{plain}"),
        format!("First try:\n```json\n{draft}\n```\nBetter:\n```json\n{plain}\n```"),
        format!("{{}} {plain}"),
        format!("{plain}\nThat is {{\"total\": 42}} of 50."),
        format!("<think>.a {{ color: red }} {draft} {{\"scores\": {{</think>\n{plain}"),
        format!("no tag at the start, {draft} </think> ```json\n{plain}\n```"),
        format!("<think>{}</think>{plain}", ".a { b: c } ".repeat(1_000)),
    ] {
        assert_eq!(read_semantic(&reply).as_ref(), Ok(&expected), "{reply}");
    }
    let thought_alone = format!("<think>{draft}</think> I cannot say.");
    assert!(matches!(read_semantic(&thought_alone), Err(ReplyError::NotJson { .. })));
    let cut = format!("A draft: {draft} Now: {}", &plain[..plain.len() - 5]);
    assert_eq!(read_semantic(&cut), Err(ReplyError::IncompleteJson));
    let none_fits = format!("{{}} {}", json!({"scores": {}}));
    let error = read_semantic(&none_fits).unwrap_err();
    assert_eq!(error, ReplyError::Missing { place: "scores.visual_similarity".to_owned() });
}

/// Openings of actual replies of vision models without a verdict.
#[test]
fn reply_without_an_object_is_not_json() {
    for reply in [
        "I cannot see the screenshot. Please provide the image.",
        "score1: 4/5, score2: 3/5",
        "[score1], [score2]",
        "naturalness 10 - artifacts 5 -",
        "and output artifacts = [0, 0, 0, 0].",
        "{scores: {visual_similarity: 8}}",
        "{'scores': {'visual_similarity': 8}}",
        r#"{"scores": {"visual_similarity": 8,}}"#,
        r#"{"scores": {"visual_similarity": <0 to 10>}}"#,
        r#"{"scores": {"visual_similarity": 8/10}}"#,
    ] {
        let error = read_semantic(reply).unwrap_err();
        assert!(matches!(error, ReplyError::NotJson { .. }), "{reply}: {error}");
    }
    for reply in ["", " \n\t", "\u{feff}"] {
        assert_eq!(read_semantic(reply), Err(ReplyError::Empty));
    }
}

#[test]
fn json_of_another_kind_is_a_wrong_shape() {
    for reply in ["[1]", "8", "null", "\"{}\"", &json!([semantic_answer()]).to_string()] {
        let error = read_semantic(reply).unwrap_err();
        assert!(matches!(error, ReplyError::WrongShape { .. }), "{reply}: {error}");
    }
}

#[test]
fn truncated_reply_is_detected_at_any_offset() {
    for (rubric, answer) in
        [(semantic(), semantic_answer()), (acrue(), groups_answer(&acrue(), |_| 3))]
    {
        let whole = answer.to_string();
        for end in 1..whole.len() {
            assert_eq!(read(&rubric, &whole[..end]), Err(ReplyError::IncompleteJson), "{end}");
        }
        let fenced = format!("```json\n{}", &whole[..whole.len() / 2]);
        assert_eq!(read(&rubric, &fenced), Err(ReplyError::IncompleteJson));
    }
}

#[test]
fn integers_are_accepted_in_any_notation() {
    let reply = semantic_answer().to_string();
    let expected = read_semantic(&reply).unwrap();
    for eight in ["8.0", "8.000", "8e0", "80e-1"] {
        let reply =
            reply.replacen("\"visual_similarity\":8", &format!("\"visual_similarity\":{eight}"), 1);
        assert_eq!(read_semantic(&reply).as_ref(), Ok(&expected), "{eight}");
    }
}

#[test]
fn non_integer_and_out_of_scale_scores_are_refused() {
    let pointer = "/scores/layout_accuracy";
    assert_eq!(
        error_with(pointer, json!(8.5)).to_string(),
        "the judge's reply gives scores.layout_accuracy 8.5, which is not a whole number"
    );
    for score in [json!(11), json!(-1), json!(1e300), json!(u64::MAX), json!(10.0000001e3)] {
        let error = error_with(pointer, score.clone());
        assert!(
            matches!(error, ReplyError::OutOfRange { .. } | ReplyError::NotWhole { .. }),
            "{score}: {error}"
        );
    }
    for score in [json!("8"), json!(null), json!(true), json!([8]), json!({"score": 8})] {
        let error = error_with(pointer, score.clone());
        assert!(matches!(error, ReplyError::WrongShape { .. }), "{score}: {error}");
    }
    let rubric = acrue();
    let below = groups_answer(&rubric, |position| u32::from(position != 7));
    assert_eq!(
        read(&rubric, &below.to_string()).unwrap_err().to_string(),
        "the judge's reply gives scores.completeness.sub_scores.global_consistency.score 0, \
         outside the scale of 1 to 5"
    );
}

#[test]
fn missing_key_is_reported() {
    for (parent, key, place) in [
        ("/scores", "token_adherence", "scores.token_adherence"),
        ("", "scores", "scores"),
        ("", "issues", "issues"),
        ("", "strengths", "strengths"),
    ] {
        let mut answer = semantic_answer();
        answer.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
        let error = read_semantic(&answer.to_string()).unwrap_err();
        assert_eq!(error, ReplyError::Missing { place: place.to_owned() });
    }
    let rubric = acrue();
    let mut answer = groups_answer(&rubric, |_| 3);
    answer["scores"]["relevance"]["sub_scores"]["intent_alignment"] = json!({"score": 3});
    assert_eq!(
        read(&rubric, &answer.to_string()).unwrap_err().to_string(),
        "the judge's reply lacks scores.relevance.sub_scores.intent_alignment.rationale"
    );
}

#[test]
fn duplicate_key_is_refused_and_unknown_keys_are_accepted() {
    let reply = semantic_answer().to_string();
    let twice = reply.replacen("\"scores\":{", "\"scores\":{\"token_adherence\":1,", 1);
    let error = read_semantic(&twice).unwrap_err();
    assert!(error.to_string().contains("\"token_adherence\" occurs twice"), "{error}");
    let mut further = semantic_answer();
    further["total_score"] = json!(50);
    further["scores"]["charm"] = json!("high");
    assert_eq!(read_semantic(&further.to_string()), read_semantic(&reply));
}

#[test]
fn statements_are_lists_of_sanitized_texts() {
    for value in [json!("none"), json!(null), json!([1]), json!([["nested"]])] {
        let error = error_with("/issues", value.clone());
        assert!(matches!(error, ReplyError::WrongShape { .. }), "{value}: {error}");
    }
    let mut answer = semantic_answer();
    answer["issues"] = json!(["  wrong\u{1b}[31m red\nfill ", "", "é".repeat(3_000)]);
    answer["strengths"] = json!(vec!["fine"; 150]);
    let verdict = read_semantic(&answer.to_string()).unwrap();
    assert_eq!(verdict.issues[0], "wrong [31m red fill");
    assert_eq!(verdict.issues[1], format!("{}…", "é".repeat(2_000)));
    assert_eq!((verdict.issues.len(), verdict.strengths.len()), (2, 100));
}

#[test]
fn deep_and_huge_replies_are_refused_in_bounded_time() {
    let deep = "{\"a\":".repeat(30_000);
    assert!(matches!(read_semantic(&deep), Err(ReplyError::NotJson { .. })));
    let huge = " {".repeat(200_000);
    assert_eq!(read_semantic(&huge), Err(ReplyError::TooLong { bytes: 399_999 }));
    let braces = "{".repeat(200_000);
    assert!(matches!(read_semantic(&braces), Err(ReplyError::NotJson { .. })));
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "(\\{|\\}|\"|:|,|\\[|\\]|scores|8|\\.|```json\n|\\\\|\\PC){0,60}") {
        let _ = read_semantic(&text);
        let _ = read(&acrue(), &text);
    }

    #[test]
    fn corrupted_replies_never_panic(cut in 0_usize..300, length in 0_usize..20, insert in "\\PC{0,4}") {
        let mut text = semantic_answer().to_string();
        let start = cut.min(text.len());
        let end = (start + length).min(text.len());
        text.replace_range(start..end, &insert);
        let _ = read_semantic(&text);
    }

    #[test]
    fn valid_replies_round_trip(
        scores in proptest::collection::vec(0_u32..=10, 5),
        statement in "[^\\pC\\s]([^\\pC]{0,30}[^\\pC\\s])?",
        before in "[^\\{\\[\"]{0,20}",
    ) {
        let rubric = semantic();
        let mut answer = semantic_answer();
        for (criterion, score) in rubric.criteria.iter().zip(&scores) {
            answer["scores"][&criterion.key] = json!(score);
        }
        answer["issues"] = json!([statement]);
        let verdict = read(&rubric, &format!("{before}\n{answer:#}\n")).unwrap();
        let Score::Sum { scores: read_scores, .. } = verdict.score else { panic!("a sum") };
        prop_assert_eq!(read_scores.into_values().collect::<Vec<_>>(), scores);
        prop_assert_eq!(verdict.issues, [statement]);
    }

    #[test]
    fn valid_grouped_replies_round_trip(scores in proptest::collection::vec(1_u32..=5, 20)) {
        let rubric = acrue();
        let answer = groups_answer(&rubric, |position| scores[position]);
        let verdict = read(&rubric, &answer.to_string()).unwrap();
        let Score::Groups { dimensions, .. } = verdict.score else { panic!("groups") };
        let sub_scores = dimensions.values().flat_map(|group| group.sub_scores.values());
        prop_assert_eq!(sub_scores.map(|sub_score| sub_score.score).collect::<Vec<_>>(), scores);
    }
}
