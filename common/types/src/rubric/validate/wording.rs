//! Validation of names, texts, images and bands.

use super::{Problems, bad_name, is_plain_name};
use crate::{
    rubric::{Anchor, Rubric, RubricImage, is_reserved_key, placeholder},
    toml_problem::key_path::PathStep::{self, Entry, Key},
};

/// Known fields of a manifest's line, which cannot be names of images.
const ITEM_FIELDS: [&str; 17] = [
    "cluster",
    "expected_pattern",
    "expected_tokens",
    "extracted_tokens",
    "generated_code",
    "id",
    "images",
    "labels",
    "language",
    "metadata",
    "props",
    "quality_score",
    "retrieved_pattern",
    "schema",
    "sha256",
    "style",
    "tags",
];

pub(super) fn check(rubric: &Rubric, problems: &mut Problems<'_>) {
    check_head(rubric, problems);
    check_prompt(rubric, problems);
    check_images(rubric, problems);
    check_criteria(rubric, problems);
}

fn check_head(rubric: &Rubric, problems: &mut Problems<'_>) {
    if !is_plain_name(&rubric.id.replace('-', "_")) {
        problems.add(&[Key("id")], bad_name(&rubric.id));
    }
    if rubric.version == 0 {
        problems.add(&[Key("version")], "is 0; versions count from 1");
    }
    problems.check_filled(&[Key("title")], &rubric.title);
    for (position, need) in rubric.needs.iter().enumerate() {
        if rubric.needs.iter().take(position).any(|earlier| earlier == need) {
            problems.add(&[Key("needs"), Entry(position, "")], "is a duplicate; remove one");
        }
    }
    if rubric.max_output_tokens == 0 {
        problems.add(
            &[Key("max_output_tokens")],
            "is 0, which allows no reply; use about 60 tokens for each criterion, and more \
             where it has a rationale",
        );
    }
}

fn check_prompt(rubric: &Rubric, problems: &mut Problems<'_>) {
    for (field, text) in [("system", &rubric.prompt.system), ("task", &rubric.prompt.task)] {
        let place = [Key("prompt"), Key(field)];
        problems.check_filled(&place, text);
        for name in placeholder::unknown(text) {
            problems.add(
                &place,
                format!(
                    "unknown placeholder {{{name}}}; use {{{}}} (an item's code, \
                     tokens and style are added after the criteria)",
                    placeholder::KNOWN.join("}, {")
                ),
            );
        }
    }
}

fn check_images(rubric: &Rubric, problems: &mut Problems<'_>) {
    if rubric.images.is_empty() && rubric.needs.is_empty() {
        let message = "is empty, and so is `needs`; a judge needs an image or a text";
        problems.add(&[Key("images")], message);
    }
    let names = rubric.images.iter().map(|image| image.name.as_str());
    problems.check_names(&[Key("images")], "name", names);
    for (position, image) in rubric.images.iter().enumerate() {
        let place = |field| [Key("images"), Entry(position, &image.name), Key(field)];
        if ITEM_FIELDS.contains(&image.name.as_str()) {
            problems.add(
                &place("name"),
                format!("{:?} is another field of items; rename the image", image.name),
            );
        }
        problems.check_filled(&place("label"), &image.label);
        if image.optional && !RubricImage::MEASURED.contains(&image.name.as_str()) {
            let message = format!(
                "measured evidence makes {} and no other image; rename it, or remove it",
                RubricImage::MEASURED.join(" and ")
            );
            problems.add(&place("optional"), message);
        }
    }
}

fn check_criteria(rubric: &Rubric, problems: &mut Problems<'_>) {
    check_anchors(rubric, &rubric.anchors, &[Key("anchors")], problems);
    let keys = || rubric.criteria.iter().map(|criterion| criterion.key.as_str());
    problems.check_names(&[Key("criteria")], "key", keys());
    check_columns("criteria", keys(), &[], problems);
    for (position, criterion) in rubric.criteria.iter().enumerate() {
        let place = |field| [Key("criteria"), Entry(position, &criterion.key), Key(field)];
        problems.check_filled(&place("title"), &criterion.title);
        problems.check_filled(&place("guidance"), &criterion.guidance);
        check_anchors(rubric, &criterion.anchors, &place("anchors"), problems);
    }
    let criteria: Vec<&str> = keys().collect();
    let keys = || rubric.groups.iter().map(|group| group.key.as_str());
    problems.check_names(&[Key("groups")], "key", keys());
    check_columns("groups", keys(), &criteria, problems);
    for (position, group) in rubric.groups.iter().enumerate() {
        let place = [Key("groups"), Entry(position, &group.key), Key("title")];
        problems.check_filled(&place, &group.title);
    }
}

/// Checks that keys differ from the columns of CSV reports and of the dashboard's table.
fn check_columns<'rubric>(
    list: &str,
    keys: impl Iterator<Item = &'rubric str>,
    others: &[&str],
    problems: &mut Problems<'_>,
) {
    for (position, key) in keys.enumerate() {
        let place = [Key(list), Entry(position, key), Key("key")];
        if is_reserved_key(key) {
            problems.add(&place, format!("{key:?} is a column of reports; rename the key"));
        } else if others.contains(&key) {
            problems.add(&place, format!("a criterion has the key {key:?}; rename one of the two"));
        }
    }
}

/// Checks that bands are on the scale, best first, and do not overlap. Gaps are allowed;
/// `juror rubric check` warns of them.
fn check_anchors(
    rubric: &Rubric,
    anchors: &[Anchor],
    list: &[PathStep<'_>],
    problems: &mut Problems<'_>,
) {
    let scale = rubric.scale;
    let mut better: Option<&Anchor> = None;
    for (position, anchor) in anchors.iter().enumerate() {
        let place = [list, &[Entry(position, "")]].concat();
        let Anchor { from, to, .. } = *anchor;
        if from > to {
            problems
                .add(&place, format!("from {from} to {to} is not a band; from is the lower score"));
        } else if from < scale.min || to > scale.max {
            let (min, max) = (scale.min, scale.max);
            problems.add(&place, format!("from {from} to {to} leaves the scale of {min} to {max}"));
        } else if let Some(better) = better.filter(|better| to >= better.from) {
            problems.add(
                &place,
                format!(
                    "from {from} to {to} overlaps or follows the band from {} to {}; list \
                     bands best first, each score in one band",
                    better.from, better.to
                ),
            );
        }
        problems.check_filled(&place, &anchor.means);
        better = Some(anchor);
    }
}
