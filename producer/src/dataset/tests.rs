use super::*;
use juror_types::item::{Language, Text, TokenSource};
use serde_json::json;
use tempfile::TempDir;

fn shape() -> DatasetShape {
    DatasetShape { images: vec!["screenshot".to_owned()], ..DatasetShape::default() }
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let backend = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = backend.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    backend
}

/// Ids of all items, or the error of a line.
fn ids(dataset: &Dataset) -> Vec<String> {
    let backend = dataset.source().parent().unwrap().display().to_string();
    let id = |placed: Result<ItemAtLine, LineError>| match placed {
        Ok(placed) => placed.item.id,
        Err(error) => error.to_string().replace(&backend, ""),
    };
    dataset.items().unwrap().map(id).collect()
}

fn open(path: &Path) -> Dataset {
    Dataset::open(path, &shape()).unwrap()
}

fn refused(path: &Path, shape: &DatasetShape) -> String {
    Dataset::open(path, shape).unwrap_err().to_string()
}

#[test]
fn manifest_can_be_read_repeatedly() {
    let backend = folder(&[(
        "golden.jsonl",
        "\u{feff}{\"id\":\"a\",\"screenshot\":\"1.png\"}\r\n\r\n{\"id\":\"b\",\"screenshot\":\"2.png\"}",
    )]);
    let dataset = open(&backend.path().join("golden.jsonl"));
    assert_eq!(dataset.format(), DatasetFormat::Jsonl);
    for _ in 0..2 {
        assert_eq!(ids(&dataset), ["a", "b"]);
    }
    let lines = dataset.items().unwrap().map(|placed| placed.unwrap().place.line);
    assert_eq!(lines.collect::<Vec<_>>(), [Some(1), Some(3)]);
    assert_eq!(dataset.folder(), backend.path().canonicalize().unwrap());
}

#[test]
fn code_that_names_a_file_of_an_unsupported_language_is_refused() {
    let line = |id: &str, code: &str| {
        json!({"id": id, "screenshot": "1.png", "generated_code": code}).to_string() + "\n"
    };
    let lines = line("a", "App.vue") + &line("b", "other.vue");
    let backend = folder(&[("1.png", ""), ("App.vue", "<template/>"), ("golden.jsonl", &lines)]);
    let found = ids(&open(&backend.path().join("golden.jsonl")));
    let message = "/golden.jsonl, line 1: field \"generated_code\": \"App.vue\" looks like a path";
    assert!(found[0].starts_with(message), "{found:?}");
    assert_eq!(found[1], "b", "no file has this name");
}

#[test]
fn a_folder_is_read_by_its_manifest() {
    let line = |id: &str| format!("{{\"id\":\"{id}\",\"screenshot\":\"1.png\"}}");
    let backend = folder(&[
        ("1.png", ""),
        ("dataset.jsonl", &line("from dataset")),
        ("metadata.jsonl", "{\"file_name\":\"1.png\"}"),
    ]);
    assert_eq!(ids(&open(backend.path())), ["from dataset"]);
    std::fs::write(backend.path().join("manifest.jsonl"), line("from manifest")).unwrap();
    assert_eq!(ids(&open(backend.path())), ["from manifest"]);
}

#[test]
fn invalid_lines_name_file_and_line_and_reading_continues() {
    let backend = tempfile::tempdir().unwrap();
    let path = backend.path().join("golden.jsonl");
    let mut bytes = b"{\"id\":\"a\",\"screenshot\":\"1.png\"}\n{\"id\":\n[]\n".to_vec();
    bytes.extend(b"{\"id\":\"\xff\"}\n{\"id\":\"b\"}\n");
    bytes.extend(b"{\"id\":\"c\",\"screenshot\":\"1.png\"}\n");
    bytes.extend(b"{\"id\":\"d\",\"screenshot\":\"1.png\",\"id\":\"e\"}\n");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(
        ids(&open(&path)),
        [
            "a",
            "/golden.jsonl, line 2: not valid JSON at column 6: EOF while parsing a value; write \
             one JSON object per line",
            "/golden.jsonl, line 3: expected a JSON object, found a list",
            "/golden.jsonl, line 4: not valid UTF-8; save the file as UTF-8",
            "/golden.jsonl, line 5: field \"screenshot\": missing; every item needs it",
            "c",
            "/golden.jsonl, line 7: not valid JSON at column 35: the key \"id\" occurs twice; write \
             one JSON object per line",
        ]
    );
}

