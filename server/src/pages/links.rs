//! URLs of pages.

use juror_report::{document::NameKind, sanitize::sanitize};
use juror_types::id::RunId;
use maud::{Markup, html};
use url::{Url, form_urlencoded};

/// A query string with its question mark; empty without pairs.
pub fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        text.append_pair(name, &value);
    }
    let text = text.finish();
    if text.is_empty() { text } else { format!("?{text}") }
}

/// URL of a run's page.
pub fn run(run: &RunId) -> String {
    format!("/runs/{run}")
}

/// URL of an item's page; `query` begins with a question mark or is empty.
pub fn item(run: &RunId, item: &str, query: &str) -> String {
    format!("/runs/{run}/items/{}{query}", segment(item))
}

/// URL of an item's thumbnail.
pub fn thumbnail(run: &RunId, item: &str, query: &str) -> String {
    format!("/runs/{run}/items/{}/thumbnail{query}", segment(item))
}

/// URL of the trend of a metric up to a run.
pub fn trend(run: &RunId, metric: &str) -> String {
    format!("/trend{}", query([("run", run.to_string()), ("metric", metric.to_owned())]))
}

/// Link to a run's page.
pub fn run_link(name: &RunId) -> Markup {
    html! { a href=(run(name)) { bdi { (sanitize(name.as_str())) } } }
}

/// A name without a link.
pub fn plain(_: NameKind, name: &str) -> Markup {
    html! { bdi { (sanitize(name)) } }
}

/// URL of the comparison of two runs.
pub fn comparison(base: &RunId, head: &RunId) -> String {
    format!("/compare{}", query([("base", base.to_string()), ("head", head.to_string())]))
}

/// Text as one segment of a path.
fn segment(text: &str) -> String {
    // Dot segments would change the path.
    if [".", ".."].contains(&text) {
        return text.replace('.', "%2E");
    }
    let Ok(mut base) = Url::parse("http://localhost/") else { return String::new() };
    if let Ok(mut segments) = base.path_segments_mut() {
        segments.push(text);
    }
    base.path().trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_encoded_as_one_path_segment() {
        let run = RunId::parse("nightly").unwrap();
        for (id, address) in [
            ("button", "/runs/nightly/items/button"),
            ("a/b c?d#e", "/runs/nightly/items/a%2Fb%20c%3Fd%23e"),
            ("..", "/runs/nightly/items/%2E%2E"),
            ("50%", "/runs/nightly/items/50%25"),
        ] {
            assert_eq!(item(&run, id, ""), address);
        }
        assert_eq!(query([("q", "a&b".to_owned())]), "?q=a%26b");
        assert_eq!(query([]), "");
    }
}
