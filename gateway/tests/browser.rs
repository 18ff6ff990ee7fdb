//! The page in a real browser, where one is there: it says what has happened, and recovers.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{Socket, WATCHDOG, order, platform};

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let all = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = all.into_iter().find(|path| path.exists());
    if found.is_none() {
        println!("skipped: there is no Chromium (Debian: apt install chromium)");
    }
    found
}

/// A browser with one page, spoken to by its own protocol.
struct Browser {
    child: Child,
    socket: Socket,
    asked: u64,
    _folder: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(port: u16, path: &str, more: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(WATCHDOG))?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{more}\r\n")?;
    Ok(stream)
}

fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).to_lowercase()
}

/// The path of its page's WebSocket, once it is there.
fn page_of(port: u16) -> Option<String> {
    let mut stream = get(port, "/json", "").ok()?;
    let head = head(&mut stream);
    let length = head.split("content-length:").nth(1)?.lines().next()?.trim().parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let pages: Value = serde_json::from_slice(&body).ok()?;
    let page = pages.as_array()?.iter().find(|page| page["type"] == "page")?;
    Some(format!("/devtools/{}", page["webSocketDebuggerUrl"].as_str()?.split("/devtools/").nth(1)?))
}

impl Browser {
    fn start(program: PathBuf) -> Browser {
        let folder = tempfile::tempdir().unwrap();
        let child = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-port=0",
                "--lang=en",
            ])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let end = Instant::now() + WATCHDOG;
        let (port, path) = loop {
            let text = std::fs::read_to_string(folder.path().join("DevToolsActivePort")).unwrap_or_default();
            let port = text.lines().next().and_then(|line| line.parse().ok());
            if let Some((port, path)) = port.and_then(|port| Some((port, page_of(port)?))) {
                break (port, path);
            }
            assert!(Instant::now() < end, "the browser does not come up");
            std::thread::sleep(Duration::from_millis(50));
        };
        let wish = "upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let mut stream = get(port, &path, wish).unwrap();
        assert!(head(&mut stream).starts_with("http/1.1 101"));
        Browser { child, socket: Socket { stream }, asked: 0, _folder: folder }
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let asked = self.asked;
        self.socket.say(&json!({"id": asked, "method": method, "params": params}).to_string());
        self.socket.until(method, |message| message["id"] == asked)
    }

    /// What a script in the page comes to.
    fn run(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "returnByValue": true});
        self.call("Runtime.evaluate", &params)["result"]["result"]["value"].clone()
    }

    /// What a promise of the page comes to.
    fn wait(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        self.call("Runtime.evaluate", &params)["result"]["result"]["value"].clone()
    }

    fn until(&mut self, what: &str, script: &str) {
        let end = Instant::now() + WATCHDOG;
        while self.run(script) != true {
            let body = self.run("document.body.innerText");
            assert!(Instant::now() < end, "{what}: {}", body.as_str().unwrap_or_default());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn the_page_turns_red_when_somebody_dies_and_green_when_he_is_back() {
    let Some(program) = browser() else { return };
    let Some(platform) = platform("browser", "") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    for (name, side, price) in [("b", "buy", "95"), ("s", "sell", "105")] {
        assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order(name, side, 3, price)).status, 201);
    }
    let mut browser = Browser::start(program);
    browser.call("Page.navigate", &json!({"url": format!("http://127.0.0.1:{}/", platform.port)}));
    browser.until("a token is asked for", "!(document.getElementById('sign')?.hidden ?? true)");
    // As somebody types it.
    let enter = format!(
        "document.getElementById('token').value = '{token}'; document.getElementById('sign').requestSubmit(); true"
    );
    browser.run(&enter);
    browser.until("green", "document.getElementById('verdict').className === 'well'");
    // It has been pushed, and the ladder shows both sides.
    let ladder = "document.querySelector('#ladder .bid')?.textContent === '3' && document.querySelector('#ladder .ask')?.textContent === '3'";
    browser.until("the book", ladder);
    browser.until("the orders at work", "document.getElementById('working').innerText.includes('gateway')");
    assert_eq!(browser.run("document.querySelectorAll('[data-at]').length > 20"), true, "figures have ages");

    // The way of an order: chosen among the newest, or by its number.
    let bars = |count: usize| format!("document.querySelectorAll('#trace .bar').length >= {count}");
    browser.until("the newest orders", "document.querySelectorAll('#recent button').length === 2");
    browser.run("document.querySelector('#recent button').click(); true");
    browser.until("an order's way", &bars(3));
    let order = browser.run("document.querySelector('#recent tr:last-child button').textContent");
    let order = order.as_str().unwrap().to_owned();
    browser.run(&format!(
        "document.getElementById('trace-order').value = '{order}'; document.getElementById('trace-form').requestSubmit(); true"
    ));
    let said = format!("document.getElementById('trace-said').textContent.startsWith('{order} · gateway')");
    browser.until("the other's", &format!("{said} && {}", bars(3)));
    let widths = "[...document.querySelectorAll('#trace .bar')].every((bar) => bar.getBoundingClientRect().width >= 2)";
    assert_eq!(browser.run(widths), true, "every stage is seen");
    browser.run(
        "document.getElementById('trace-order').value = '1-1-1'; document.getElementById('trace-form').requestSubmit(); true",
    );
    browser.until("no order", "document.querySelectorAll('#trace .bar').length === 0");

    platform.kill("master");
    let red = |who: &str| {
        format!(
            "(line => line.className === 'bad' && line.textContent.includes('{who}'))(document.getElementById('verdict'))"
        )
    };
    browser.until("red for master", &red("master"));
    assert!(platform.colo(&["up", "g.toml", "--stay"]).status.success());
    browser.until("green again", "document.getElementById('verdict').className === 'well'");
    platform.kill("gateway");
    browser.until(
        "green with a new gateway",
        "document.getElementById('nodes').innerText.match(/gateway\\s+gateway\\s+running\\s+2/) !== null",
    );
    platform.kill("md");
    browser.until("red for md", &red("md"));
}

