use super::*;
use crate::id::Digest;
use crate::rubric::{builtin, builtin_named};

fn schema_of(name: &str) -> Value {
    reply_schema(&builtin_named(name).unwrap().parse().unwrap())
}

fn keys(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn version_one_asks_for_scores_first() {
    let schema = schema_of("semantic@1");
    assert_eq!(keys(&schema), ["scores", "issues", "strengths"]);
    assert_eq!(
        schema["properties"]["scores"]["properties"]["layout_accuracy"],
        json!({"type": "integer", "minimum": 0, "maximum": 10, "description": "Layout accuracy"})
    );
    assert_eq!(schema["properties"]["scores"]["required"][0], json!("visual_similarity"));
    let schema = schema_of("acrue@1");
    assert_eq!(keys(&schema), ["scores", "overall_assessment"]);
    let group = &schema["properties"]["scores"]["properties"]["exceptional_value"];
    let sub_scores = &group["properties"]["sub_scores"];
    assert_eq!(keys(sub_scores).len(), 5);
    let sub_score = &sub_scores["properties"]["signature_details"];
    assert_eq!(keys(sub_score), ["score", "rationale"]);
    assert_eq!(sub_score["properties"]["score"]["maximum"], json!(5));
}

#[test]
fn version_two_asks_for_evidence_before_every_score() {
    let semantic = schema_of("semantic");
    assert_eq!(keys(&semantic), ["findings", "suspected_instructions", "scores", "strengths"]);
    let criterion = &semantic["properties"]["scores"]["properties"]["layout_accuracy"];
    assert_eq!(keys(criterion), ["why", "score"]);
    let acrue = schema_of("acrue");
    assert_eq!(
        keys(&acrue),
        ["findings", "suspected_instructions", "scores", "overall_assessment"]
    );
    let criterion = acrue.pointer("/properties/scores/properties/accuracy/properties/sub_scores");
    assert_eq!(keys(&criterion.unwrap()["properties"]["faithfulness"]), ["rationale", "score"]);
    for (schema, kind, element) in
        [(semantic, "wrong_color", "button"), (acrue, "anatomy", "hands")]
    {
        let finding = &schema["properties"]["findings"]["items"];
        let order =
            ["kind", "element", "where", "criteria", "shown", "found", "severity", "statement"];
        assert_eq!(keys(finding), order);
        let enumerated = |name: &str| finding["properties"][name]["enum"].as_array().unwrap();
        assert!(
            enumerated("kind").contains(&json!(kind))
                && enumerated("kind").contains(&json!("other"))
        );
        assert!(enumerated("element").contains(&json!(element)));
        assert_eq!(enumerated("severity"), &[json!("minor"), json!("major"), json!("critical")]);
    }
}

/// Keywords that the strict structured outputs of all providers document. Anthropic documents no
/// `minimum` and `maximum`; its adapter has to leave them out, and the reply is checked anyway.
const KEYWORDS: [&str; 9] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "description",
    "minimum",
    "maximum",
];

/// Strict structured output wants every key of every object, at any depth, within documented
/// limits: 5,000 properties, 10 levels, 1,000 values of enumerations, 120,000 characters of names
/// and values.
#[test]
fn every_schema_stays_within_the_documented_subset_and_its_limits() {
    #[derive(Default)]
    struct Size {
        properties: usize,
        depth: usize,
        values: usize,
        characters: usize,
    }
    fn check(schema: &Value, depth: usize, size: &mut Size) {
        for keyword in schema.as_object().unwrap().keys() {
            assert!(KEYWORDS.contains(&keyword.as_str()), "{keyword}");
        }
        size.depth = size.depth.max(depth);
        for value in schema["enum"].as_array().into_iter().flatten() {
            size.values += 1;
            size.characters += value.as_str().unwrap().len();
        }
        if schema["type"] == "object" {
            let properties = schema["properties"].as_object().unwrap();
            assert_eq!(schema["required"], json!(properties.keys().collect::<Vec<_>>()));
            assert_eq!(schema["additionalProperties"], json!(false));
            for (key, property) in properties {
                size.properties += 1;
                size.characters += key.len();
                check(property, depth + 1, size);
            }
        }
        if schema["type"] == "array" {
            check(&schema["items"], depth + 1, size);
        }
    }
    for rubric in builtin() {
        let mut size = Size::default();
        check(&reply_schema(&rubric.parse().unwrap()), 1, &mut size);
        assert!(size.properties <= 5_000 && size.depth <= 10, "{}", rubric.id);
        assert!(size.values <= 1_000 && size.characters <= 120_000, "{}", rubric.id);
    }
}

#[test]
fn strengths_are_omitted_where_the_rubric_excludes_them() {
    let mut rubric = builtin_named("semantic").unwrap().parse().unwrap();
    rubric.strengths = false;
    assert_eq!(keys(&reply_schema(&rubric)), ["findings", "suspected_instructions", "scores"]);
}

#[test]
fn a_finding_cites_a_region_where_the_rubric_needs_evidence() {
    let finding = |name: &str| schema_of(name)["properties"]["findings"]["items"].clone();
    let region = finding("semantic-evidence")["properties"]["region"].clone();
    assert_eq!((&region["type"], &region["minimum"]), (&json!("integer"), &json!(0)));
    assert!(finding("semantic")["properties"].get("region").is_none());
}

/// Servers cache compiled schemas, and old runs were judged with these bytes.
#[test]
fn schemas_without_evidence_are_byte_for_byte_unchanged() {
    let digests = [
        ("semantic", "2d9201ab2938f563a7c556bf7076ad20a62464f87521bd8e7cd59fe43fcc0481"),
        ("acrue", "7ca85ae0944ea810dbd72858454c9932364062d21e7efc2d19f02ae3576bbeff"),
        ("semantic@1", "c1e914acfe82d8fadd96aa8f2a3eb56c45b3f792b7cd8ef6b3e9e83a7c195853"),
        ("acrue@1", "cbdebd9cc78c17be2aabb5a450306f8154375b6571b2fcc1f3bb6385ae271709"),
    ];
    for (name, digest) in digests {
        let bytes = schema_of(name).to_string();
        assert_eq!(Digest::from_content(bytes.as_bytes()).to_string(), digest, "{name}");
    }
}
