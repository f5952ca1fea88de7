//! Complete comparisons, compared with snapshots.

use crate::{TerminalOptions, markdown, render_topics, topics};
use juror_analysis::{comparison::Comparison, test_fixtures::comparisons::rich};

#[test]
fn comparisons_match_snapshots() {
    let options = TerminalOptions { width: 80, color: false };
    let comparison = rich();
    let text = render_topics(&topics::comparison::topics(&comparison), options);
    insta::assert_snapshot!("comparison_in_a_terminal", text);
    insta::assert_snapshot!("comparison_in_markdown", markdown::render_comparison(&comparison));
}

#[test]
fn no_line_of_a_comparison_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr as _;
    let comparison = Comparison { simulated: true, ..rich() };
    for width in [74, 80, 120] {
        let options = TerminalOptions { width, color: false };
        let text = render_topics(&topics::comparison::topics(&comparison), options);
        for line in text.lines() {
            assert!(line.width() <= width, "at {width}: {line:?}");
        }
        for section in ["COMPARISON", "MEANS", "PASSES", "ITEMS", "ISSUES"] {
            let heading = text.lines().find(|line| line.starts_with(section)).unwrap();
            assert!(heading.contains("SIMULATED"), "at {width}: {heading:?}");
        }
    }
}

#[test]
fn markdown_escapes_mentions_in_model_text() {
    let mut comparison = rich();
    comparison.issues.new[0].label = "@everyone see #12, <b> https://evil.example".to_owned();
    comparison.changes.new.issues = comparison.issues.new.clone();
    comparison.judge_differences = vec!["model: @team".to_owned()];
    comparison.items.gone = vec!["@owner/shot".to_owned()];
    let text = markdown::render_comparison(&comparison);
    for word in ["@e", "@t", "@o", "#12", "<b>", "://"] {
        assert!(!text.contains(word), "{word:?} in:\n{text}");
    }
}
