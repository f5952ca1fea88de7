use super::*;
use serde_json::json;

const DIGEST: &str = "1f0e3dad99908345f7439f8ffabdffc4ad31b5b2a3f5e0bc6fdee1e2a3b4c5d6";

fn shape(images: &[&str]) -> DatasetShape {
    let images = images.iter().map(|&image| image.to_owned()).collect();
    DatasetShape { images, ..DatasetShape::default() }
}

fn read(fields: Value, shape: &DatasetShape) -> Result<Item, String> {
    let backend = tempfile::tempdir().unwrap();
    let files = Files::new(backend.path(), &[], shape.allowed.clone(), Vec::new()).unwrap();
    let Value::Object(fields) = fields else { panic!("an object is expected") };
    let mut warnings = Warnings::new(&shape.known_fields());
    parse_item(fields, shape, &files, &mut warnings)
        .map_err(|error| format!("{}: {}", error.field.unwrap_or_default(), error.problem))
}

/// An item with a screenshot and these fields.
fn with(mut fields: Value) -> Result<Item, String> {
    for (name, value) in [("id", "one"), ("screenshot", "1.png")] {
        if fields.get(name).is_none() {
            fields[name] = json!(value);
        }
    }
    read(fields, &shape(&["screenshot"]))
}

#[test]
fn fields_are_mapped_and_the_rest_is_metadata() {
    let item = with(json!({
        "schema": 1, "generated_code": "code/1.tsx", "sha256": DIGEST,
        "expected_tokens": {"color": {"primary": "#fff"}}, "extracted_tokens": "tokens/1.json",
        "expected_pattern": "button", "retrieved_pattern": "card", "quality_score": 1,
        "style": "Candy", "tags": ["a", "b"], "cluster": "c", "labels": {"visual_similarity": 9},
        "split": "test", "facts": {"same": true}, "nothing": null,
    }))
    .unwrap();
    assert_eq!(item.images["screenshot"].reference, "1.png");
    let references: Vec<_> = item.references().collect();
    assert_eq!(references, ["1.png", "code/1.tsx", "tokens/1.json"]);
    assert_eq!(item.images["screenshot"].sha256, Some(DIGEST.parse().unwrap()));
    assert_eq!(item.generated_code, Some(Text::Path("code/1.tsx".into())));
    assert_eq!(item.language, Some(Language::Tsx));
    let tokens = json!({"color": {"primary": "#fff"}});
    assert_eq!(item.expected_tokens, Some(TokenSource::Inline(tokens)));
    assert_eq!(item.extracted_tokens, Some(TokenSource::Path("tokens/1.json".into())));
    assert_eq!(item.expected_pattern.as_deref(), Some("button"));
    assert_eq!(item.retrieved_pattern.as_deref(), Some("card"));
    assert_eq!(item.quality_score, Some(1.0));
    assert_eq!(item.style.as_deref(), Some("Candy"));
    assert_eq!(item.tags, ["a", "b"]);
    assert_eq!(item.cluster.as_deref(), Some("c"));
    assert_eq!(Value::Object(item.labels), json!({"visual_similarity": 9}));
    assert_eq!(Value::Object(item.metadata), json!({"split": "test", "facts": {"same": true}}));
}

#[test]
fn integer_id_keeps_its_notation() {
    for (id, expected) in [(json!(17), "17"), (json!(-1), "-1"), (json!(0), "0")] {
        assert_eq!(with(json!({ "id": id })).unwrap().id, expected);
    }
}

#[test]
fn null_fields_are_absent() {
    let nulls = KNOWN_FIELDS.iter().filter(|name| **name != "id");
    let fields = nulls.map(|name| ((*name).to_owned(), Value::Null)).collect();
    let item = with(Value::Object(fields)).unwrap();
    assert_eq!(item, with(json!({})).unwrap());
}

#[test]
fn blank_cluster_and_expected_pattern_are_absent() {
    for blank in ["", "  "] {
        let item = with(json!({"cluster": blank, "expected_pattern": blank})).unwrap();
        assert_eq!((item.cluster, item.expected_pattern), (None, None));
    }
}

#[test]
fn rubric_of_two_images_reads_both_in_order() {
    let shape = DatasetShape { style_required: true, ..shape(&["original", "restyled"]) };
    let item = read(
        json!({"restyled": "b.png", "id": "fox", "original": "a.jpg", "style": "Ukiyo-e",
               "sha256": {"restyled": DIGEST, "original": null}, "screenshot": "is metadata"}),
        &shape,
    )
    .unwrap();
    assert_eq!(item.images.keys().collect::<Vec<_>>(), ["original", "restyled"]);
    assert_eq!(item.images["original"].sha256, None);
    assert!(item.images["restyled"].sha256.is_some());
    assert!(item.metadata.contains_key("screenshot"));
    let missing = read(json!({"id": "fox", "original": "a", "restyled": "b"}), &shape);
    assert_eq!(missing.unwrap_err(), "style: missing; every item needs it");
}

