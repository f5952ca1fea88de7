//! Idle browsers, and permits for open pages.

use crate::{
    browser_failures::BrowserFailures, browser_process::BrowserProcess, error::RenderError,
};
use parking_lot::{Mutex, MutexGuard};

use tokio::sync::{AcquireError, Semaphore, SemaphorePermit};

/// Number of pages after which a browser is replaced.
pub(crate) const MAX_PAGES: u32 = 200;

/// Idle browsers, and permits for the pages that are open.
#[derive(Debug)]
pub(crate) struct BrowserPool {
    idle: Mutex<Vec<BrowserProcess>>,
    permits: Semaphore,
    pub failures: BrowserFailures,
}

impl BrowserPool {
    /// A pool of this many pages (at least one) with its first browser.
    pub fn new(concurrency: usize, browser: BrowserProcess) -> Self {
        let permits = Semaphore::new(concurrency.max(1));
        Self { idle: Mutex::new(vec![browser]), permits, failures: BrowserFailures::default() }
    }

    /// Waits until a page may be opened; returns an idle browser, if there is one. Fails once the
    /// pool is closed.
    pub async fn acquire(&self) -> Result<(PagePermit<'_>, Option<BrowserProcess>), AcquireError> {
        let permit = self.permits.acquire().await?;
        let idle = self.idle().pop();
        Ok((PagePermit { pool: self, _permit: permit }, idle))
    }

    /// Opens no further page; returns the browsers that are idle.
    pub fn close(&self) -> Vec<BrowserProcess> {
        self.permits.close();
        std::mem::take(&mut *self.idle())
    }

    /// Browsers without a page.
    pub fn idle(&self) -> MutexGuard<'_, Vec<BrowserProcess>> {
        self.idle.lock()
    }
}

/// The right to have a page open.
#[derive(Debug)]
pub(crate) struct PagePermit<'pool> {
    pool: &'pool BrowserPool,
    _permit: SemaphorePermit<'pool>,
}

impl PagePermit<'_> {
    /// Records the outcome of a render in the failure count.
    pub fn record_outcome<T>(&self, drawn: &Result<T, RenderError>) {
        match drawn {
            Ok(_) => self.pool.failures.reset(),
            Err(error) => self.pool.failures.count(error),
        }
    }

    /// Keeps a browser for the next page, unless it has opened enough of them.
    pub fn return_browser(self, browser: BrowserProcess) {
        if browser.pages < MAX_PAGES && !self.pool.permits.is_closed() {
            self.pool.idle().push(browser);
        }
    }
}
