//! A real browser, by its own protocol: Chromium's DevTools over a pipe.
//!
//! Keys and clicks go the way of a person's, through the browser's input, so focus and default
//! actions are what they are for people. Nothing waits for time to pass: a page is asked when it
//! has drawn.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The browser speaks on descriptors 3 and 4: here they are its input and output.
const START: &str = r#"exec chromium "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1"#;

/// A page in a browser of its own.
pub(super) struct Page {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    sent: u64,
    loads: usize,
    /// What went wrong in the page's scripts.
    pub(super) errors: Vec<String>,
    _profile: TempDir,
}

impl Page {
    /// Opens a file.
    pub(super) fn open(file: &Path) -> Self {
        let there = Command::new("chromium").arg("--version").output();
        assert!(
            there.is_ok_and(|output| output.status.success()),
            "chromium is missing: ./check installs it (Debian's package `chromium`)"
        );
        let profile = TempDir::new().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", START, "sh", "--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"])
            .args(["--window-size=1300,900", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (errors, session) = (Vec::new(), None);
        let mut page =
            Self { child, input, output, session, sent: 0, loads: 0, errors, _profile: profile };
        let target = page.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = page.call("Target.attachToTarget", &attach);
        page.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            page.call(domain, &json!({}));
        }
        page.call("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        while page.loads == 0 {
            let message = page.read();
            page.note(&message);
        }
        page.frame();
        page
    }

    /// What an expression of the page's is.
    pub(super) fn get(&mut self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        });
        let result = self.call("Runtime.evaluate", &params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    pub(super) fn number(&mut self, expression: &str) -> u64 {
        self.get(expression).as_u64().unwrap_or_else(|| panic!("{expression} is no number"))
    }

    /// The text of the first element that fits.
    pub(super) fn text(&mut self, selector: &str) -> String {
        let text = self.get(&format!("document.querySelector({})?.innerText", json!(selector)));
        text.as_str().unwrap_or_else(|| panic!("there is no {selector}")).to_owned()
    }

    /// Presses a key, by the name that browsers give it.
    pub(super) fn key(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let mut params = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if !text.is_empty() {
            params["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", &params);
        self.call("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key }));
        self.frame();
    }

    /// Clicks into the middle of the first element that fits.
    pub(super) fn click(&mut self, selector: &str) {
        let middle = format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{ block: 'nearest' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            json!(selector)
        );
        let middle = self.get(&middle);
        self.click_at(middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap());
    }

    pub(super) fn click_at(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.point(kind, x, y);
        }
    }

    /// Moves the mouse, or presses or releases its button, as the protocol calls that.
    pub(super) fn point(&mut self, kind: &str, x: f64, y: f64) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let params = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", &params);
        self.frame();
    }

    /// Turns the wheel away, while Ctrl is pressed.
    pub(super) fn wheel(&mut self, x: f64, y: f64) {
        let params = json!({
            "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -200, "modifiers": 2,
        });
        self.call("Input.dispatchMouseEvent", &params);
        self.frame();
    }

    /// Chooses an option.
    pub(super) fn choose(&mut self, selector: &str, value: &str) {
        let chosen = format!(
            "(() => {{ const e = document.querySelector({}); e.value = {}; \
             e.dispatchEvent(new Event('change')); return e.value; }})()",
            json!(selector),
            json!(value)
        );
        assert_eq!(self.get(&chosen), value, "{selector}");
        self.frame();
    }

    /// Makes the browser prefer light or dark pages.
    pub(super) fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
        self.frame();
    }

    /// Waits until what has changed is drawn.
    fn frame(&mut self) {
        self.get("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let message = self.read();
            if message["id"] == self.sent {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.note(&message);
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has gone away");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Remembers what the browser says of its own accord.
    fn note(&mut self, message: &Value) {
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Page.loadEventFired" => self.loads += 1,
            "Runtime.exceptionThrown" => self.errors.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" => self.errors.push(params["args"].to_string()),
            "Log.entryAdded" => self.errors.push(params["entry"].to_string()),
            _ => {}
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // Asked to close it leaves nothing behind; all its processes are gone when nobody holds the
        // pipe. After a failure there is no time for that, and it may have gone by itself.
        if !std::thread::panicking() {
            let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
            let _ = self.output.read_to_end(&mut Vec::new());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