#[test]
fn code_is_a_path_only_if_unambiguous() {
    let code = |code: &str| with(json!({"generated_code": code})).unwrap().generated_code;
    for path in ["a.tsx", "dir/my file.HTML", "x.mjs", "https://host/a.tsx?signed=1"] {
        assert_eq!(code(path), Some(Text::Path(path.into())), "{path}");
    }
    for inline in ["<a/>.tsx", "x.tsx\n", "f{}.js", "export default 1;", "a.vue", "tsx", ".tsx"] {
        assert_eq!(code(inline), Some(Text::Inline(inline.into())), "{inline}");
    }
    for inline in ["a/b", "f(a/b.c)", "a/b.c\n", "x=a/b.length", "1/2.5"] {
        assert_eq!(code(inline), Some(Text::Inline(inline.into())), "{inline}");
    }
    assert_eq!(code("  \n"), None);
    let item = with(json!({"generated_code": "a.html", "language": "JSX"})).unwrap();
    assert_eq!(item.language, Some(Language::Jsx));
    assert_eq!(with(json!({"generated_code": "<b/>"})).unwrap().language, None);
}

#[test]
fn single_string_is_one_tag() {
    assert_eq!(with(json!({"tags": "a;b"})).unwrap().tags, ["a;b"]);
}

#[test]
fn errors_name_field_and_remedy() {
    for (fields, message) in [
        (json!({"id": 5.5}), "id: expected a text in quotes, found a number"),
        (json!({"id": " "}), "id: empty; every item needs it"),
        (
            json!({"id": ".."}),
            "id: \"..\" is not a valid id, since it cannot be part of a URL; use another id",
        ),
        (json!({"id": "a\u{1b}[1m"}), "id: \"a\\u{1b}[1m\" has control characters; remove them"),
        (json!({"screenshot": ["1.png"]}), "screenshot: expected a text in quotes, found a list"),
        (
            json!({"screenshot": "../1.png"}),
            "screenshot: \"../1.png\" has '..', which is not allowed",
        ),
        (
            json!({"screenshot": "/1.png"}),
            "screenshot: \"/1.png\" is outside the manifest's folder",
        ),
        (
            json!({"screenshot": "https://user:password@example.com/1.png?signed"}),
            "screenshot: \"https://example.com/1.png\" is invalid: it contains a user or password",
        ),
        (json!({"screenshot": "s3://bucket"}), "screenshot: \"s3://bucket\" is invalid: it"),
        (json!({"generated_code": "/x.tsx"}), "generated_code: \"/x.tsx\" is outside"),
        (
            json!({"generated_code": "ftp://x/y.tsx"}),
            "generated_code: \"ftp://x/y.tsx\" is not a reference; use a path relative",
        ),
        (
            json!({"generated_code": "code/App.vue"}),
            "generated_code: \"code/App.vue\" looks like a path, but has no supported \
             extension; use a file that ends in .tsx",
        ),
        (
            json!({"generated_code": "https://x/y.svelte?signed=1"}),
            "generated_code: \"https://x/y.svelte\" looks like a path",
        ),
        (
            json!({"generated_code": "https://ci.example/artifact?id=5&name=button.tsx"}),
            "generated_code: \"https://ci.example/artifact\" looks like a path",
        ),
        (
            json!({"generated_code": "s3://bucket/code/123"}),
            "generated_code: \"s3://bucket/code/123\" looks like a path",
        ),
        (json!({"expected_tokens": "../t.json"}), "expected_tokens: \"../t.json\" has '..'"),
        (
            json!({"expected_tokens": [1]}),
            "expected_tokens: expected an object or the path of a file, found a list",
        ),
        (
            json!({"extracted_tokens": "{\"a\":1}"}),
            "extracted_tokens: a text that contains JSON; write the object",
        ),
        (json!({"schema": 2}), "schema: schema 2 is not supported: this version reads schema 1"),
        (json!({"schema": "1"}), "schema: schema \"1\" is not supported"),
        (
            json!({"language": "vue"}),
            "language: \"vue\" is not a supported language; use tsx, jsx, ts, js or html",
        ),
        (json!({"quality_score": 88}), "quality_score: 88 is outside 0 to 1; scale it"),
        (json!({"quality_score": -0.1}), "quality_score: -0.1 is outside 0 to 1"),
        (
            json!({"quality_score": "0.5"}),
            "quality_score: expected a number from 0 to 1, found a text",
        ),
        (json!({"labels": [1]}), "labels: expected an object, found a list"),
        (json!({"tags": [1]}), "tags: expected a list of texts, found a number"),
        (json!({"tags": 1}), "tags: expected a list of texts, found a number"),
        (json!({"cluster": 1}), "cluster: expected a text in quotes, found a number"),
        (json!({"sha256": "12"}), "sha256: \"12\" is not a SHA-256 digest"),
        (
            json!({"sha256": {"shot": DIGEST}}),
            "sha256: \"shot\" is not an image of the rubric; use screenshot",
        ),
        (
            json!({"sha256": {"screenshot": 1}}),
            "sha256: expected a text for each image, found a number",
        ),
        (
            json!({"sha256": 1}),
            "sha256: expected a text, or an object with one per image, found a number",
        ),
    ] {
        let error = with(fields.clone()).unwrap_err();
        assert!(error.starts_with(message), "{fields}: {error}");
    }
}

#[test]
fn missing_field_suggests_similar_names() {
    let shape = shape(&["screenshot"]);
    let error = read(json!({"id": "one", "screenshots": "1.png"}), &shape).unwrap_err();
    assert_eq!(error, "screenshot: missing; rename \"screenshots\" if that is what it should be");
    let error = read(json!({"screenshot": "1.png"}), &shape).unwrap_err();
    assert_eq!(error, "id: missing; every item needs it");
    let error = read(json!({"id": null, "screenshot": "1.png"}), &shape).unwrap_err();
    assert_eq!(error, "id: missing; every item needs it");
}
