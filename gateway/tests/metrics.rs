//! `/metrics`: what alerts and dashboard name is there, how many series there are depends on nobody outside, and Prometheus itself
//! reads it.

mod support;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{Platform, WATCHDOG, order, platform};

/// A recorder beside the usual platform, so that what is durable has metrics too.
const RECORDED: &str = "[[recorder]]\npath = \"recorded\"\njournals = [\"orders.gateway\", \"td.orders\"]\n";
const TEXT: &str = "text/plain";

fn configs(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs").join(path)
}

/// Head and body of the metrics in a form.
fn scrape(platform: &Platform, token: &str, accept: &str) -> (String, Vec<u8>) {
    let mut stream = platform.connect().unwrap();
    let request = format!(
        "GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\naccept: {accept}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    (head, bytes[end + 4..].to_vec())
}

fn text(platform: &Platform, token: &str) -> String {
    String::from_utf8(scrape(platform, token, TEXT).1).unwrap()
}

/// Name and labels of each line.
fn series(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned())).collect()
}

fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    line.parse().ok()
}

/// Once a scrape says so.
fn until(platform: &Platform, token: &str, what: &str, is_it: impl Fn(&str) -> bool) -> String {
    let end = Instant::now() + WATCHDOG;
    loop {
        let text = text(platform, token);
        if is_it(&text) {
            return text;
        }
        assert!(Instant::now() < end, "{what} is not so:\n{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Every word of a text that begins as a metric of ours does.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("colo_")).collect()
}

#[test]
fn every_metric_of_alerts_and_dashboard_is_printed_and_no_client_makes_a_series() {
    let Some(platform) = platform("metrics", RECORDED) else { return };
    let token = platform.token(&["prometheus", "--role", "viewer"]);
    let trader = platform.token(&["t", "--role", "trader"]);
    assert_eq!(platform.ask(&trader, "POST", "/v1/orders", &order("a", "buy", 1, "95")).status, 201);
    assert_eq!(platform.ask(&trader, "POST", "/v1/orders", &order("b", "buy", 1, "100000")).status, 422);
    let before = until(&platform, &token, "what was counted", |text| {
        value(text, "colo_orders_total") == Some(2.0)
            && value(text, "colo_order_refusals_total") == Some(1.0)
            && text.contains("colo_journal_not_durable_bytes{")
    });
    let up = r#"colo_node_up{node="md",kind="md"}"#;
    assert_eq!(value(&before, up), Some(1.0), "{before}");
    let requests = r#"colo_gateway_requests_total{route="orders",status="4xx"}"#;
    assert_eq!(value(&before, requests), Some(1.0), "{before}");

    let printed: BTreeSet<String> =
        series(&before).iter().filter_map(|series| Some(series.split('{').next()?.to_owned())).collect();
    for file in ["prometheus/alerts.yml", "grafana/colo.json"] {
        let words = std::fs::read_to_string(configs(file)).unwrap();
        let names = named(&words);
        assert!(names.len() > 10, "{file}");
        for name in names {
            assert!(printed.contains(name), "{file} names {name}, which is not printed");
        }
    }

    // Other clients, accounts, instruments and routes; nothing of it has a series of its own.
    let sockets: Vec<_> = (0..5).map(|_| platform.socket(&trader)).collect();
    for number in 0..20 {
        let other = platform.token(&[&format!("c{number}")]);
        let path = format!("/v1/quotes/NOTHING{number}");
        assert_eq!(platform.ask(&other, "GET", &path, "").status, 404);
        platform.ask(&trader, "POST", "/v1/orders", &order(&format!("m{number}"), "buy", 1, "95"));
    }
    let after = until(&platform, &token, "five WebSockets", |text| {
        value(text, "colo_gateway_websockets") == Some(5.0)
    });
    assert_eq!(series(&before), series(&after));
    drop(sockets);

    let scoped = platform.token(&["s", "--accounts", "9"]);
    assert_eq!(platform.ask(&scoped, "GET", "/metrics", "").status, 403);
    assert_eq!(platform.ask("", "GET", "/metrics", "").status, 401);
}

#[test]
fn a_push_queue_counts_every_message_also_of_clients_that_have_gone() {
    let Some(platform) = platform("pushed", "") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    let mut socket = platform.socket(&token);
    socket.say(r#"{"subscribe":[{"channel":"orders"}],"id":1}"#);
    socket.until("the answer", |message| message["id"] == 1);
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 1, "95")).status, 201);
    socket.until("the order", |message| message["data"]["client_order_id"] == "a");
    drop(socket);
    let sum = |text: &str, name: &str| value(text, &format!("colo_gateway_push_{name}")).unwrap_or(-1.0);
    until(&platform, &token, "all that was published", |text| {
        let [published, delivered] = ["published_total", "delivered_total"].map(|name| sum(text, name));
        let rest = ["conflated_total", "dropped_total", "queued"].map(|name| sum(text, name));
        published >= 1.0
            && delivered >= 1.0
            && published == delivered + rest.iter().sum::<f64>()
            && value(text, "colo_gateway_websockets") == Some(0.0)
    });
}

