use super::*;
use proptest::prelude::*;

#[path = "../../tests-data/statements/labelled.rs"]
mod labelled;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn issues(most_others: usize) -> Statements {
    Statements::new(Tone::Issues, vec!["Clarity".into(), "Intent alignment".into()], most_others)
}

/// Group number of each text; every text is a separate item.
fn grouped(tone: Tone, texts: &[String]) -> Vec<usize> {
    let mut statements = Statements::new(tone, Vec::new(), 1_000);
    for (item, text) in (0..).zip(texts) {
        statements.add(item, std::slice::from_ref(text));
    }
    let mut numbers = vec![usize::MAX; texts.len()];
    for (number, group) in statements.finish(1).0.into_iter().enumerate() {
        for item in group.items {
            numbers[item as usize] = number;
        }
    }
    numbers
}

fn are_one(texts_of_one: &[&str]) {
    let numbers = grouped(Tone::Issues, &texts(texts_of_one));
    assert!(numbers.iter().all(|number| *number == numbers[0]), "{texts_of_one:?}: {numbers:?}");
}

fn are_apart(texts_apart: &[&str]) {
    let mut numbers = grouped(Tone::Issues, &texts(texts_apart));
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), texts_apart.len(), "{texts_apart:?}");
}

#[test]
fn component_direction_numbers_and_wording_do_not_split_a_group() {
    are_one(&[
        "Padding slightly off (12px used, should be 16px)",
        "8px of padding in the card instead of 12px",
        "The dialog is cramped inside",
    ]);
    are_one(&["Missing icon in button", "The card shows no trash icon", "Chevron is not rendered"]);
    are_one(&[
        "The submit control has no accessible name",
        "Images lack alt text",
        "Not reachable by keyboard",
    ]);
    are_one(&[
        "There is an additional \"Import\" button that the screenshot does not show",
        "A shadow was added which is not part of the design",
        "Superfluous icon",
    ]);
}

#[test]
fn elements_and_properties_split_groups() {
    are_apart(&[
        "The icon is missing",
        "The badge is missing",
        "The email field is missing",
        "The image is missing",
        "The shadow is missing",
        "The border is missing",
        "The footer is missing",
        "The sidebar is missing",
        "Text color is grey, should be violet",
        "Background color is grey, should be violet",
        "Border color is grey, should be violet",
        "The border is 2px thick, should be 1px",
        "Corner radius is 2px, should be 8px",
        "Padding is 2px, should be 8px",
        "Font size is 12px, should be 18px",
        "The avatar is 24px wide, should be 40px",
    ]);
}

#[test]
fn statements_outside_the_vocabulary_are_grouped_by_their_words() {
    are_one(&["Das Logo fehlt im Kopfbereich", "Im Kopfbereich fehlt das Logo!"]);
    are_one(&["アイコンがありません", "アイコンがありません。"]);
    are_apart(&["Überschrift fehlt", "Farbe falsch", "Quux frobnicates the plugh"]);
}

#[test]
fn criterion_decides_where_the_rationale_is_ambiguous() {
    let mut statements = issues(10);
    statements.add(0, &texts(&["Intent alignment: A fox was wanted"]));
    statements.add(1, &texts(&["Intent alignment: Nobody asked for this"]));
    statements.add(2, &texts(&["Intent alignment: No brushwork to be seen", "Waxy texture"]));
    let groups = statements.finish(3).0;
    assert_eq!(groups.iter().map(|group| group.count).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(groups[1].items, [2]);
}

#[test]
fn the_label_is_the_most_central_wording_and_examples_are_others() {
    let mut statements = issues(10);
    for item in 0..3 {
        statements.add(item, &texts(&["The search icon is missing"]));
    }
    statements.add(3, &texts(&["the SEARCH icon is missing!", "…", "", "?!"]));
    statements.add(4, &texts(&["Search icon of the input is missing"]));
    statements.add(5, &texts(&["No glyph to be found beside the term"]));
    let groups = statements.finish(12).0;
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].label, "The search icon is missing");
    assert_eq!(
        groups[0].examples,
        ["Search icon of the input is missing", "No glyph to be found beside the term"]
    );
    assert_eq!((groups[0].count, groups[0].share), (6, 0.5));
    assert_eq!(groups[0].items, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn known_kinds_are_counted_beyond_the_bound() {
    let add = |numbers: &mut dyn Iterator<Item = u32>| {
        let mut statements = issues(10);
        for item in numbers {
            let letters = format!("{item:b}").replace('0', "o").replace('1', "i");
            statements.add(item, &texts(&["missing icon", &format!("blorb {letters}")]));
        }
        statements.finish(200)
    };
    let (groups, dropped) = add(&mut (0..200));
    assert_eq!((groups[0].label.as_str(), groups[0].count), ("missing icon", 200));
    assert_eq!(dropped, 190);
    assert_eq!((groups, dropped), add(&mut (0..200).rev()));
}

#[test]
fn labeled_statements_are_grouped_as_by_human_raters() {
    let (tuned, held_back) = labelled::halves();
    let (tuned_domains, other_domains) = labelled::domains();
    for (name, statements, floor) in [
        ("tuned by", &tuned, 0.95),
        ("other domains, tuned by", &tuned_domains, 0.85),
        ("other domains, held back", &other_domains, 0.75),
        ("added", &labelled::added(), 0.85),
        ("held back", &held_back, 0.85),
        ("afterwards", &labelled::afterwards(), 0.65),
    ] {
        assert!(statements.len() >= 100, "{name}: {}", statements.len());
        let found = labelled::agreement(statements, |kind, texts| {
            grouped(if kind == "issue" { Tone::Issues } else { Tone::Strengths }, texts)
        });
        assert!(found.f1 >= floor, "{name}: {found:?}");
        assert!(found.precision >= found.recall - 0.1, "{name} puts too much together: {found:?}");
    }
}

#[test]
fn hostile_statements_are_treated_as_text() {
    let long = "icon ".repeat(20_000);
    let quotes = "\"'“«`".repeat(20_000);
    let numbers = "1x".repeat(50_000);
    for text in
        [&*long, &*quotes, &*numbers, "x", "'", "#", "\u{202e}نص عربي", "🦀🦀", "\0\u{ffff}"]
    {
        let mut statements = issues(3);
        statements.add(0, &texts(&[text]));
        let (groups, dropped) = statements.finish(1);
        assert!(groups.len() <= 1 && dropped == 0);
        assert!(groups.iter().all(|group| group.label.chars().count() <= 200));
    }
}

proptest! {
    #[test]
    fn input_order_does_not_change_the_groups(
        said in prop::collection::vec(("(no|missing|wrong|blue) (icon|[a-c]{1,3}|text) ?(is|of)? ?[a-e]{0,2}", 0_u32..9), 0..60),
        seed in any::<prop::sample::Index>(),
    ) {
        let collect = |said: &[(String, u32)]| {
            let mut statements = issues(5);
            for (text, item) in said {
                statements.add(*item, std::slice::from_ref(text));
            }
            statements.finish(9)
        };
        let mut other = said.clone();
        other.rotate_left(if said.is_empty() { 0 } else { seed.index(said.len()) });
        other.reverse();
        prop_assert_eq!(collect(&said), collect(&other));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,80}", tone in prop::bool::ANY) {
        let tone = if tone { Tone::Issues } else { Tone::Strengths };
        prop_assert_eq!(grouped(tone, &[text.clone(), text]).len(), 2);
    }
}
