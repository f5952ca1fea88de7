use super::*;
use crate::rubric::builtin;

/// Small custom rubric; tests invalidate it one line at a time.
const VALID: &str = r#"schema = 1
id = "two-shots"
version = 3
title = "Two screenshots of one page"
max_output_tokens = 500
formula = "sum_over_max"
success = { at_least = 0.9 }
scale = { min = 0, max = 4 }

[[images]]
name = "before"
label = "Before the change"
[[images]]
name = "after"
label = "After the change"

[prompt]
system = "You compare screenshots."
task = "Score from {scale_min} to {scale_max}."

[[criteria]]
key = "content"
title = "Content"
guidance = "Is the content the same?"
weight = 2
anchors = [
  { from = 4, to = 4, means = "the same" },
  { from = 0, to = 3, means = "not the same" },
]
[[criteria]]
key = "look"
title = "Look"
guidance = "Does it look the same?"

[[metrics]]
name = "avg_look"
of = "look"
kind = "mean"
"#;

/// The errors of the valid file with one passage replaced.
fn errors_with(passage: &str, replacement: &str) -> String {
    assert_eq!(VALID.matches(passage).count(), 1, "{passage}");
    let text = VALID.replace(passage, replacement);
    Rubric::parse(&text, "own.toml").expect_err(replacement).to_string()
}

fn acrue_errors_with(passage: &str, replacement: &str) -> String {
    let text = builtin()[1].text;
    assert!(text.contains(passage), "{passage}");
    let text = text.replacen(passage, replacement, 1);
    Rubric::parse(&text, "acrue.toml").expect_err(replacement).to_string()
}

#[test]
fn custom_rubric_is_parsed_with_its_digest() {
    let rubric = Rubric::parse(VALID, "own.toml").unwrap();
    assert_eq!(rubric.name(), "two-shots@3");
    assert_eq!(rubric.digest, Digest::from_content(VALID.as_bytes()));
    assert_eq!(rubric.reference().digest, rubric.digest);
    assert_eq!(rubric.criteria[0].weight, 2.0);
    assert_eq!(rubric.criteria[1].weight, 1.0);
}

#[test]
fn an_unknown_key_is_named_with_file_and_line() {
    let message = errors_with("weight = 2", "wieght = 2");
    assert!(message.ends_with(": unknown key 'wieght'; did you mean 'weight'?"), "{message}");
    assert!(message.starts_with("own.toml:25: criteria.content.wieght"), "{message}");
    let message = errors_with("version = 3", "version = 3\ntargets = 1");
    assert!(message.starts_with("own.toml:4: targets: unknown key 'targets'; use "), "{message}");
}

#[test]
fn invalid_toml_and_wrong_types_are_reported_with_their_line() {
    assert!(errors_with("version = 3", "version = ").starts_with("own.toml:3: "));
    let cases = [
        (
            "version = 3",
            "version = -3",
            ":3: version: invalid value: integer '-3', expected a whole number of 0 or more",
        ),
        ("version = 3", "version = 3\nid = \"x\"", ":4: the key id is a duplicate"),
        (
            "weight = 2",
            "weight = \"2\"",
            ":25: criteria.content.weight: invalid type: string \"2\", expected a number",
        ),
        ("to = 4, means", "means", ":27: criteria.content.anchors[1]: missing field 'to'; add it"),
        ("title = \"Look\"\n", "", ":30: criteria.look: missing field 'title'; add it"),
        ("title = \"Two screenshots of one page\"\n", "", ": missing field 'title'; add it"),
        ("at_least = 0.9", "", ":7: success: set exactly one bound, above or at_least"),
        ("at_least = 0.9", "above = 0.9, at_least = 0.9", ":7: success: set exactly one bound"),
    ];
    for (passage, replacement, expected) in cases {
        let message = errors_with(passage, replacement);
        assert!(message.starts_with(&format!("own.toml{expected}")), "{message}");
    }
}

#[test]
fn a_key_that_is_a_column_of_reports_is_named_with_its_line() {
    for key in ["cost_usd", "id", "semantic_correctness", "tags"] {
        let message = errors_with("key = \"look\"", &format!("key = {key:?}"));
        assert!(message.contains(&format!("{key:?} is a column of reports")), "{message}");
        assert!(message.contains(&format!("criteria.{key}.key: ")), "{message}");
        let line = message.strip_prefix("own.toml:").unwrap_or_default();
        assert!(line.starts_with(|first: char| first.is_ascii_digit()), "{message}");
    }
}

