//! Rendering of an open page, unchanged and with changes.

use crate::{
    browser_pool::PagePermit,
    browser_process::BrowserProcess,
    error::{RenderError, RendererError},
    module_files::ModuleFiles,
    page_resource_limits::PageLimits,
    page_session::PageSession,
    served_files::ServedFiles,
    source::PageSource,
    tailwind::TailwindUse,
};
use base64_simd::STANDARD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use juror_evidence::{PageChange, SNAPSHOT_PROPERTIES, Snapshot};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::{sync::Arc, time::Duration};
use tokio::time;

/// Clock, chance and errors of the page, which run in it before its own scripts.
pub(crate) const PAGE_SCRIPT: &str = include_str!("scripts/page.js");
/// Description and changes of the page, which run where its scripts cannot reach.
pub(crate) const SNAPSHOT_SCRIPT: &str =
    concat!(include_str!("scripts/browser_drawn.js"), include_str!("scripts/snapshot.js"));

/// Maximum number of elements of a page.
const MAX_ELEMENTS: usize = 10_000;
/// Maximum length of an error in characters.
const MAX_ERROR_CHARS: usize = 300;
/// Time limit of the browser's own work on a page: opening an empty one, and closing one.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(30);
/// Time on the page's clock at which it is rendered, in milliseconds, and maximum number of timers
/// that run in it.
const PAGE_TIME: u32 = 1000;
const MAX_TIMERS: u32 = 2000;

/// An open page. Its browser ends if it is dropped without being closed.
#[derive(Debug)]
pub struct OpenPage<'renderer> {
    session: PageSession,
    world: Value,
    /// First error of the code.
    error: Option<String>,
    /// Parts of the code that are replaced in the render.
    partial: Vec<String>,
    limits: PageLimits,
    permit: PagePermit<'renderer>,
}

/// Modules that every page is served, and the condition for Tailwind.
#[derive(Clone, Debug)]
pub(crate) struct ServedModules {
    pub modules: Arc<ModuleFiles>,
    pub tailwind: TailwindUse,
}

/// Rendered page.
#[derive(Clone, Debug)]
pub struct RenderedPage {
    /// Image as PNG.
    pub picture: Bytes,
    /// The page's elements.
    pub snapshot: Snapshot,
    /// Imports and scripts of the code that are replaced in the render.
    pub partial: Vec<String>,
    /// Addresses that the page requested and was refused, shortened and without their query.
    pub refused: Vec<String>,
    /// The first error that the code threw, although it shows something.
    pub error: Option<String>,
}

impl<'renderer> OpenPage<'renderer> {
    /// Opens code in a browser and waits until the page has settled.
    pub(crate) async fn open(
        browser: BrowserProcess,
        source: &PageSource,
        served: &ServedModules,
        mut limits: PageLimits,
        permit: PagePermit<'renderer>,
    ) -> Result<Self, RenderError> {
        let files = ServedFiles::from_source(source, &served.modules, served.tailwind);
        let partial = files.partial.clone();
        // A timeout before the code is loaded is the browser's fault.
        let session = time::timeout(BROWSER_TIMEOUT, PageSession::new(browser, files)).await;
        let silent = |_| RendererError::Ended("it opened no page in 30 s".to_owned());
        let (session, world, error) = (session.map_err(silent)??, Value::Null, None);
        let unused = limits.clone();
        let opening = async {
            let mut page = Self { session, world, error, partial, limits: unused, permit };
            page.load(source).await?;
            let fault = page.fault().await?;
            Ok((page, fault))
        };
        let (mut page, fault) = limits.enforce(opening).await?;
        page.limits = limits;
        match fault {
            None => Ok(page),
            Some(fault) => {
                page.close().await;
                Err(fault)
            }
        }
    }

