//! The browsers of a process, each with one page at a time.

use crate::{
    component_page::{MOUNT, PREPARATION, STAND_IN},
    error::{RenderError, RendererError},
    executable::BrowserExecutable,
    module_files::ModuleFiles,
    open_page::{OpenPage, PAGE_SCRIPT, SNAPSHOT_SCRIPT, ServedModules},
    pool::BrowserPool,
    process::{BrowserProcess, FLAGS},
    source::PageSource,
    tailwind::TailwindUse,
};
use futures_util::future::BoxFuture;
use juror_types::id::Digest;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::task::spawn_blocking;

/// Settings of a renderer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RendererSettings {
    /// The browser; none looks for one on PATH.
    pub browser: Option<PathBuf>,
    /// Maximum number of open pages, each in a browser of its own (at least one).
    pub concurrency: usize,
    /// Time limit of one page, from its opening to its last drawing.
    pub timeout: Duration,
    /// Condition on which pages get Tailwind.
    pub tailwind: TailwindUse,
    /// Folder of modules that components may import; none for the shipped ones alone.
    pub modules: Option<PathBuf>,
    /// Style sheet of the page around components and parts of pages; none without one.
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
    /// They cannot be read.
    pub fn check_files(&self) -> Result<(), RendererError> {
        ModuleFiles::load(self.modules.as_deref(), self.stylesheet.as_deref()).map(drop)
    }

    /// Name and version of the browser, which is not started.
    ///
    /// # Errors
    /// No browser is found, or it is too old.
    pub fn find_browser(&self) -> BoxFuture<'_, Result<String, RendererError>> {
        Box::pin(async move {
            BrowserExecutable::find(self.browser.as_deref()).await.map(|executable| executable.name)
        })
    }
}

/// A renderer of code, with browsers that it starts, replaces and ends.
#[derive(Debug)]
pub struct Renderer {
    executable: BrowserExecutable,
    timeout: Duration,
    is_sandboxed: bool,
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
            let (browser, is_sandboxed) = start_sandboxed_if_possible(&executable).await?;
            Ok(Self {
                executable,
                timeout: settings.timeout,
                is_sandboxed,
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

    /// Digest of everything that a drawing depends on beside its source: the browser and its flags,
    /// the scripts in each page, the served modules, and the condition for Tailwind.
    pub fn digest(&self) -> Digest {
        let ServedModules { modules, tailwind } = &self.served;
        let scripts = [PAGE_SCRIPT, SNAPSHOT_SCRIPT, PREPARATION, MOUNT, STAND_IN].concat();
        let served = format!("{} {}", modules.digest(), tailwind.name());
        Digest::of(format!("{} {} {served} {scripts}", self.browser(), FLAGS.join(" ")).as_bytes())
    }

    /// True if pages run in the browser's own sandbox; it has none for root, nor where the system
    /// allows no user namespaces.
    pub fn is_sandboxed(&self) -> bool {
        self.is_sandboxed
    }

    /// Opens code as a page, once a browser is free, and waits until the page has settled.
    ///
    /// # Errors
    /// The code cannot be drawn, or the browser is at fault; [`RenderError::is_about_code`] tells
    /// them apart.
    pub fn open<'a, 'renderer: 'a>(
        &'renderer self,
        source: &'a PageSource,
    ) -> BoxFuture<'a, Result<OpenPage<'renderer>, RenderError>> {
        Box::pin(async move {
            source.check_viewport()?;
            let closed = |_| RendererError::Ended("the renderer is shut down".to_owned());
            let (permit, idle) = self.pool.acquire().await.map_err(closed)?;
            let browser = match idle {
                Some(browser) => browser,
                None => BrowserProcess::start(&self.executable, self.is_sandboxed).await?,
            };
            OpenPage::open(browser, source, &self.served, self.timeout, permit).await
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

/// Starts a browser in its sandbox; without it where that does not work.
async fn start_sandboxed_if_possible(
    executable: &BrowserExecutable,
) -> Result<(BrowserProcess, bool), RendererError> {
    if may_be_sandboxed()
        && let Ok(browser) = BrowserProcess::start(executable, true).await
    {
        return Ok((browser, true));
    }
    BrowserProcess::start(executable, false).await.map(|browser| (browser, false))
}

/// Chromium refuses its sandbox to root.
fn may_be_sandboxed() -> bool {
    #[cfg(unix)]
    {
        !rustix::process::geteuid().is_root()
    }
    #[cfg(not(unix))]
    {
        true
    }
}