#[test]
fn another_version_of_the_format_is_refused_before_anything_else() {
    let message = errors_with("schema = 1", "schema = 2\nfresh = true");
    assert!(
        message.starts_with(
            "own.toml:1: schema: this file has schema 2, and this program reads schema 1"
        ),
        "{message}"
    );
    let message = errors_with("schema = 1\n", "");
    assert!(message.starts_with("own.toml: schema: is missing"), "{message}");
}

#[test]
fn every_problem_is_named_at_once_in_the_order_of_lines() {
    let text = VALID
        .replace("weight = 2", "weight = -1")
        .replace("max_output_tokens = 500", "max_output_tokens = 0")
        .replace("of = \"look\"", "of = \"looks\"");
    let message = Rubric::parse(&text, "own.toml").unwrap_err().to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 3, "{message}");
    assert!(lines[0].starts_with("own.toml:5: max_output_tokens: is 0"), "{message}");
    assert_eq!(
        lines[1],
        "own.toml:25: criteria.content.weight: -1 is not a weight; use 0, or 0.001 to 1000"
    );
    assert_eq!(
        lines[2],
        "own.toml:37: metrics.avg_look.of: no criterion has the key \"looks\"; use one of \
         content, look"
    );
}

#[test]
fn invalid_rubrics_are_refused() {
    let cases = [
        ("weight = 2", "weight = nan", "own.toml:25: criteria.content.weight: NaN is not a weight"),
        ("weight = 2", "weight = inf", "inf is not a weight"),
        ("key = \"look\"", "key = \"content\"", "is a duplicate"),
        ("key = \"look\"", "key = \"Look!\"", "not a valid name"),
        ("key = \"look\"", "key = \"look\"\ngroup = \"x\"", "sum_over_max has no groups"),
        (
            "id = \"two-shots\"",
            "id = \"../shots\"",
            "own.toml:2: id: \"../shots\" is not a valid name",
        ),
        ("min = 0, max = 4", "min = 4, max = 4", "own.toml:8: scale.min: 4 is not below"),
        ("min = 0, max = 4", "min = 0, max = 1001", "1001 is above 1000"),
        ("from = 4, to = 4", "from = 4, to = 5", "leaves the scale of 0 to 4"),
        (
            "from = 0, to = 3",
            "from = 0, to = 4",
            "own.toml:28: criteria.content.anchors[2]: from 0 to 4 overlaps",
        ),
        ("from = 0, to = 3", "from = 3, to = 0", "is not a band"),
        ("\"not the same\"", "\" \"", "is empty"),
        ("at_least = 0.9", "at_least = 90", "own.toml:7: success.at_least: 90 is not from 0 to 1"),
        ("at_least = 0.9", "above = 1.0", "no correctness is above 1"),
        ("at_least = 0.9", "at_least = nan", "NaN is not from 0 to 1"),
        (
            "name = \"before\"",
            "name = \"after\"",
            "own.toml:14: images.after.name: \"after\" is a duplicate",
        ),
        ("name = \"before\"", "name = \"generated_code\"", "is another field of items"),
        ("{scale_min}", "{style}", "own.toml:19: prompt.task: unknown placeholder {style}"),
        ("\"You compare screenshots.\"", "\"\"", "own.toml:18: prompt.system: is empty"),
        ("version = 3", "version = 0", "versions count from 1"),
        ("version = 3", "version = 3\nneeds = [\"style\", \"style\"]", "needs[2]: is a duplicate"),
        ("version = 3", "version = 3\ngrades = [{ name = \"A\", from = 0 }]", "has no grades"),
        ("kind = \"mean\"", "kind = \"group_mean\"", "no group has the key \"look\""),
        ("name = \"avg_look\"", "name = \"grades\"", "the name of an overall metric"),
        (
            "formula = \"sum_over_max\"",
            "formula = \"weighted_groups\"",
            "needs at least one [[groups]]",
        ),
    ];
    for (passage, replacement, expected) in cases {
        let message = errors_with(passage, replacement);
        assert!(message.contains(expected), "{replacement}: {message}");
    }
    let weightless = VALID
        .replace("weight = 2", "weight = 0")
        .replace("key = \"look\"", "key = \"look\"\nweight = 0.0");
    let message = Rubric::parse(&weightless, "own.toml").unwrap_err().to_string();
    assert!(message.contains("every weight is 0"), "{message}");
}

#[test]
fn empty_lists_are_refused() {
    let (head, rest) = VALID.split_once("[[images]]").unwrap();
    let (_, prompt) = rest.split_once("[prompt]").unwrap();
    let (prompt, _) = prompt.split_once("[[criteria]]").unwrap();
    let text = format!("{head}\nimages = []\ncriteria = []\n[prompt]{prompt}");
    let message = Rubric::parse(&text, "own.toml").unwrap_err().to_string();
    assert!(message.contains("images: is empty"), "{message}");
    assert!(message.contains("criteria: is empty"), "{message}");
}

