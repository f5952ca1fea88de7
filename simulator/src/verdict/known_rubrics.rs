//! The two rubrics that come with the program, for prompts that show no form of the reply.

use super::shape::Shape;
use juror_types::rubric::{Criterion, Rubric, builtin_named, reply_schema};
use serde_json::json;
use std::sync::LazyLock;

/// The shapes of the two rubrics that come with the program, by the keys that a prompt names.
pub(super) fn named_in(texts: &[&str]) -> Shape {
    let is_named = |criterion: &Criterion| texts.iter().any(|text| text.contains(&criterion.key));
    let [acrue, semantic] = &*RUBRICS;
    if let Some(acrue) = acrue.as_ref().filter(|acrue| acrue.criteria.iter().all(is_named)) {
        return Shape::from_schema(&reply_schema(acrue));
    }
    let mut semantic = semantic.clone();
    if let Some(semantic) = &mut semantic {
        semantic.criteria.retain(is_named);
    }
    match semantic.filter(|semantic| !semantic.criteria.is_empty()) {
        Some(semantic) => Shape::from_schema(&reply_schema(&semantic)),
        None => Shape::Fixed(json!({"answer": "the simulator knows no rubric in this question"})),
    }
}

/// The rubrics `acrue` and `semantic` in their first versions.
static RUBRICS: LazyLock<[Option<Rubric>; 2]> =
    LazyLock::new(|| ["acrue@1", "semantic@1"].map(|name| builtin_named(name)?.parse().ok()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_rubrics_are_recognized_by_their_keys() {
        let acrue = RUBRICS[0].as_ref().unwrap();
        let keys: Vec<&str> = acrue.criteria.iter().map(|criterion| &*criterion.key).collect();
        let Shape::Object(parts) = named_in(&[&keys.join(", ")]) else {
            panic!("no object");
        };
        assert_eq!(parts[1].0, "overall_assessment");
        let Shape::Object(groups) = &parts[0].1 else { panic!("no groups") };
        assert_eq!(groups.len(), 5);
        let Shape::Object(parts) = named_in(&["visual_similarity"]) else {
            panic!("no object");
        };
        let score = Shape::Score { least: 0, most: 10 };
        assert_eq!(parts[0].1, Shape::Object(vec![("visual_similarity".to_owned(), score)]));
        assert!(!named_in(&["hello"]).scores());
    }
}
