//! The browsers of a process, each with one page at a time.

use crate::{
    browser_pool::BrowserPool,
    browser_process::{BrowserProcess, FLAGS},
    component_page::{MOUNT, PREPARATION, STAND_IN},
    error::{RenderError, RendererError},
    executable::BrowserExecutable,
    fonts::InstalledFonts,
    module_files::ModuleFiles,
    page_rendering::{OpenPage, PAGE_SCRIPT, SNAPSHOT_SCRIPT, ServedModules},
    page_resource_limits::PageLimits,
    render_time::RenderTime,
    source::PageSource,
    tailwind::TailwindUse,
};
use futures_util::future::BoxFuture;
use juror_types::id::Digest;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::task::spawn_blocking;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Settings of a renderer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RendererSettings {
    /// Path of the browser; none searches for one on PATH.
    pub browser: Option<PathBuf>,
    /// Maximum number of open pages, each in a separate browser (at least one).
    pub concurrency: usize,
    /// Time limit of the pages of one item together.
    pub timeout: Duration,
    /// Condition on which pages get Tailwind.
    pub tailwind: TailwindUse,
    /// Folder of modules that components may import; `None` allows only the bundled ones.
    pub modules: Option<PathBuf>,
    /// Style sheet of the page around components and HTML fragments, if there is one.
    pub stylesheet: Option<PathBuf>,
}

impl Default for RendererSettings {
    fn default() -> Self {
        let (tailwind, modules, stylesheet) = (TailwindUse::Auto, None, None);
        let timeout = Duration::from_secs(10);
        Self { browser: None, concurrency: 1, timeout, tailwind, modules, stylesheet }
    }
}

impl RendererSettings {
    /// Checks the modules and the styles. Reads their files.
    ///
    /// # Errors
    /// The files cannot be read.
    pub fn check_files(&self) -> Result<(), RendererError> {
        ModuleFiles::load(self.modules.as_deref(), self.stylesheet.as_deref()).map(drop)
    }
}

/// A renderer of code, with browsers that it starts, replaces and ends.
#[derive(Debug)]
pub struct Renderer {
    executable: BrowserExecutable,
    /// `None` if installed fonts cannot be listed.
    fonts: Option<InstalledFonts>,
    timeout: Duration,
    /// Reason why the browser runs without its sandbox; `None` if it is sandboxed.
    unsandboxed_reason: Option<String>,
    served: ServedModules,
    pool: BrowserPool,
}

impl Renderer {
    /// Finds the browser and starts it once.
    ///
    /// # Errors
    /// No browser is found, it is too old, or it cannot be started; or the modules cannot be read.
    pub fn start(settings: RendererSettings) -> BoxFuture<'static, Result<Self, RendererError>> {
        Box::pin(async move {
            let modules = load_modules(settings.modules, settings.stylesheet).await?;
            let served = ServedModules { modules, tailwind: settings.tailwind };
            let executable = BrowserExecutable::find(settings.browser.as_deref()).await?;
            let (browser, unsandboxed_reason) = start_sandboxed_if_possible(&executable).await?;
            Ok(Self {
                executable,
                fonts: InstalledFonts::list().await,
                timeout: settings.timeout,
                unsandboxed_reason,
                served,
                pool: BrowserPool::new(settings.concurrency, browser),
            })
        })
    }

    /// Name and version of the browser, as in "Chromium 156.0.8078.79".
    pub fn browser(&self) -> &str {
        &self.executable.name
    }

    /// Name and major version, as in "Chromium 156".
    pub fn short_name(&self) -> &str {
        let name = self.browser();
        name.split_once('.').map_or(name, |(short, _)| short)
    }

    /// Number of installed fonts; `None` if they cannot be listed.
    pub fn fonts(&self) -> Option<usize> {
        self.fonts.map(|fonts| fonts.count)
    }

    /// Digest of everything that a render depends on besides its source.
    pub fn digest(&self) -> Digest {
        let modules = self.served.modules.digest;
        Digest::from_content(format!("{} {modules}", self.environment_digest()).as_bytes())
    }

    /// Digest of the rendering environment, without the user's modules and style sheet, which may be
    /// part of what is evaluated: the browser and its flags, the installed fonts, the scripts in each page, the
    /// condition for Tailwind, and the version of this program.
    pub fn environment_digest(&self) -> Digest {
        let scripts = [PAGE_SCRIPT, SNAPSHOT_SCRIPT, PREPARATION, MOUNT, STAND_IN].concat();
        let fonts = self.fonts.map_or("unknown".to_owned(), |fonts| fonts.digest.to_string());
        let (browser, flags) = (self.browser(), FLAGS.join(" "));
        let tailwind = self.served.tailwind.name();
        let environment = format!("{browser} {flags} {tailwind} {fonts} {scripts} {VERSION}");
        Digest::from_content(environment.as_bytes())
    }

    /// Reason why the browser runs without its sandbox; `None` if it is sandboxed. Chromium has no
    /// sandbox as root or without user namespaces.
    pub fn unsandboxed_reason(&self) -> Option<&str> {
        self.unsandboxed_reason.as_deref()
    }

    /// True after too many consecutive browser failures: no further browser is started.
    pub fn is_disabled(&self) -> bool {
        self.pool.failures.check().is_err()
    }

    /// True if the render time of an item is exhausted.
    pub fn is_time_exhausted(&self, render_time: &RenderTime) -> bool {
        PageLimits::check(render_time, self.timeout).is_err()
    }

    /// Opens code as the only page of an item; see [`Renderer::open_within`].
    ///
    /// # Errors
    /// Those of [`Renderer::open_within`].
    pub fn open<'a, 'renderer: 'a>(
        &'renderer self,
        source: &'a PageSource,
    ) -> BoxFuture<'a, Result<OpenPage<'renderer>, RenderError>> {
        Box::pin(async move { self.open_within(source, &RenderTime::default()).await })
    }

    /// Opens code as a page once a browser is free, within the remaining render time of its item, and
    /// waits until the page has settled.
    ///
    /// # Errors
    /// The code does not render, or the browser failed; [`RenderError::is_about_code`] distinguishes
    /// them.
    pub fn open_within<'a, 'renderer: 'a>(
        &'renderer self,
        source: &'a PageSource,
        budget: &'a RenderTime,
    ) -> BoxFuture<'a, Result<OpenPage<'renderer>, RenderError>> {
        Box::pin(async move {
            source.check_viewport()?;
            PageLimits::check(budget, self.timeout)?;
            let closed = |_| RendererError::Ended("the renderer is shut down".to_owned());
            let (permit, idle) = self.pool.acquire().await.map_err(closed)?;
            self.pool.failures.check()?;
            let opened = async {
                let browser = match idle {
                    Some(browser) => browser,
                    None => {
                        let is_sandboxed = self.unsandboxed_reason.is_none();
                        BrowserProcess::start(&self.executable, is_sandboxed).await?
                    }
                };
                let limits = PageLimits::new(browser.group, self.timeout, budget.clone());
                OpenPage::open(browser, source, &self.served, limits, permit).await
            };
            let opened = opened.await;
            if let Err(error) = &opened {
                self.pool.failures.count(error);
            }
            opened
        })
    }

    /// Ends the browsers.
    pub fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for browser in self.pool.close() {
                browser.close().await;
            }
        })
    }
}