#[test]
fn each_form_is_told_apart_and_promtool_finds_nothing_wrong() {
    let Some(platform) = platform("forms", RECORDED) else { return };
    let token = platform.token(&["prometheus"]);
    let (head, open) = scrape(&platform, &token, "application/openmetrics-text;version=1.0.0");
    assert!(head.contains("application/openmetrics-text") && open.ends_with(b"# EOF\n"), "{head}");
    let protobuf =
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
    let (head, bytes) = scrape(&platform, &token, protobuf);
    assert!(head.contains("application/vnd.google.protobuf"), "{head}");
    let name = b"colo_gateway_request_duration_seconds";
    assert!(bytes.windows(name.len()).any(|window| window == name));
    let (head, text) = scrape(&platform, &token, "*/*");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");

    let Some(promtool) = tool("promtool") else { return };
    let rules =
        Command::new(&promtool).args(["check", "rules"]).arg(configs("prometheus/alerts.yml")).output();
    let rules = rules.unwrap();
    assert!(rules.status.success(), "{}", String::from_utf8_lossy(&rules.stderr));
    let mut check = Command::new(&promtool)
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    check.stdin.take().unwrap().write_all(&text).unwrap();
    let said = check.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && words.trim().is_empty(), "{words}");
}

/// In PATH, or skipped with a word.
fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.exists());
    if found.is_none() {
        println!("not tried with {name}: it is not installed (Debian: apt install prometheus)");
    }
    found
}

/// Ended with the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn prometheus_itself_scrapes_native_histograms() {
    let Some(prometheus) = tool("prometheus") else { return };
    let Some(platform) = platform("scraped", "") else { return };
    let token = platform.token(&["prometheus"]);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    std::fs::write(platform.path("prometheus.token"), &token).unwrap();
    let config = format!(
        "global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}\nscrape_configs:\n  - job_name: colo\n    authorization:\n      \
         credentials_file: prometheus.token\n    static_configs:\n      - targets: ['127.0.0.1:{}']\n",
        platform.port
    );
    std::fs::write(platform.path("prometheus.yml"), config).unwrap();
    let child = Command::new(prometheus)
        .arg(format!("--config.file={}", platform.path("prometheus.yml").display()))
        .arg(format!("--storage.tsdb.path={}", platform.path("tsdb").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .arg("--enable-feature=native-histograms")
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(platform.path("prometheus.log")).unwrap())
        .spawn()
        .unwrap();
    let _running = Running(child);
    let ask = |query: &str| -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(WATCHDOG))?;
        write!(stream, "GET /api/v1/query?query={query} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    let end = Instant::now() + WATCHDOG;
    // `histogram_count` knows native histograms alone. The scrapes are requests too: there is something to count.
    for query in
        ["colo_node_up", "histogram_count(colo_gateway_request_duration_seconds%7Broute%3D%22metrics%22%7D)"]
    {
        loop {
            let said = ask(query).unwrap_or_default();
            if said.contains("\"metric\"") {
                break;
            }
            let log = std::fs::read_to_string(platform.path("prometheus.log")).unwrap_or_default();
            assert!(Instant::now() < end, "{query}: {said}\n{log}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