#[test]
fn a_line_of_more_than_eight_megabytes_is_refused() {
    let code = "x".repeat(8 * 1024 * 1024);
    let jsonl = format!("{{\"id\":\"a\",\"generated_code\":\"{code}\"}}\n");
    let csv = format!("id,screenshot,generated_code\na,1.png,{code}\n");
    let backend = folder(&[("a.jsonl", &jsonl), ("a.csv", &csv)]);
    for name in ["a.jsonl", "a.csv"] {
        let errors = ids(&open(&backend.path().join(name)));
        assert_eq!(errors.len(), 1);
        assert!(
            errors[0].ends_with(
                "longer than 8 MB; put long texts into separate files and reference them"
            ),
            "{errors:?}"
        );
    }
}

#[test]
fn a_metadata_folder_names_its_images_by_file_name() {
    let backend = folder(&[(
        "metadata.jsonl",
        "{\"file_name\":\"a/1.png\",\"text\":\"a fox\"}\n{\"file_name\":\"2.png\",\"id\":\"two\"}\n",
    )]);
    let dataset = open(backend.path());
    assert_eq!(dataset.format(), DatasetFormat::Metadata);
    assert_eq!(ids(&dataset), ["a/1", "two"]);
    let first = dataset.items().unwrap().next().unwrap().unwrap().item;
    assert_eq!(first.images["screenshot"].reference, "a/1.png");
    assert_eq!(first.metadata["text"], "a fox");
    assert_eq!(open(&backend.path().join("metadata.jsonl")).format(), DatasetFormat::Metadata);
}

#[test]
fn a_csv_row_is_an_item() {
    let backend = folder(&[(
        "set.csv",
        "\u{feff}id,screenshot,generated_code,expected_tokens,extracted_tokens,quality_score,tags,labels,split,\r\n\
         007,1.png,\"<a>\n</a>\",\"{\"\"a\"\":{\"\"b\"\":1}}\",t.json,0.5,x; y;,\"{\"\"q\"\":9}\",test,\r\n\
         \r\n\
         b,2.png,,,,,,,,\r\n",
    )]);
    let dataset = open(&backend.path().join("set.csv"));
    assert_eq!(dataset.format(), DatasetFormat::Csv);
    let items: Vec<ItemAtLine> = dataset.items().unwrap().map(Result::unwrap).collect();
    let [ItemAtLine { item, place }, second] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!((item.id.as_str(), place.line), ("007", Some(2)));
    assert_eq!(item.generated_code, Some(Text::Inline("<a>\n</a>".into())));
    assert_eq!(item.expected_tokens, Some(TokenSource::Inline(json!({"a": {"b": 1}}))));
    assert_eq!(item.extracted_tokens, Some(TokenSource::Path("t.json".into())));
    assert_eq!(item.quality_score, Some(0.5));
    assert_eq!(item.tags, ["x", "y"]);
    assert_eq!(item.labels["q"], 9);
    assert_eq!(item.metadata["split"], "test");
    assert_eq!(second.place.line, Some(5));
    assert!(second.item.metadata.is_empty() && second.item.tags.is_empty());
}

