//! Generated code rendered by a headless Chromium that is installed on the machine, with the same
//! result each time: a picture and a snapshot of the page's elements, and pictures of changed
//! pages.
//!
//! The code is untrusted. Each page has its own browser context, every request is served from
//! memory or refused, and a browser that hangs or breaks is replaced.

mod browser_failures;
mod browser_pool;
mod browser_process;
mod component_page;
mod devtools_pipe;
mod error;
mod executable;
mod fonts;
mod lucide;
mod missing_modules;
mod module_files;
mod page_rendering;
mod page_resource_limits;
mod page_session;
mod process_group;
mod render_time;
mod renderer;
mod served_file;
mod served_files;
mod source;
mod tailwind;

pub use error::{RenderError, RendererError};
pub use executable::BROWSER_NAMES;
pub use page_rendering::{OpenPage, RenderedPage};
pub use process_group::ProcessGroup;
pub use render_time::RenderTime;
pub use renderer::{Renderer, RendererSettings};
pub use source::{ComponentModule, ImportedNames, PageCode, PageSource};
pub use tailwind::TailwindUse;
