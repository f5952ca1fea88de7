//! Reasons for a missing render: a fault of the browser or of the code.

use std::{path::PathBuf, time::Duration};

/// Failure of the browser, independent of any code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum RendererError {
    /// The machine has no browser.
    #[error(
        "no browser found on PATH (looked for {names}); install one, as in `apt-get install chromium`, \
         or set render.browser"
    )]
    NotFound {
        /// Names of the programs that were looked for.
        names: String,
    },
    /// The browser of the settings, or the first one found, does not print its version.
    #[error("{}: {reason}; set render.browser to a Chromium", program.display())]
    Unusable { program: PathBuf, reason: String },
    /// The browser lacks a feature that rendering needs.
    #[error("{browser} is too old: rendering needs version {needed} or newer")]
    TooOld {
        /// Name and version.
        browser: String,
        /// The first version that can be used.
        needed: u32,
    },
    /// The browser ended before it could be used.
    #[error("{browser} cannot be started: {reason}")]
    NotStarted {
        /// Name and version.
        browser: String,
        /// The end of its stderr.
        reason: String,
    },
    /// The folder of modules cannot be read.
    #[error("render.modules: {}: {reason}; correct the path, or remove it", folder.display())]
    Modules { folder: PathBuf, reason: String },
    /// The stylesheet cannot be read.
    #[error("render.stylesheet: {}: {reason}; correct the path, or remove it", file.display())]
    Stylesheet { file: PathBuf, reason: String },
    /// The browser ended, or no longer replies as its protocol demands.
    #[error("the browser ended: {0}")]
    Ended(String),
    /// Browsers failed again and again, so that no further one is started.
    #[error(
        "the renderer gave up after {failures} failures of its browser in a row, the last one: \
         {last}; repair or replace the browser (juror doctor tests it)"
    )]
    GaveUp {
        /// Failed starts and unexpected ends.
        failures: u32,
        /// The last one.
        last: String,
    },
}

/// Failure to render a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The code threw, and nothing is shown.
    #[error("throws: {0}")]
    Throws(String),
    /// The page shows nothing; with the names of replaced imports, which may be its cause.
    #[error("renders nothing{replaced}")]
    Empty {
        /// ` (not there: …)`, or nothing.
        replaced: String,
    },
    /// The pages of the item were not ready, or a script did not end, in this time.
    #[error("did not settle in {} s", .0.as_secs_f64())]
    Unsettled(Duration),
    /// The page had too little of a processor in this time by the clock.
    #[error(
        "the machine was too busy to draw the page in {} s: lower render.concurrency, or raise \
         render.timeout_seconds", .0.as_secs_f64()
    )]
    Overloaded(Duration),
    /// The page has more elements than are measured.
    #[error("more than {} elements", thousands(*.0))]
    TooManyElements(usize),
    /// The page took more memory than it may, in megabytes.
    #[error("more than {0} MB of memory")]
    TooMuchMemory(u64),
    /// The viewport has no pixels, or too many.
    #[error("a viewport of {width}x{height} pixels cannot be drawn: 1x1 to {max}x{max} can")]
    Viewport {
        /// Width in device pixels.
        width: u32,
        /// Height in device pixels.
        height: u32,
        /// Device pixels of a side at most.
        max: u32,
    },
    /// The page ended during rendering: out of memory, a crash, or a navigation.
    #[error("its page ended: out of memory, crashed or left")]
    PageEnded,
    /// The process ends.
    #[error("measuring was interrupted")]
    Interrupted,
    /// A defect of this program.
    #[error("measuring failed through a defect of Juror: report the item with its code")]
    Internal,
    /// The browser is at fault.
    #[error(transparent)]
    Browser(#[from] RendererError),
}

impl RenderError {
    /// True if this is a finding about the code.
    pub fn is_about_code(&self) -> bool {
        !matches!(
            self,
            Self::Interrupted
                | Self::Internal
                | Self::Browser(_)
                | Self::Viewport { .. }
                | Self::Overloaded(_)
        )
    }

    /// True if another attempt may succeed: the system, too, ends pages.
    pub fn may_pass(&self) -> bool {
        !self.is_about_code() || *self == Self::PageEnded
    }
}

/// A number below a million with a comma before its last three digits.
fn thousands(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_about_code_are_one_line_of_its_effect() {
        let settled = RenderError::Unsettled(Duration::from_secs(10));
        assert_eq!(settled.to_string(), "did not settle in 10 s");
        assert_eq!(RenderError::TooManyElements(10_000).to_string(), "more than 10,000 elements");
        assert!(settled.is_about_code());
        assert!(!RenderError::Overloaded(Duration::from_secs(30)).is_about_code());
        let large = RenderError::Viewport { width: 5000, height: 10, max: 4096 };
        assert!(!large.is_about_code(), "the size is the screenshot's");
        let gone = RenderError::from(RendererError::NotFound { names: "chromium".to_owned() });
        assert!(!gone.is_about_code());
        assert!(gone.to_string().contains("apt-get install chromium"));
    }
}