#[test]
fn invalid_rows_name_file_and_line() {
    let backend = tempfile::tempdir().unwrap();
    let read = |bytes: &[u8]| {
        let path = backend.path().join("set.csv");
        std::fs::write(&path, bytes).unwrap();
        ids(&open(&path))
    };
    assert_eq!(
        read(b"id,screenshot\na,1.png,x\n\xff,1.png\nb,1.png\nc,\n"),
        [
            "/set.csv, line 2: not valid CSV: 3 cells under 2 columns; put cells with commas in quotes, and close every quote",
            "/set.csv, line 3: not valid UTF-8; save the file as UTF-8",
            "b",
            "/set.csv, line 5: field \"screenshot\": missing; every item needs it",
        ]
    );
    assert_eq!(
        read(b"id,id\na,b\n"),
        ["/set.csv, line 1: field \"id\": not valid CSV: two columns have this name; rename one"]
    );
    assert_eq!(
        read(b"id;screenshot\na;1.png\n"),
        [
            "/set.csv, line 1: not valid CSV: the header row is one column; separate columns by commas"
        ]
    );
    assert_eq!(
        read(b"id,screenshot,labels,quality_score\na,1.png,{x,0.5\nb,1.png,,good\n"),
        [
            "/set.csv, line 2: field \"labels\": not valid JSON at column 2: key must be a string; \
             write one JSON object per line",
            "/set.csv, line 3: field \"quality_score\": expected a number from 0 to 1, found a text",
        ]
    );
    assert_eq!(
        read(b"id,screenshot,cluster\r\n\r\na,1.png,\"c\"\r\n\n\nb\r\n\"c,1.png,d\n"),
        [
            "a",
            "/set.csv, line 6: not valid CSV: 1 cells under 3 columns; put cells with commas in \
             quotes, and close every quote",
            "/set.csv, line 7: not valid CSV: a quote is not closed before the end of the file; \
             close every quote",
        ]
    );
    assert_eq!(
        read(b"id,screenshot,generated_code\na,1.png,\"<b>x</b>\nb,1.png,b\nc,1.png,c\n"),
        ["/set.csv, line 2: not valid CSV: a quote is not closed before the end of the file; \
             close every quote",]
    );
    assert_eq!(read(b"id,screenshot,generated_code\na,1.png,\"x\n\""), ["a"]);
    assert!(read(b"").is_empty());
}

#[test]
fn subfolders_of_a_folder_of_pairs_are_warned_of() {
    let dataset = folder(&[("1.png", ""), ("more/2.png", ""), ("x.png/3.png", "")]);
    let mut items = open(dataset.path()).items().unwrap();
    assert_eq!(items.by_ref().count(), 1);
    assert_eq!(items.warnings(), ["subfolders, whose images are not read: 2"]);
}

#[test]
fn a_folder_of_pairs_is_read_by_name() {
    let backend = folder(&[
        ("10.png", ""),
        ("2.JPG", ""),
        ("2.html", ""),
        ("2.tokens.json", "{}"),
        ("3.webp", ""),
        ("3{x}.jpeg", ""),
        ("3{x}.tsx", ""),
        ("4.gif", ""),
        ("5.BMP", ""),
        (".hidden.png", ""),
        ("notes.txt", ""),
        ("alone.tsx", ""),
    ]);
    let dataset = open(backend.path());
    assert_eq!(dataset.format(), DatasetFormat::Pairs);
    let mut items = dataset.items().unwrap();
    let read: Vec<Item> = items.by_ref().map(|placed| placed.unwrap().item).collect();
    assert_eq!(
        read.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(),
        ["10", "2", "3", "3{x}", "4", "5"]
    );
    assert_eq!(read[0].generated_code, None);
    assert_eq!(read[1].images["screenshot"].reference, "2.JPG");
    assert_eq!(read[1].generated_code, Some(Text::Path("2.html".into())));
    assert_eq!(read[1].language, Some(Language::Html));
    assert_eq!(read[1].expected_tokens, Some(TokenSource::Path("2.tokens.json".into())));
    assert_eq!(read[3].generated_code, Some(Text::Path("3{x}.tsx".into())));
    assert_eq!(items.warnings(), ["files of code or tokens without an image of the same name: 1"]);
}

#[test]
fn a_pair_with_two_codes_is_ambiguous() {
    let backend = folder(&[("1.png", ""), ("1.tsx", ""), ("1.html", "")]);
    let error = open(backend.path()).items().unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.place.file.file_name().unwrap(), "1.png");
    assert!(error.to_string().ends_with(
        "field \"generated_code\": both \"1.tsx\" and \"1.html\" belong to it; keep one"
    ));
}

