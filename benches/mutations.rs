//! Single CSS changes of rendered components, and their detection in reports.

pub mod browser;
pub mod component;
pub mod explained_page;
pub mod firefox;
pub mod marks;
pub mod mounted;
pub mod operators;
pub mod origin;
pub mod score;
