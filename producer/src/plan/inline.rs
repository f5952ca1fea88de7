//! Inlining of small files with code and tokens into jobs, so that workers on other machines need
//! not read the files.

use crate::dataset::Dataset;
use juror_types::item::{Item, Text, TokenSource};
use serde_json::Value;

/// Maximum size of an inlined file in bytes; larger ones stay references.
const MAX_INLINE_BYTES: u64 = 64 * 1024;

/// Replaces an item's references by the content of the files. A file that is not valid code or
/// tokens stays a reference, so that the worker reports the problem.
pub(super) fn inline(item: &mut Item, dataset: &Dataset) {
    if let Some(Text::Path(path)) = &item.generated_code
        && let Some(code) = dataset.read_text(path, MAX_INLINE_BYTES)
    {
        item.generated_code = Some(Text::Inline(code));
    }
    for tokens in [&mut item.expected_tokens, &mut item.extracted_tokens] {
        if let Some(TokenSource::Path(path)) = tokens
            && !path.ends_with(".json5")
            && let Some(text) = dataset.read_text(path, MAX_INLINE_BYTES)
            && let Ok(object @ Value::Object(_)) = serde_json::from_str(&text)
        {
            *tokens = Some(TokenSource::Inline(object));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::DatasetShape;
    use juror_types::item::Language;
    use serde_json::json;

    /// The first item of a manifest beside these files, with its small files in it.
    fn inlined(files: &[(&str, &[u8])], fields: Value) -> Item {
        let backend = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(backend.path().join(name), content).unwrap();
        }
        let mut line = json!({"id": "a", "screenshot": "1.png"});
        line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        std::fs::write(backend.path().join("set.jsonl"), line.to_string()).unwrap();
        let shape = DatasetShape { images: vec!["screenshot".into()], ..DatasetShape::default() };
        let dataset = Dataset::open(&backend.path().join("set.jsonl"), &shape).unwrap();
        let mut item = dataset.items().unwrap().next().unwrap().unwrap().item;
        inline(&mut item, &dataset);
        item
    }

    #[test]
    fn small_files_are_inlined_with_type_information() {
        let files: [(&str, &[u8]); 3] = [
            ("a.jsx", "\u{feff}<a>é</a>".as_bytes()),
            ("a.json", br##"{"color": {"primary": "#fff"}}"##),
            ("b.json", b"\xef\xbb\xbf{}"),
        ];
        let fields = json!({
            "generated_code": "a.jsx", "expected_tokens": "a.json", "extracted_tokens": "b.json",
        });
        let item = inlined(&files, fields);
        assert_eq!(item.generated_code, Some(Text::Inline("<a>é</a>".into())));
        assert_eq!(item.language, Some(Language::Jsx));
        let tokens = json!({"color": {"primary": "#fff"}});
        assert_eq!(item.expected_tokens, Some(TokenSource::Inline(tokens)));
        assert_eq!(item.extracted_tokens, Some(TokenSource::Inline(json!({}))));
        assert_eq!(item.images["screenshot"].reference, "1.png", "images never travel");
    }

    #[test]
    fn large_files_stay_references() {
        let most = vec![b'x'; 64 * 1024];
        let fields = json!({"generated_code": "a.tsx"});
        let item = inlined(&[("a.tsx", &most)], fields.clone());
        assert!(matches!(item.generated_code, Some(Text::Inline(code)) if code.len() == 65_536));
        let item = inlined(&[("a.tsx", &[&most[..], b"x"].concat())], fields);
        assert_eq!(item.generated_code, Some(Text::Path("a.tsx".into())));
    }

    #[test]
    fn unreadable_files_stay_references() {
        for (name, content) in
            [("a.tsx", &b"\xff\xfe"[..]), ("a.json", b"[1]"), ("a.json", b"{"), ("a.json5", b"{}")]
        {
            let field = if name == "a.tsx" { "generated_code" } else { "expected_tokens" };
            let item = inlined(&[(name, content)], json!({ field: name }));
            let code = item.generated_code.map(|code| code == Text::Path(name.into()));
            let tokens = item.expected_tokens.map(|set| set == TokenSource::Path(name.into()));
            assert_eq!(code.or(tokens), Some(true), "{name}");
        }
        let item = inlined(&[], json!({"generated_code": "gone.tsx"}));
        assert_eq!(item.generated_code, Some(Text::Path("gone.tsx".into())));
    }

    #[test]
    fn link_out_of_the_folder_is_not_followed() {
        let backend = tempfile::tempdir().unwrap();
        let folder = backend.path().join("set");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(backend.path().join("secret.tsx"), "secret").unwrap();
        std::fs::write(folder.join("own.tsx"), "own").unwrap();
        std::os::unix::fs::symlink("../secret.tsx", folder.join("out.tsx")).unwrap();
        std::os::unix::fs::symlink("own.tsx", folder.join("in.tsx")).unwrap();
        std::fs::write(folder.join("set.jsonl"), "").unwrap();
        let dataset = Dataset::open(&folder.join("set.jsonl"), &DatasetShape::default()).unwrap();
        for (name, text) in [("out.tsx", None), ("in.tsx", Some("own")), (".", None)] {
            assert_eq!(dataset.read_text(name, 100).as_deref(), text, "{name}");
        }
    }
}