#[test]
fn invalid_groups_and_grades_are_refused() {
    let cases = [
        (
            "group = \"accuracy\"",
            "group = \"acuracy\"",
            "no group has the key \"acuracy\"; use one of accuracy,",
        ),
        ("group = \"accuracy\"\n", "", "criteria.faithfulness.group: is missing"),
        ("key = \"relevance\"", "key = \"relevant\"", "groups.relevant: has no criterion"),
        ("weight = 0.5", "weight = -0.5", "-0.5 is not a weight"),
        ("key = \"completeness\"", "key = \"accuracy\"", "is a duplicate"),
        ("name = \"F\", from = 0", "name = \"F\", from = 10", "the last one must be from 0"),
        ("name = \"A\", from = 80", "name = \"A\", from = 95", "grades.A: from 95 is not below"),
        ("name = \"A\", from = 80", "name = \"A+\", from = 80", "is the name of two grades"),
        ("name = \"A+\", from = 90", "name = \"A+\", from = 900", "is not a percentage"),
        ("of = \"usefulness\"", "of = \"clarity\"", "no group has the key \"clarity\""),
        ("from = 5, to = 5", "from = 4, to = 5", "anchors[2]: from 4 to 4 overlaps"),
    ];
    for (passage, replacement, expected) in cases {
        let message = acrue_errors_with(passage, replacement);
        assert!(message.contains(expected), "{replacement}: {message}");
    }
}

proptest::proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}", cut in 0_usize..6000) {
        let _ = Rubric::parse(&text, "own.toml");
        let whole = builtin()[0].text;
        let _ = Rubric::parse(whole.get(..cut).unwrap_or(whole), "own.toml");
    }
}

/// The valid file with replies of version 2 and this table of findings.
fn with_findings(findings: &str) -> Result<Rubric, RubricError> {
    let text = VALID.replace(
        "[[images]]\nname = \"before\"",
        &format!("{findings}\n[[images]]\nname = \"before\""),
    );
    Rubric::parse(&text.replace("version = 3", "version = 3\nreply = 2"), "own.toml")
}

#[test]
fn vocabulary_is_referenced_extended_or_inline() {
    let own = r#"
[findings]
vocabulary = "interface"
max = 8
kinds = [
  { key = "wrong_map", title = "Wrong map", means = "another region is shown", criteria = ["look"] },
  { key = "overlap", title = "Collision", means = "parts collide" },
]
elements = [{ key = "map", title = "Map" }]"#;
    let rubric = with_findings(own).unwrap();
    assert_eq!((rubric.reply, rubric.findings.max), (ReplyVersion::Two, 8));
    assert_eq!(rubric.vocabulary.kinds[0].key, "wrong_map");
    assert_eq!(rubric.vocabulary.kind("overlap").unwrap().title, "Collision");
    assert_eq!(rubric.vocabulary.kinds.iter().filter(|kind| kind.key == "overlap").count(), 1);
    assert!(rubric.vocabulary.kind("wrong_color").is_some());
    assert!(
        rubric.vocabulary.element("map").is_some() && rubric.vocabulary.element("button").is_some()
    );
    let plain = Rubric::parse(VALID, "own.toml").unwrap();
    assert_eq!(plain.reply, ReplyVersion::One);
    assert!(plain.vocabulary.kinds.is_empty());
}

#[test]
fn invalid_vocabulary_is_reported_with_its_remedy() {
    let kind = r#"{ key = "gone", title = "Gone", means = "missing", criteria = ["charm"] }"#;
    let cases = [
        ("[findings]\nvocabulary = \"faces\"".to_owned(), "use one of interface, picture"),
        (
            format!("[findings]\nvocabulary = \"picture\"\nkinds = [{kind}]"),
            "no criterion has the key \"charm\"",
        ),
        ("[findings]\nmax = 5".to_owned(), "has no entry \"other\""),
        ("[findings]\nvocabulary = \"picture\"\nmax = 0".to_owned(), "is not from 1 to 100"),
        (
            "[findings]\nvocabulary = \"picture\"\nelements = [{ key = \"A b\", title = \"-\" }]"
                .to_owned(),
            "not a valid name",
        ),
    ];
    for (findings, message) in cases {
        let error = with_findings(&findings).unwrap_err().to_string();
        assert!(error.starts_with("own.toml:") && error.contains(message), "{error}");
    }
    let error = errors_with("version = 3", "version = 3\nreply = 3");
    assert!(error.contains("3 is not a reply version; use 1 or 2"), "{error}");
    let error = errors_with("version = 3", "version = 3\nfindings = { vocabulary = \"picture\" }");
    assert!(error.contains("set `reply = 2`"), "{error}");
}
