//! Session of one page: a separate browser context in which every request is served from memory or
//! refused.

use crate::{
    browser_process::{BrowserProcess, reply},
    devtools_pipe::DevtoolsMessage,
    error::{RenderError, RendererError},
    served_file::ServedFile,
    served_files::ServedFiles,
};
use base64_simd::STANDARD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of refused addresses that are recorded, and of characters of each.
const MAX_REFUSED: usize = 20;
const MAX_REFUSED_CHARS: usize = 200;

/// A page of a browser, which has no other page meanwhile.
#[derive(Debug)]
pub(crate) struct PageSession {
    browser: BrowserProcess,
    context: Value,
    session: String,
    /// The page's own frame.
    frame: String,
    files: ServedFiles,
    /// True if the page itself was sent; it is sent once, so that nothing is loaded in its place.
    is_sent: bool,
    is_loaded: bool,
    /// Addresses that were refused, shortened and without their query.
    pub refused: BTreeSet<String>,
}

impl PageSession {
    /// Opens a blank page in a new context.
    pub async fn new(
        mut browser: BrowserProcess,
        files: ServedFiles,
    ) -> Result<Self, RendererError> {
        browser.pages += 1;
        let context = browser.call("Target.createBrowserContext", json!({})).await?;
        let context = context.get("browserContextId").cloned().unwrap_or_default();
        let deny = json!({"behavior": "deny", "browserContextId": context});
        browser.call("Browser.setDownloadBehavior", deny).await?;
        // An empty grant denies every permission.
        let grants = json!({"permissions": [], "browserContextId": context});
        browser.call("Browser.grantPermissions", grants).await?;
        let blank = json!({"url": "about:blank", "browserContextId": context});
        let target = browser.call("Target.createTarget", blank).await?;
        let target = target.get("targetId").and_then(Value::as_str).unwrap_or_default();
        let attach = json!({"targetId": target, "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach).await?;
        let session = attached.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        // A page's frame is named as the page itself is.
        let (session, frame) = (session.to_owned(), target.to_owned());
        let (is_sent, is_loaded, refused) = (false, false, BTreeSet::new());
        Ok(Self { browser, context, session, frame, files, is_sent, is_loaded, refused })
    }

    /// Calls a command of the page.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, RenderError> {
        let id = self.browser.send(Some(&self.session), method, params).await?;
        loop {
            let message = self.browser.receive().await?;
            if message.id != Some(id) {
                self.handle(message).await?;
                continue;
            }
            return self.reply(method, message);
        }
    }

    /// Calls commands of the page in order, and waits for their replies together.
    pub async fn call_all(
        &mut self,
        commands: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Result<(), RenderError> {
        let mut sent = BTreeMap::new();
        for (method, params) in commands {
            sent.insert(self.browser.send(Some(&self.session), method, params).await?, method);
        }
        while !sent.is_empty() {
            let message = self.browser.receive().await?;
            match message.id.and_then(|id| sent.remove(&id)) {
                Some(method) => drop(self.reply(method, message)?),
                None => self.handle(message).await?,
            }
        }
        Ok(())
    }

    /// Goes to the page and waits until it is loaded; returns the identifier of its frame.
    pub async fn load(&mut self) -> Result<&str, RenderError> {
        let address = ServedFiles::address();
        self.call("Page.navigate", json!({"url": address})).await?;
        while !self.is_loaded {
            let message = self.browser.receive().await?;
            self.handle(message).await?;
        }
        Ok(&self.frame)
    }

    /// Closes the page and all that it stored; returns the browser.
    pub async fn close(mut self) -> Result<BrowserProcess, RendererError> {
        let context = json!({"browserContextId": self.context});
        self.browser.call("Target.disposeBrowserContext", context).await?;
        Ok(self.browser)
    }

    fn reply(&self, method: &str, message: DevtoolsMessage) -> Result<Value, RenderError> {
        // After the code is sent, a refused command means that the page crashed or navigated away.
        match reply(method, message) {
            Err(_) if self.is_sent => Err(RenderError::PageEnded),
            replied => Ok(replied?),
        }
    }

    async fn handle(&mut self, message: DevtoolsMessage) -> Result<(), RenderError> {
        if message.session.as_deref() != Some(self.session.as_str()) {
            return Ok(());
        }
        match message.method.as_str() {
            "Page.loadEventFired" => self.is_loaded = self.is_sent,
            // A page whose navigation was aborted fires no load event.
            "Page.frameStoppedLoading" if self.is_own_frame(&message.params) => {
                self.is_loaded = self.is_sent;
            }
            "Inspector.targetCrashed" => return Err(RenderError::PageEnded),
            "Page.javascriptDialogOpening" => {
                self.send("Page.handleJavaScriptDialog", json!({"accept": false})).await?;
            }
            "Fetch.requestPaused" => self.respond_to(&message.params).await?,
            // Refused by the policy, before the request could be paused.
            "Audits.issueAdded" => {
                let blocked = "/issue/details/contentSecurityPolicyIssueDetails/blockedURL";
                let address = message.params.pointer(blocked).and_then(Value::as_str);
                self.record_refused(
                    address.filter(|address| address.contains("://")).unwrap_or_default(),
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn is_own_frame(&self, params: &Value) -> bool {
        params.get("frameId").and_then(Value::as_str) == Some(self.frame.as_str())
    }

    /// Serves a request of the page from its files, or refuses it.
    async fn respond_to(&mut self, paused: &Value) -> Result<(), RendererError> {
        let request = paused.get("requestId");
        let address = paused.pointer("/request/url").and_then(Value::as_str).unwrap_or_default();
        let is_document = paused.get("resourceType").and_then(Value::as_str) == Some("Document");
        if is_document && self.is_sent {
            // Navigation away is aborted.
            self.record_refused(address);
            let refusal = json!({"requestId": request, "errorReason": "Aborted"});
            return self.send("Fetch.failRequest", refusal).await;
        }
        let Some(file) = self.files.file(address) else {
            // The browser itself requests the favicon; do not report it.
            if !ServedFiles::is_icon(address) {
                self.record_refused(address);
            }
            let refusal = json!({"requestId": request, "errorReason": "BlockedByClient"});
            return self.send("Fetch.failRequest", refusal).await;
        };
        let response = response(request, file);
        self.is_sent |= is_document;
        self.send("Fetch.fulfillRequest", response).await
    }

    fn record_refused(&mut self, address: &str) {
        let named = address.split(['?', '#']).next().unwrap_or_default();
        if !named.is_empty() && self.refused.len() < MAX_REFUSED {
            self.refused.insert(named.chars().take(MAX_REFUSED_CHARS).collect());
        }
    }

    /// Sends a command and ignores its reply: a page that is gone needs none.
    async fn send(&mut self, method: &str, params: Value) -> Result<(), RendererError> {
        self.browser.send(Some(&self.session), method, params).await.map(|_| ())
    }
}

fn response(request: Option<&Value>, file: &ServedFile) -> Value {
    let headers = file.headers().map(|(name, value)| json!({"name": name, "value": value}));
    json!({
        "requestId": request, "responseCode": 200, "responseHeaders": headers,
        "body": STANDARD.encode_to_string(&file.content),
    })
}
