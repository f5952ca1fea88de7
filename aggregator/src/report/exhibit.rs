//! What a page shows of an item beside its result: pictures and code, from whoever can read them.

use juror_common::{item::Language, outcome::InputRecord};
use std::collections::HashMap;

/// Answers what can be shown of items beside their results. Asked at most once for each page.
pub trait Exhibits {
    /// Pictures and code of these results' items, by the items' ids; what is not to be had is
    /// left out, with the reason. Those first in the list matter most.
    fn gather(&self, shown: &[Shown]) -> HashMap<String, Exhibit>;
}

/// A result that a page shows in full.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Its item.
    pub screenshot_id: String,
    /// Its images, code and tokens as they were used.
    pub inputs: Vec<InputRecord>,
}

impl Shown {
    /// The images among the inputs.
    pub fn images(&self) -> impl Iterator<Item = &InputRecord> {
        self.inputs.iter().filter(|input| input.is_image())
    }

    /// The code that was judged, as far as that is recorded.
    pub fn code(&self) -> Option<&InputRecord> {
        self.inputs.iter().find(|input| input.name == "generated_code")
    }
}

/// What there is of one item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exhibit {
    /// One for each image of the item, in the rubric's order: a small picture, or why there is
    /// none.
    pub pictures: Vec<(String, Result<Picture, String>)>,
    /// The generated code, or why there is none to be shown; none where the item has no code.
    pub code: Option<Result<Code, String>>,
}

/// A small picture in a format that every browser reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// PNG or JPEG, by its media type.
    pub media_type: &'static str,
    /// The encoded picture.
    pub bytes: Vec<u8>,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

/// Generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its beginning, or all of it.
    pub text: String,
    /// Its language, where that is known.
    pub language: Option<Language>,
    /// How many bytes were left out at its end.
    pub left_out: usize,
}

/// Shows results alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExhibits;

impl Exhibits for NoExhibits {
    fn gather(&self, _: &[Shown]) -> HashMap<String, Exhibit> {
        HashMap::new()
    }
}
