//! Headless browser, controlled over the pipe of its debugging protocol.

use juror_services::install;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::{self, JoinHandle},
    time::Duration,
};
use tempfile::TempDir;

const CHROMIUM: &str = "/usr/bin/chromium";

/// Time limit, far above the duration of any step, so that a hanging browser fails the test.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// A browser with one page open.
pub struct PageBrowser {
    child: Child,
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    reader: Option<JoinHandle<()>>,
    session: String,
    /// Targets and sessions of all tabs, in the order in which they were opened.
    tabs: Vec<(String, String)>,
    last_command: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl PageBrowser {
    /// Opens a file and waits until it has been loaded.
    pub fn open(file: &Path) -> Self {
        Self::at(&format!("file://{}", file.display()))
    }

    /// Opens an address and waits until it has been loaded.
    pub fn at(url: &str) -> Self {
        install::ensure(CHROMIUM, "chromium");
        let profile = tempfile::tempdir().unwrap();
        // The browser reads commands from descriptor 3 and writes replies to 4.
        let plumbing = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
        let mut child = Command::new("sh")
            .args(["-c", plumbing, CHROMIUM, "--headless", "--remote-debugging-pipe"])
            .args(["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--no-first-run"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        let reader = thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                let read = serde_json::from_slice(message.strip_suffix(&[0]).unwrap_or(&message));
                let Ok(read) = read else { return };
                // The test may have ended.
                if sender.send(read).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            commands,
            messages,
            reader: Some(reader),
            session: String::new(),
            tabs: Vec::new(),
            last_command: 0,
            events: Vec::new(),
            _profile: profile,
        };
        browser.attach();
        browser.visit(url);
        browser
    }

    /// Goes to another address and waits until it has been loaded.
    pub fn visit(&mut self, url: &str) {
        let loads = self.loads();
        self.send_command("Page.navigate", json!({"url": url}));
        self.await_load(loads);
    }

    /// Opens an address in a new tab, which becomes current.
    pub fn open_tab(&mut self, url: &str) {
        self.session.clear();
        self.attach();
        self.visit(url);
    }

    /// Makes the tab of this number current.
    pub fn use_tab(&mut self, number: usize) {
        self.session = self.tabs[number].1.clone();
    }

    /// Closes the tab of this number and leaves the others.
    pub fn close_tab(&mut self, number: usize) {
        let target = self.tabs[number].0.clone();
        self.send_command("Target.closeTarget", json!({"targetId": target}));
    }

    /// Runs a script in every page of the tab before the page's own scripts.
    pub fn before_scripts(&mut self, script: &str) {
        self.send_command("Page.addScriptToEvaluateOnNewDocument", json!({"source": script}));
    }

    /// Waits until an expression is true, which is checked at each change of the document, across
    /// page loads.
    pub fn await_true(&mut self, expression: &str) {
        let checking = format!(
            "new Promise(resolve => {{
                const check = () => {{ if ({expression}) resolve(true); }};
                new MutationObserver(check).observe(document,
                    {{subtree: true, childList: true, attributes: true, characterData: true}});
                document.addEventListener('readystatechange', check);
                check();
            }})"
        );
        let request = json!({
            "expression": checking, "awaitPromise": true, "returnByValue": true,
        });
        // The evaluated page may be left before it replies.
        let answer = loop {
            if let Ok(answer) = self.try_send_command("Runtime.evaluate", &request) {
                break answer;
            }
        };
        assert_eq!(answer["result"]["value"], true, "{expression}: {answer}");
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" && key.len() == 1 { key } else { "" };
            let event = json!({"type": kind, "key": key, "text": text});
            self.send_command("Input.dispatchKeyEvent", event);
        }
    }

    /// Clicks the selected element and waits until the linked page has been loaded.
    pub fn follow(&mut self, selector: &str) {
        let loads = self.loads();
        self.value(&format!("document.querySelector({selector:?}).click()"));
        self.await_load(loads);
    }

    /// Number of loaded pages.
    pub fn loads(&self) -> usize {
        self.of("Page.loadEventFired").count()
    }

    /// Clears the recorded requests and errors.
    pub fn clear_records(&mut self) {
        self.events.retain(|event| event["method"] == "Page.loadEventFired");
    }

    /// Value of an expression in the page; a promise is awaited.
    pub fn value(&mut self, expression: &str) -> Value {
        let request = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let answer = self.send_command("Runtime.evaluate", request);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Sets the window width in pixels and the color scheme, `light` or `dark`.
    pub fn show(&mut self, width: u32, scheme: &str) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500,
        });
        self.send_command("Emulation.setDeviceMetricsOverride", size);
        let likes = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.send_command("Emulation.setEmulatedMedia", likes);
    }

    /// Sets the print layout on A4, portrait.
    pub fn print_preview(&mut self) {
        let size = json!({"width": 718, "height": 1046, "deviceScaleFactor": 1, "mobile": false});
        self.send_command("Emulation.setDeviceMetricsOverride", size);
        self.send_command("Emulation.setEmulatedMedia", json!({"media": "print"}));
    }

    /// Every requested address.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.of("Network.requestWillBeSent");
        sent.map(|event| event["request"]["url"].as_str().unwrap().to_owned()).collect()
    }

    /// Errors that the browser reported: script errors and blocked resources.
    pub fn reported_errors(&self) -> Vec<String> {
        let thrown = self.of("Runtime.exceptionThrown").chain(self.of("Runtime.consoleAPICalled"));
        let logged = self.of("Log.entryAdded").map(|event| &event["entry"]);
        thrown.chain(logged).map(Value::to_string).collect()
    }

    fn attach(&mut self) {
        let target = self.send_command("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = self.send_command("Target.attachToTarget", attach);
        self.session = session["sessionId"].as_str().unwrap().to_owned();
        self.tabs.push((target["targetId"].as_str().unwrap().to_owned(), self.session.clone()));
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.send_command(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Waits for one more page load than this.
    pub fn await_load(&mut self, loads: usize) {
        while self.loads() <= loads {
            let event = self.messages.recv_timeout(MAX_WAIT).unwrap();
            self.events.push(event);
        }
    }

    fn of<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Value> {
        let events = self.events.iter().filter(move |event| event["method"] == method);
        events.map(|event| &event["params"])
    }

    fn send_command(&mut self, method: &str, parameters: Value) -> Value {
        self.try_send_command(method, &parameters)
            .unwrap_or_else(|message| panic!("{method}: {message}"))
    }

    fn try_send_command(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.last_command += 1;
        let mut command = json!({"id": self.last_command, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        let commands = self.commands.as_mut().unwrap();
        commands.write_all(format!("{command}\0").as_bytes()).unwrap();
        loop {
            let message = self.messages.recv_timeout(MAX_WAIT).unwrap();
            if message["id"] == self.last_command {
                return match message.get("error") {
                    Some(_) => Err(message),
                    None => Ok(message["result"].clone()),
                };
            }
            self.events.push(message);
        }
    }
}

impl Drop for PageBrowser {
    fn drop(&mut self) {
        // It ends when its command pipe is closed.
        drop(self.commands.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}
