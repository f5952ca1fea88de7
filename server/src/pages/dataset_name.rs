//! Short names of datasets: the end of their path.

use juror_report::sanitize::sanitize;
use maud::{Markup, html};
use std::path::Path;

/// Number of shown components of a path.
const SHOWN_COMPONENTS: usize = 2;

/// The end of a path, or all of it if another dataset has the same end.
pub fn short<'a>(path: &str, others: impl Iterator<Item = &'a str>) -> String {
    let short = end_of(path);
    let is_ambiguous = others.filter(|other| *other != path).any(|other| end_of(other) == short);
    sanitize(if is_ambiguous { path } else { &short })
}

/// The end of a path, with the whole path as title.
pub fn name(path: &str) -> Markup {
    let end = end_of(path);
    let parts = end.split('/');
    html! {
        bdi title=(sanitize(path)) {
            @for (place, part) in parts.enumerate() { @if place > 0 { "/" wbr; } (sanitize(part)) }
        }
    }
}

fn end_of(path: &str) -> String {
    let parts: Vec<_> = Path::new(path).iter().filter(|part| *part != "/").collect();
    let shown = parts.iter().skip(parts.len().saturating_sub(SHOWN_COMPONENTS));
    let shown: Vec<_> = shown.map(|part| part.to_string_lossy()).collect();
    shown.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_is_named_by_the_end_of_its_path_where_that_is_enough() {
        let all = ["/a/golden/manifest.jsonl", "/b/golden/manifest.jsonl", "/c/shots.csv", "x.csv"];
        let shown = all.map(|path| short(path, all.into_iter()));
        assert_eq!(
            shown,
            ["/a/golden/manifest.jsonl", "/b/golden/manifest.jsonl", "c/shots.csv", "x.csv"]
        );
    }
}
