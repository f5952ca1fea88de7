//! Report of a run: its content, and one pure renderer per format.

mod attachment;
mod csv;
pub mod document;
pub mod html;
mod json;
mod junit;
mod markdown;
mod output;
pub mod phrasing;
mod regions;
pub mod sanitize;
mod sentence;
mod terminal;
pub mod topics;

pub use attachment::{Attachment, AttachmentRequest, Attachments, Code, NoAttachments, Picture};
pub use output::{OutputError, OutputFormat, write_comparison, write_output, write_report};
pub use sentence::summary_sentence;
pub use terminal::{
    TerminalOptions, render as render_terminal, render_paused, render_topics, render_trend,
};

#[cfg(test)]
mod tests;
