//! Labels that assign the calls of runs to separate budgets.

use std::{fmt, path::Path, str::FromStr};

/// Maximum length of a label's name, in characters.
const MAX_NAME: usize = 64;
/// Extensions of manifests, which are left out of a dataset's name.
const MANIFEST_ENDINGS: [&str; 2] = [".jsonl", ".csv"];
/// Common names of manifests; such a dataset is named after its folder.
const COMMON_MANIFEST_NAMES: [&str; 4] = ["manifest", "metadata", "dataset", "items"];
/// Maximum number of tags of a run: each call is booked under all of them.
pub const MAX_BUDGET_TAGS: usize = 8;

/// Dataset or tag under which a run's calls are booked, beside the run, the day and the month. Its
/// text form is `dataset:golden` or `tag:team-checkout`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetLabel {
    /// The dataset of a run.
    Dataset(LabelName),
    /// A tag that the user gave to a run.
    Tag(LabelName),
}

/// Name of a dataset or a tag in budgets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelName(String);

/// An invalid name of a dataset or a tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid budget name: use 1 to {MAX_NAME} letters, digits, '.', '_' or '-'")]
pub struct InvalidLabel(String);

impl BudgetLabel {
    /// Label of the dataset at a path: the file's name without its extension, or the folder's where
    /// the file has a common manifest name such as `manifest.jsonl`. Characters that a name cannot
    /// have become `-`.
    pub fn for_dataset(path: &Path) -> Self {
        let last = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
        let file = last(path).unwrap_or_else(|| "dataset".to_owned());
        let stem = MANIFEST_ENDINGS.iter().find_map(|ending| file.strip_suffix(ending));
        let text = match stem.filter(|stem| !stem.is_empty()) {
            Some(stem) if COMMON_MANIFEST_NAMES.contains(&stem) => {
                path.parent().and_then(last).unwrap_or_else(|| stem.to_owned())
            }
            Some(stem) => stem.to_owned(),
            None => file,
        };
        let letters = text.chars().take(MAX_NAME);
        Self::Dataset(LabelName(letters.map(|one| if fits(one) { one } else { '-' }).collect()))
    }

    /// Several labels as a comma-separated text.
    pub fn join(labels: &[Self]) -> String {
        labels.iter().map(Self::to_string).collect::<Vec<_>>().join(",")
    }

    /// Parses a text of [`BudgetLabel::join`].
    ///
    /// # Errors
    /// A part that is not a label.
    pub fn split(text: &str) -> Result<Vec<Self>, InvalidLabel> {
        text.split(',').filter(|label| !label.is_empty()).map(str::parse).collect()
    }

    /// The kind, as in the text form.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Dataset(_) => "dataset",
            Self::Tag(_) => "tag",
        }
    }

    /// The name without its kind.
    pub fn name(&self) -> &str {
        let (Self::Dataset(LabelName(name)) | Self::Tag(LabelName(name))) = self;
        name
    }
}

impl FromStr for LabelName {
    type Err = InvalidLabel;

    fn from_str(name: &str) -> Result<Self, InvalidLabel> {
        let length = name.chars().count();
        match (1..=MAX_NAME).contains(&length) && name.chars().all(fits) {
            true => Ok(Self(name.to_owned())),
            false => Err(InvalidLabel(name.chars().take(MAX_NAME).collect())),
        }
    }
}

impl fmt::Display for LabelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for BudgetLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.kind(), self.name())
    }
}

impl FromStr for BudgetLabel {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Self, InvalidLabel> {
        match text.split_once(':') {
            Some(("dataset", name)) => name.parse().map(Self::Dataset),
            Some(("tag", name)) => name.parse().map(Self::Tag),
            _ => Err(InvalidLabel(text.chars().take(MAX_NAME).collect())),
        }
    }
}

fn fits(character: char) -> bool {
    character.is_alphanumeric() || "._-".contains(character)
}

crate::serde_as_text::serde_as_text!(LabelName);
crate::serde_as_text::serde_as_text!(BudgetLabel);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dataset_label_is_its_file_or_folder_name() {
        for (path, name) in [
            ("/data/shots.jsonl", "shots"),
            ("/data/golden/manifest.jsonl", "golden"),
            ("/data/golden.2026", "golden.2026"),
            ("/data/golden v1,2/metadata.jsonl", "golden-v1-2"),
            ("/data/größe.csv", "größe"),
            ("manifest.jsonl", "manifest"),
            ("/", "dataset"),
        ] {
            assert_eq!(BudgetLabel::for_dataset(Path::new(path)).name(), name, "{path}");
        }
        let long = BudgetLabel::for_dataset(Path::new(&"ü".repeat(80)));
        assert_eq!(long.to_string().parse(), Ok(long));
    }

    #[test]
    fn label_round_trips() {
        for text in ["dataset:golden", "tag:team-checkout_2.1"] {
            assert_eq!(text.parse::<BudgetLabel>().unwrap().to_string(), text);
        }
        let labels = BudgetLabel::split("dataset:golden,tag:a").unwrap();
        assert_eq!(BudgetLabel::join(&labels), "dataset:golden,tag:a");
        assert_eq!(BudgetLabel::split(""), Ok(Vec::new()));
        for wrong in ["", "golden", "tag:", "tag:a b", "tag:a,b", "tag:a:b", "run:nightly"] {
            assert!(wrong.parse::<BudgetLabel>().is_err(), "{wrong}");
        }
    }
}
