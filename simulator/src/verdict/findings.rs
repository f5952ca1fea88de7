//! Made-up findings that agree with the scores: they touch every criterion below the top, and no
//! other.

use super::{ScoredCriterion, shape::FindingWords, vocabulary};
use crate::random::Random;
use serde_json::{Value, json};

/// Most findings that a made-up verdict has; one touches several criteria where there are more.
const MAX_FINDINGS: usize = 6;

pub(super) fn draw(random: &mut Random, words: &FindingWords, scored: &[ScoredCriterion]) -> Value {
    let flawed: Vec<&ScoredCriterion> = scored.iter().filter(|one| one.share < 1.0).collect();
    let size = flawed.len().div_ceil(MAX_FINDINGS).max(1);
    flawed.chunks(size).filter_map(|touched| finding(random, words, touched)).collect()
}

fn finding(
    random: &mut Random,
    words: &FindingWords,
    touched: &[&ScoredCriterion],
) -> Option<Value> {
    let first = touched.first()?;
    let listed = |list: &[String], word: &str| list.iter().any(|one| one == word);
    let defect = vocabulary::defect(random, &first.key).filter(|defect| {
        listed(&words.kinds, defect.kind) && listed(&words.elements, defect.element)
    });
    let (kind, element, shown, found) = match defect {
        Some(defect) => (defect.kind, defect.element, defect.shown, defect.found),
        None => {
            let (kind, element) = (random.pick(&words.kinds)?, random.pick(&words.elements)?);
            (kind.as_str(), element.as_str(), "something else", "a deviation")
        }
    };
    let best = touched.iter().map(|one| one.share).fold(0.0, f64::max);
    let severity = match best {
        0.7.. => "minor",
        0.3.. => "major",
        _ => "critical",
    };
    let title = kind.replace('_', " ");
    let mut finding = json!({
        "kind": kind, "element": element, "where": format!("the {element}"),
        "criteria": touched.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(),
        "shown": shown, "found": found, "severity": severity,
        "statement": format!("The {element} has a {title}: {found}, should be {shown}"),
    });
    if let (true, Some(fields)) = (words.has_region, finding.as_object_mut()) {
        // A made-up finding is shown by no region.
        fields.insert("region".to_owned(), 0.into());
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::verdict::{Shape, draw};
    use juror_types::rubric::{builtin_named, reply_schema};
    use std::collections::HashSet;

    #[test]
    fn findings_concern_only_scores_below_the_top() {
        for name in ["semantic", "acrue"] {
            let rubric = builtin_named(name).unwrap().parse().unwrap();
            let shape = Shape::from_request(Some(&reply_schema(&rubric)), &[]).unwrap();
            for seed in 0..200 {
                let reply = draw(&shape, seed, None, &[]);
                let findings = reply["findings"].as_array().unwrap();
                let criteria =
                    findings.iter().flat_map(|finding| finding["criteria"].as_array().unwrap());
                let touched: HashSet<&str> = criteria.map(|key| key.as_str().unwrap()).collect();
                for criterion in &rubric.criteria {
                    let scores = &reply["scores"];
                    let of_criterion = match &criterion.group {
                        None => &scores[&criterion.key],
                        Some(group) => &scores[group]["sub_scores"][&criterion.key],
                    };
                    let score = of_criterion["score"].as_u64().unwrap();
                    let below = score < u64::from(rubric.scale.max);
                    assert_eq!(touched.contains(criterion.key.as_str()), below, "{reply}");
                }
                for finding in findings {
                    let kind = finding["kind"].as_str().unwrap();
                    assert!(rubric.vocabulary.kind(kind).is_some());
                }
                assert!(
                    findings.len() <= 6 && reply["suspected_instructions"] == serde_json::json!([])
                );
            }
        }
    }

    #[test]
    fn finding_has_a_region_where_its_schema_requires_one() {
        let shape_of = |name: &str| {
            let rubric = builtin_named(name).unwrap().parse().unwrap();
            Shape::from_request(Some(&reply_schema(&rubric)), &[]).unwrap()
        };
        let regions = |reply: &serde_json::Value| -> Vec<Option<u64>> {
            let findings = reply["findings"].as_array().unwrap().iter();
            findings
                .map(|finding| finding.get("region").map(|region| region.as_u64().unwrap()))
                .collect()
        };
        let [plain, measured] = ["semantic", "semantic-evidence"].map(shape_of);
        let recorded = draw(&plain, 7, None, &[]);
        assert!(!regions(&recorded).is_empty());
        assert!(regions(&recorded).iter().all(Option::is_none));
        assert!(regions(&measured.fit(&recorded).unwrap()).iter().all(|region| *region == Some(0)));
        let mut cited = draw(&measured, 7, None, &[]);
        assert!(regions(&cited).iter().all(|region| *region == Some(0)));
        cited["findings"][0]["region"] = 2.into();
        assert_eq!(regions(&measured.fit(&cited).unwrap())[0], Some(2));
        assert_eq!(regions(&plain.fit(&cited).unwrap())[0], None);
    }

    #[test]
    fn recorded_verdict_of_version_two_serves_version_one() {
        let shape_of = |name: &str| {
            let rubric = builtin_named(name).unwrap().parse().unwrap();
            Shape::from_request(Some(&reply_schema(&rubric)), &[]).unwrap()
        };
        let recorded = draw(&shape_of("semantic"), 7, None, &[]);
        assert_eq!(shape_of("semantic").fit(&recorded).as_ref(), Some(&recorded));
        let first = shape_of("semantic@1").fit(&recorded).unwrap();
        let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["scores", "issues", "strengths"]);
        assert_eq!(
            first["scores"]["layout_accuracy"],
            recorded["scores"]["layout_accuracy"]["score"]
        );
        assert_eq!(first["issues"][0], recorded["findings"][0]["statement"]);
        assert_eq!(shape_of("acrue").fit(&recorded), None);
        let restyled = draw(&shape_of("acrue"), 7, None, &[]);
        let first = shape_of("acrue@1").fit(&restyled).unwrap();
        assert!(first.get("findings").is_none() && first.get("overall_assessment").is_some());
    }
}