/// Where `.ci/gateway` puts axe-core.
fn axe() -> Option<String> {
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/gateway-tools");
    let tools = std::env::var_os("COLO_GATEWAY_TOOLS").map_or_else(beside, PathBuf::from);
    let text = std::fs::read_to_string(tools.join("axe/node_modules/axe-core/axe.min.js")).ok();
    if text.is_none() {
        println!("skipped: there is no axe-core; `.ci/gateway` installs it (npm: axe-core)");
    }
    text
}

#[test]
fn the_page_shows_data_at_once_and_axe_finds_nothing_serious() {
    let Some(program) = browser() else { return };
    let Some(platform) = platform("axe", "") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    for (name, side, price) in [("b", "buy", "95"), ("s", "sell", "105")] {
        assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order(name, side, 3, price)).status, 201);
    }
    let mut browser = Browser::start(program);
    browser.call("Page.enable", &json!({}));
    // When the line at the top first says something, counted from the beginning of the navigation.
    let note = "new MutationObserver(() => { const line = document.getElementById('verdict'); \
                if (line && line.className === 'well' && !window.firstData) window.firstData = performance.now(); }) \
                .observe(document, {subtree: true, childList: true, attributes: true, characterData: true})";
    browser.call("Page.addScriptToEvaluateOnNewDocument", &json!({"source": note}));
    browser.call("Page.navigate", &json!({"url": format!("http://127.0.0.1:{}/", platform.port)}));
    browser.until("a token is asked for", "!(document.getElementById('sign')?.hidden ?? true)");
    let axe = axe();
    let look = |browser: &mut Browser, what: &str| {
        let Some(axe) = &axe else { return };
        browser.run(axe);
        let found = browser.wait(
            "axe.run().then(found => found.violations.map(one => ({impact: one.impact, id: one.id, help: one.help, \
             nodes: one.nodes.map(node => node.html).slice(0, 5)})))",
        );
        let found = found.as_array().unwrap_or_else(|| panic!("axe does not run: {found}"));
        println!("{what}: {} findings of axe-core", found.len());
        let serious: Vec<&Value> = found
            .iter()
            .filter(|one| ["serious", "critical"].contains(&one["impact"].as_str().unwrap_or_default()))
            .collect();
        assert!(serious.is_empty(), "{what}: {serious:#?}");
    };
    look(&mut browser, "signing in");
    let enter = format!(
        "document.getElementById('token').value = '{token}'; document.getElementById('sign').requestSubmit(); true"
    );
    browser.run(&enter);
    browser.until("green", "document.getElementById('verdict').className === 'well'");
    browser.call("Page.reload", &json!({}));
    browser.until(
        "the first data",
        "window.firstData > 0 && document.getElementById('verdict').className === 'well'",
    );
    println!("first data {} ms after the navigation began", browser.run("Math.round(window.firstData)"));
    browser.until("the orders at work", "document.getElementById('working').innerText.includes('gateway')");
    look(&mut browser, "light");
    browser.call(
        "Emulation.setEmulatedMedia",
        &json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    look(&mut browser, "dark");
    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true});
    browser.call("Emulation.setDeviceMetricsOverride", &phone);
    look(&mut browser, "a phone");
    // What is old has to be read too.
    platform.kill("master");
    platform.kill("gateway");
    browser.until("red without a gateway", "document.getElementById('verdict').className === 'bad'");
    browser.until("figures that are old", "document.querySelectorAll('.stale').length > 5");
    look(&mut browser, "nobody answers");
}
