//! What judging items several times tells of the judge. Pure.

mod agreement;

pub use agreement::{Agreement, Judgements};
