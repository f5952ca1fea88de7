//! Generated code drawn by a headless Chromium that is already on the machine, the same way each time:
//! a picture and a snapshot of the page's elements, and changes of the page drawn to be judged.
//!
//! The code is not trusted. Each page has a browser context of its own, every request is answered from
//! memory or refused, and a browser that hangs or breaks is replaced.

mod connection;
mod error;
mod executable;
mod open_page;
mod page_files;
mod page_session;
mod pool;
mod process;
mod renderer;
mod source;

pub use error::{RenderError, RendererError};
pub use executable::BROWSER_NAMES;
pub use open_page::{DrawnPage, OpenPage};
pub use renderer::{Renderer, RendererSettings};
pub use source::PageSource;