async fn load_modules(
    folder: Option<PathBuf>,
    stylesheet: Option<PathBuf>,
) -> Result<Arc<ModuleFiles>, RendererError> {
    let load = move || ModuleFiles::load(folder.as_deref(), stylesheet.as_deref());
    let loading = spawn_blocking(load);
    let interrupted = |_| RendererError::Ended("the process is ending".to_owned());
    loading.await.map_err(interrupted)?.map(Arc::new)
}

/// Starts a sandboxed browser; if that fails, an unsandboxed one, with the reason.
async fn start_sandboxed_if_possible(
    executable: &BrowserExecutable,
) -> Result<(BrowserProcess, Option<String>), RendererError> {
    // Chromium refuses its sandbox to root.
    let fault = match rustix::process::geteuid().is_root() {
        true => "the process runs as root".to_owned(),
        false => match BrowserProcess::start(executable, true).await {
            Ok(browser) => return Ok((browser, None)),
            Err(error) => format!("the sandboxed browser did not start: {error}"),
        },
    };
    BrowserProcess::start(executable, false).await.map(|browser| (browser, Some(fault)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{browser_pool::MAX_PAGES, source::PageCode};
    use futures_util::future::join_all;
    use juror_services::install;
    use serde_json::Map;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use tokio::sync::Barrier;

    fn text_page() -> PageSource {
        let (code, props) = (PageCode::Html("<p>text</p>".to_owned()), Map::new());
        PageSource { code, props, frame: None, viewport: [32, 32], scale: 1 }
    }

    /// Pages that the renderer's only browser has opened, after another one; `None` without an idle
    /// browser.
    async fn open_page(renderer: &Renderer) -> Option<u32> {
        renderer.open(&text_page()).await.unwrap().close().await;
        renderer.pool.idle().first().map(|browser| browser.pages)
    }

    #[tokio::test]
    async fn open_pages_never_exceed_the_concurrency() {
        install::ensure("/usr/bin/chromium", "chromium");
        let (concurrency, pages) = (2, 8);
        let settings = RendererSettings { concurrency, ..RendererSettings::default() };
        let renderer = Renderer::start(settings).await.unwrap();
        let (open, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Each page waits until this many are open.
        let all_open = Barrier::new(concurrency);
        let source = text_page();
        let draw = |_| async {
            let mut page = renderer.open(&source).await.unwrap();
            most.fetch_max(open.fetch_add(1, Relaxed) + 1, Relaxed);
            all_open.wait().await;
            page.draw(&[]).await.unwrap();
            open.fetch_sub(1, Relaxed);
            page.close().await;
        };
        join_all((0..pages).map(draw)).await;
        assert_eq!((most.into_inner(), open.into_inner()), (concurrency, 0));
        let opened: Vec<u32> = renderer.pool.idle().iter().map(|browser| browser.pages).collect();
        assert_eq!((opened.len(), opened.iter().sum()), (concurrency, pages));
    }

    #[tokio::test]
    async fn a_browser_is_replaced_after_its_last_page() {
        install::ensure("/usr/bin/chromium", "chromium");
        let renderer = Renderer::start(RendererSettings::default()).await.unwrap();
        assert_eq!(open_page(&renderer).await, Some(1));
        renderer.pool.idle()[0].pages = MAX_PAGES - 2;
        assert_eq!(open_page(&renderer).await, Some(MAX_PAGES - 1));
        assert_eq!(open_page(&renderer).await, None, "it is ended");
        assert_eq!(open_page(&renderer).await, Some(1), "another one");
    }
}