    /// Renders the page with changes, which replace those of the last render.
    ///
    /// # Errors
    /// The page's time limit is reached, or its browser ended; the page must be dropped then.
    pub fn draw<'a>(
        &'a mut self,
        changes: &'a [PageChange],
    ) -> BoxFuture<'a, Result<RenderedPage, RenderError>> {
        Box::pin(async move {
            let mut limits = self.limits.clone();
            let drawn = limits.enforce(self.draw_changed(changes)).await;
            self.limits = limits;
            self.permit.record_outcome(&drawn);
            drawn
        })
    }

    /// Closes the page and removes its stored data; the browser renders other pages.
    pub async fn close(self) {
        let closing = self.session.close();
        // A browser that cannot close a page is dropped.
        if let Ok(Ok(browser)) = time::timeout(BROWSER_TIMEOUT, closing).await {
            self.permit.return_browser(browser);
        }
    }

    async fn load(&mut self, source: &PageSource) -> Result<(), RenderError> {
        let [width, height] = source.viewport;
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": source.scale, "mobile": false,
        });
        let media = json!({"media": "screen", "features": [
            {"name": "prefers-color-scheme", "value": "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        let preparation = [
            ("Page.enable", json!({})),
            ("Inspector.enable", json!({})),
            ("Audits.enable", json!({})),
            ("Fetch.enable", json!({"patterns": [{"urlPattern": "*"}]})),
            ("Emulation.setDeviceMetricsOverride", metrics),
            ("Emulation.setEmulatedMedia", media),
            ("Emulation.setTimezoneOverride", json!({"timezoneId": "UTC"})),
            ("Emulation.setLocaleOverride", json!({"locale": "en-US"})),
            ("Page.addScriptToEvaluateOnNewDocument", json!({"source": PAGE_SCRIPT})),
        ];
        self.session.call_all(preparation).await?;
        let frame = self.session.load().await?;
        let world = json!({"frameId": frame, "worldName": "juror"});
        let world = self.session.call("Page.createIsolatedWorld", world).await?;
        self.world = world.get("executionContextId").cloned().unwrap_or_default();
        let properties = json!(SNAPSHOT_PROPERTIES.as_slice());
        self.evaluate_isolated::<Value>(&format!("{SNAPSHOT_SCRIPT}({properties}); null")).await?;
        Ok(())
    }

    /// Lets the page settle; the reason why it cannot be measured, if there is one.
    async fn fault(&mut self) -> Result<Option<RenderError>, RenderError> {
        let running = format!("__juror.run({PAGE_TIME}, {MAX_TIMERS})");
        let errors: Vec<String> = self.evaluate(None, &running).await?;
        let state: SettledPage =
            self.evaluate_isolated(&format!("juror.settle({MAX_ELEMENTS})")).await?;
        // An import that was replaced may be the cause of an error.
        let replaced = self.replaced();
        self.error = errors.first().map(|error| shortened(error) + &replaced);
        Ok(match &self.error {
            _ if state.elements > MAX_ELEMENTS => Some(RenderError::TooManyElements(MAX_ELEMENTS)),
            Some(error) if state.is_empty => Some(RenderError::Throws(error.clone())),
            None if state.is_empty => Some(RenderError::Empty { replaced }),
            _ => None,
        })
    }

    /// The names of replaced imports, as ` (not there: lucide-react)`; empty without any.
    fn replaced(&self) -> String {
        match self.partial.as_slice() {
            [] => String::new(),
            names => format!(" (not there: {})", shortened(&names.join(", "))),
        }
    }

    async fn draw_changed(&mut self, changes: &[PageChange]) -> Result<RenderedPage, RenderError> {
        let written = json!(changes);
        let snapshot: String = self.evaluate_isolated(&format!("juror.change({written})")).await?;
        let options = json!({"format": "png", "optimizeForSpeed": true});
        let shot = self.session.call("Page.captureScreenshot", options).await?;
        let snapshot = serde_json::from_str(&snapshot);
        let snapshot = snapshot.map_err(|error| invalid("description", &error))?;
        let data = shot.get("data").and_then(Value::as_str).unwrap_or_default();
        let picture = STANDARD.decode_to_vec(data).map_err(|error| invalid("picture", &error))?;
        let refused = self.session.refused.iter().cloned().collect();
        let (partial, error) = (self.partial.clone(), self.error.clone());
        Ok(RenderedPage { picture: picture.into(), snapshot, partial, refused, error })
    }

    /// Evaluates an expression where the page's scripts cannot reach.
    async fn evaluate_isolated<T: DeserializeOwned>(
        &mut self,
        expression: &str,
    ) -> Result<T, RenderError> {
        let world = self.world.clone();
        self.evaluate(Some(world), expression).await
    }

    async fn evaluate<T: DeserializeOwned>(
        &mut self,
        world: Option<Value>,
        expression: &str,
    ) -> Result<T, RenderError> {
        let mut params = Map::from_iter([
            ("expression".to_owned(), json!(expression)),
            ("returnByValue".to_owned(), json!(true)),
            ("awaitPromise".to_owned(), json!(true)),
        ]);
        if let Some(world) = world {
            params.insert("contextId".to_owned(), world);
        }
        let reply = self.session.call("Runtime.evaluate", params.into()).await?;
        // The page has overwritten built-ins that the script needs.
        if let Some(details) = reply.get("exceptionDetails") {
            let thrown = details.pointer("/exception/description").and_then(Value::as_str);
            let line = thrown.and_then(|text| text.lines().next()).unwrap_or("an error");
            return Err(RenderError::Throws(shortened(line)));
        }
        let value = reply.pointer("/result/value").cloned().unwrap_or_default();
        serde_json::from_value(value).map_err(|error| {
            RenderError::Throws(shortened(&format!("its description cannot be read: {error}")))
        })
    }
}

/// State of a page that has settled.
#[derive(Debug, Deserialize)]
struct SettledPage {
    elements: usize,
    is_empty: bool,
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_ERROR_CHARS).collect()
}

fn invalid(what: &str, error: &dyn std::fmt::Display) -> RendererError {
    RendererError::Ended(format!("its {what} of the page cannot be read: {error}"))
}
