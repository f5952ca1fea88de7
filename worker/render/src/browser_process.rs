//! Running browser: processes, profile and pipes.

use crate::{
    devtools_pipe::{DevtoolsMessage, DevtoolsPipe},
    error::RendererError,
    executable::BrowserExecutable,
    process_group::ProcessGroup,
};
use serde_json::{Value, json};
use std::{io, path::Path, process::Stdio, time::Duration};
use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt as _,
    process::{Child, Command},
    time::timeout,
};

/// Flags for rendering with equal bytes each time, and without network access.
pub(crate) const FLAGS: [&str; 38] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-3d-apis",
    "--hide-scrollbars",
    "--mute-audio",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--force-color-profile=srgb",
    "--lang=en-US",
    // Animated images are rendered with their first frame.
    "--blink-settings=imageAnimationPolicy=2",
    // Frames are not limited to a display rate: trials of repairs wait for no display.
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
    // Without a frame limit, window animations would double the cost of a page.
    "--animation-duration-scale=0",
    "--no-startup-window",
    // A page is never in the background, where timers and frames are slowed down.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--deny-permission-prompts",
    // Omnibox popups and spare renderers used more CPU time than the page.
    "--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,\
     WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess",
    // A backstop: on Linux `PageLimits` limits all processes first.
    "--js-flags=--max-old-space-size=512",
    // Defense in depth: requests that bypass interception resolve and connect to nothing.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// Shell script that starts the browser. The browser reads commands from descriptor 3 and replies
/// on 4. It gets nothing of the worker's environment but PATH. After it, the end of its log goes to
/// stderr, and its profile is removed, even if the worker is gone.
const WRAPPER: &str = r#"
profile=$1 log=$2 program=$3
shift 3
env -i PATH="$PATH" HOME="$profile" LANG=C.UTF-8 TZ=UTC "$program" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>"$log"
tail -c 2000 -- "$log" >&2
rm -rf -- "$profile"
"#;

const START_TIMEOUT: Duration = Duration::from_secs(30);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes that are read of the log's end, and maximum length of its line in characters.
const MAX_LOG_BYTES: u64 = 4000;
const MAX_LINE_CHARS: usize = 300;

/// A running browser. Dropping it kills all its processes.
#[derive(Debug)]
pub(crate) struct BrowserProcess {
    pipe: DevtoolsPipe,
    child: Child,
    /// The group of all its processes.
    pub group: ProcessGroup,
    _profile: TempDir,
    /// Pages that it has opened.
    pub pages: u32,
}

impl BrowserProcess {
    /// Starts a browser and waits until it replies.
    pub async fn start(
        executable: &BrowserExecutable,
        is_sandboxed: bool,
    ) -> Result<Self, RendererError> {
        let not_started =
            |reason: String| RendererError::NotStarted { browser: executable.name.clone(), reason };
        let failed = |error: io::Error| not_started(error.to_string());
        let profile =
            tempfile::Builder::new().prefix("juror-browser-").tempdir().map_err(failed)?;
        let log = profile.path().join("log");
        let mut child = command(executable, profile.path(), &log, is_sandboxed);
        let mut child = child.spawn().map_err(failed)?;
        let group = ProcessGroup::for_child(&child);
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (to, from) = pipes.ok_or_else(|| not_started("it has no pipes".to_owned()))?;
        let pipe = DevtoolsPipe::new(to, from);
        let mut browser = Self { pipe, child, group, _profile: profile, pages: 0 };
        let greeting = browser.call("Browser.getVersion", json!({}));
        match timeout(START_TIMEOUT, greeting).await {
            Ok(Ok(_)) => Ok(browser),
            Ok(Err(error)) => {
                let line = last_line(&mut browser.child).await;
                Err(not_started(line.unwrap_or(error.to_string())))
            }
            Err(_) => Err(not_started("it did not reply in 30 s".to_owned())),
        }
    }

    /// Calls a command of the browser itself.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, RendererError> {
        let id = self.send(None, method, params).await?;
        loop {
            let message = self.receive().await?;
            if message.id == Some(id) {
                return reply(method, message);
            }
        }
    }

    pub async fn send(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<u64, RendererError> {
        self.pipe.send(session, method, params).await.map_err(ended)
    }

    pub async fn receive(&mut self) -> Result<DevtoolsMessage, RendererError> {
        self.pipe.receive().await.map_err(ended)
    }

    /// Closes the browser and waits for its end.
    pub async fn close(mut self) {
        // A browser that does not exit is killed on drop.
        if self.send(None, "Browser.close", json!({})).await.is_ok() {
            let _ = timeout(CLOSE_TIMEOUT, self.child.wait()).await;
        }
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        // A group that has ended may have given its number to another.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.group.kill();
        }
    }
}

/// The result of a command.
pub(crate) fn reply(method: &str, message: DevtoolsMessage) -> Result<Value, RendererError> {
    match message.error {
        Some(error) => Err(RendererError::Ended(format!("{method}: {}", error.message))),
        None => Ok(message.result),
    }
}

fn command(
    executable: &BrowserExecutable,
    profile: &Path,
    log: &Path,
    is_sandboxed: bool,
) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", WRAPPER, "sh"]).arg(profile).arg(log).arg(&executable.program);
    command.args(FLAGS).arg(format!("--user-data-dir={}", profile.display()));
    if !is_sandboxed {
        command.arg("--no-sandbox");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    // A separate process group, so that all its processes can be ended, and so that Ctrl-C at the
    // terminal reaches the worker alone.
    command.process_group(0);
    command
}

fn ended(error: io::Error) -> RendererError {
    RendererError::Ended(match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => "its pipe is closed".to_owned(),
        _ => error.to_string(),
    })
}

/// The last line that an ended browser wrote to its stderr, shortened; `None` if it wrote nothing.
async fn last_line(child: &mut Child) -> Option<String> {
    let mut written = Vec::new();
    let mut stderr = child.stderr.take()?.take(MAX_LOG_BYTES);
    // A browser that keeps running has no final line.
    timeout(CLOSE_TIMEOUT, stderr.read_to_end(&mut written)).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&written);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().filter(|letter| !letter.is_control()).take(MAX_LINE_CHARS).collect())
}
