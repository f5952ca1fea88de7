//! Code for the judge: without comments and without code that renders nothing, since neither is
//! visible on the screen and both can carry prompt injections.

mod hidden_html;
mod hidden_jsx;
mod html;
mod script;

use super::compile::parse_bounded;
use juror_types::{id::Digest, item::Language};
use std::ops::Range;

/// Code for the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCode {
    pub text: String,
    /// Difference from the item's own code, for the record; `None` if there is none.
    pub note: Option<String>,
}

/// Removes comments and dead code. Code that does not parse stays unchanged, with a note.
pub async fn strip(code: &str, language: Language) -> JudgedCode {
    let unchanged = |note| JudgedCode { text: code.to_owned(), note };
    match parse_bounded(code, language, cuts).await {
        Ok(Some(cuts)) if cuts.is_empty() => unchanged(None),
        Ok(Some(cuts)) => {
            let text = apply(code, cuts);
            let digest = Digest::from_content(text.as_bytes());
            let note = format!(
                "judged without comments and dead code: {} of {} bytes, SHA-256 {digest}",
                text.len(),
                code.len()
            );
            JudgedCode { text, note: Some(note) }
        }
        Ok(None) => unchanged(has_comments(code).then(|| UNPARSED.to_owned())),
        Err(reason) => unchanged(Some(format!("judged with its comments: {reason}"))),
    }
}

/// A range of the code, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cut {
    range: Range<usize>,
    instead: &'static str,
}

const UNPARSED: &str = "judged with its comments: the code does not parse";

fn has_comments(code: &str) -> bool {
    ["//", "/*", "<!--"].iter().any(|mark| code.contains(mark))
}

/// Cuts of the code; `None` if it does not parse.
fn cuts(code: &str, language: Language) -> Option<Vec<Cut>> {
    match language {
        Language::Html => html::cuts(code),
        script => script::cuts(code, script),
    }
}

/// Applies the cuts, outer ones before those inside them. Lines that become blank are removed.
fn apply(code: &str, mut cuts: Vec<Cut>) -> String {
    cuts.sort_by_key(|cut| (cut.range.start, std::cmp::Reverse(cut.range.end)));
    let (mut text, mut end) = (String::with_capacity(code.len()), 0);
    for Cut { range, instead } in cuts {
        if range.start < end {
            continue;
        }
        text.push_str(code.get(end..range.start).unwrap_or_default());
        text.push(CUT);
        text.push_str(instead);
        end = range.end;
    }
    text.push_str(code.get(end..).unwrap_or_default());
    let kept = text.split_inclusive('\n').filter(|line| {
        !(line.contains(CUT)
            && line.chars().all(|character| character == CUT || character.is_whitespace()))
    });
    kept.collect::<String>().replace(CUT, "")
}

/// Elements that show their content and change nothing outside.
const NEUTRAL_ELEMENTS: [&str; 24] = [
    "div", "section", "article", "aside", "header", "footer", "nav", "main", "p", "span", "b", "i",
    "em", "strong", "small", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6",
];

/// Text in place of a hidden element.
const HIDDEN: &str = "<i hidden />";

/// Mark of a cut until blank lines are removed: a noncharacter, which the fence would show as such.
const CUT: char = '\u{fdd0}';

#[cfg(test)]
mod tests;