#[test]
fn non_dataset_is_refused() {
    let backend = folder(&[("set.json", "[]"), ("notes/readme.txt", ""), ("pairs/1.png", "")]);
    let at = |name: &str| backend.path().join(name);
    assert!(
        refused(&at("none.jsonl"), &shape()).ends_with("none.jsonl does not exist; check the path")
    );
    assert!(refused(&at("set.json"), &shape()).contains("set.json is not a dataset"));
    assert!(refused(&at("notes"), &shape()).contains("has no manifest.jsonl"));
    let acrue = DatasetShape {
        images: vec!["original".into(), "restyled".into()],
        style_required: true,
        ..DatasetShape::default()
    };
    let error = refused(&at("pairs"), &acrue);
    assert!(error.contains("needs the images original, restyled and a style"), "{error}");
    let rooted = DatasetShape { data_roots: vec![at("nowhere")], ..shape() };
    assert!(refused(&at("pairs"), &rooted).ends_with("nowhere does not exist; check the path"));
}

#[test]
fn dataset_digest_covers_the_manifest_or_the_listing() {
    let backend = folder(&[("set.jsonl", "abc"), ("pairs/1.png", "12"), ("pairs/1.tsx", "x")]);
    let manifest = open(&backend.path().join("set.jsonl"));
    assert_eq!(manifest.digest().unwrap(), Digest::from_content(b"abc"));
    let pairs = open(&backend.path().join("pairs"));
    let before = pairs.digest().unwrap();
    std::fs::write(backend.path().join("pairs/notes.txt"), "").unwrap();
    assert_eq!(pairs.digest().unwrap(), before);
    std::fs::write(backend.path().join("pairs/1.tsx"), "longer").unwrap();
    assert_ne!(pairs.digest().unwrap(), before);
}

#[test]
fn disallowed_hosts_are_warned_of_once_each() {
    let line = |id: u32, shot: &str| format!("{{\"id\":\"{id}\",\"screenshot\":\"{shot}\"}}\n");
    let shots = [
        "https://a.test/1.png?sig=c0ffee",
        "https://a.test/2.png",
        "http://a.test/2.png",
        "https://b.test/1.png",
        "s3://bucket/1.png",
        "s3://bucket/2.png",
    ];
    let manifest: String = shots.iter().zip(0..).map(|(shot, number)| line(number, shot)).collect();
    let backend = folder(&[("manifest.jsonl", &manifest)]);
    let hosts = ["b.test".to_owned()];
    let allowed = FetchPolicy::parse(&hosts, &[], &[]).unwrap();
    let shape = DatasetShape { allowed, ..shape() };
    let dataset = Dataset::open(&backend.path().join("manifest.jsonl"), &shape).unwrap();
    let mut items = dataset.items().unwrap();
    assert_eq!(items.by_ref().filter(Result::is_ok).count(), shots.len());
    let warnings = items.warnings();
    for (warning, expected_text) in warnings.iter().zip([
        "files from https://a.test are not allowed",
        "add \"http://a.test\" to files.hosts",
        "of s3://bucket is not allowed",
    ]) {
        assert!(warning.contains(expected_text) && !warning.contains("c0ffee"), "{warning}");
    }
    assert_eq!(warnings.len(), 3);
}

#[test]
fn near_misses_and_large_fields_are_warned_of_once() {
    let line = |id: u32| json!({"id": id.to_string(), "screenshot": "1.png", "screenshots": 1, "large": "x".repeat(2000)});
    let text: String = (0..3).map(|id| format!("{}\n", line(id))).collect();
    let backend = folder(&[("set.jsonl", &text)]);
    let mut items = open(&backend.path().join("set.jsonl")).items().unwrap();
    for placed in items.by_ref() {
        let metadata = placed.unwrap().item.metadata;
        assert_eq!(metadata.keys().collect::<Vec<_>>(), ["screenshots"]);
    }
    assert_eq!(items.warnings().len(), 2);
}
