//! Clients that nobody here wrote: wrk, ab, Schemathesis, Autobahn's suite. `.ci/gateway` installs them, and runs them for longer.

mod support;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{order, platform};

/// Where `.ci/gateway` puts what is no package of the system.
fn tools() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/gateway-tools");
    std::env::var_os("COLO_GATEWAY_TOOLS").map_or_else(beside, PathBuf::from)
}

/// How much: what is quick, unless the variable says more.
fn amount(variable: &str, quick: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(quick)
}

/// What a program of the system says; `None`, with the reason printed: it is not there.
fn run(program: &Path, arguments: &[&str], package: &str) -> Option<Output> {
    match Command::new(program).args(arguments).stdin(Stdio::null()).output() {
        Ok(output) => Some(output),
        Err(_) => {
            println!("skipped: there is no {}; `.ci/gateway` installs {package}", program.display());
            None
        }
    }
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn wrk_over_360_connections_has_good_answers_only() {
    let Some(platform) = platform("wrk", "") else { return };
    let address = format!("http://127.0.0.1:{}/health", platform.port);
    let span = format!("{}s", amount("COLO_WRK_SECONDS", 2));
    let wrk = ["-c360", "-t1", "-d", &span, "--timeout", "20s", &address];
    let Some(output) = run(Path::new("wrk"), &wrk, "it (Debian: wrk)") else { return };
    let said = text(&output);
    println!("{said}");
    assert!(output.status.success() && said.contains("Requests/sec"), "{said}");
    assert!(!said.contains("Non-2xx") && !said.contains("Socket errors"), "{said}");
}

#[test]
fn ab_with_1000_kept_connections_fails_nothing() {
    let Some(platform) = platform("ab", "") else { return };
    let address = format!("http://127.0.0.1:{}/health", platform.port);
    let count = amount("COLO_AB_REQUESTS", 50_000).to_string();
    let ab = ["-q", "-k", "-c", "1000", "-n", &count, &address];
    let Some(output) = run(Path::new("ab"), &ab, "it (Debian: apache2-utils)") else { return };
    let said = text(&output);
    println!("{said}");
    let line =
        |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned());
    assert_eq!(line("Complete requests:"), Some(count), "{said}");
    assert_eq!(line("Failed requests:").as_deref(), Some("0"), "{said}");
    assert_eq!(line("Non-2xx responses:"), None, "{said}");
}

#[test]
fn schemathesis_finds_no_failure_of_the_server_and_no_way_around_tokens() {
    let program = tools().join("schemathesis/bin/schemathesis");
    if !program.exists() {
        println!("skipped: there is no Schemathesis; `.ci/gateway` installs it (PyPI: schemathesis)");
        return;
    }
    let Some(platform) = platform("schema", "answer = \"5s\"") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 1, "99"));
    let header = format!("Authorization: Bearer {token}");
    let examples = amount("COLO_SCHEMATHESIS_EXAMPLES", 15).to_string();
    let address = format!("http://127.0.0.1:{}/openapi.json", platform.port);
    let arguments = [
        "run",
        &address,
        "--header",
        &header,
        "--checks",
        "not_a_server_error,ignored_auth,content_type_conformance,response_schema_conformance",
        "--max-examples",
        &examples,
        "--exclude-path",
        "/v1/ws",
        "--seed",
        "20",
        "--no-color",
        "--workers",
        "1",
    ];
    let Some(output) = run(&program, &arguments, "it (PyPI: schemathesis)") else { return };
    let said = text(&output);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{}", platform.log("gateway"));
}

/// Cases of which nothing but the outcome is explained; none so far.
const EXPLAINED: &[&str] = &[];

#[test]
fn the_autobahn_suite_s_sections_one_to_seven_hold() {
    let program = tools().join("autobahn/wstest");
    if !program.exists() {
        println!(
            "skipped: there is no wstest; `.ci/gateway` installs it (PyPI: autobahntestsuite, Python 2.7)"
        );
        return;
    }
    // The suite wants its messages back: the gateway's own frames, and an echo in place of its channels.
    let mut server = Command::new(env!("CARGO_BIN_EXE_colo-gateway"))
        .args(["peer", "websocket"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let reports = folder.path().join("reports");
    let spec = serde_json::json!({
        "outdir": reports,
        "servers": [{"agent": "colo", "url": format!("ws://127.0.0.1:{}", port.trim()), "options": {"version": 18}}],
        "cases": ["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*"],
        "exclude-cases": [],
        "exclude-agent-cases": {},
    });
    let file = folder.path().join("spec.json");
    std::fs::write(&file, spec.to_string()).unwrap();
    let output = Command::new(&program)
        .args(["-m", "fuzzingclient", "-s"])
        .arg(&file)
        .current_dir(folder.path())
        .output()
        .unwrap();
    // It ends when nobody asks any more.
    drop(server.stdin.take());
    let _ = server.wait();
    let index =
        std::fs::read_to_string(reports.join("index.json")).unwrap_or_else(|_| panic!("{}", text(&output)));
    let index: Value = serde_json::from_str(&index).unwrap();
    let cases = index["colo"].as_object().unwrap();
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    let mut bad = Vec::new();
    for (case, result) in cases {
        for part in ["behavior", "behaviorClose"] {
            let outcome = result[part].as_str().unwrap_or_default();
            *counts.entry(format!("{part} {outcome}")).or_default() += 1;
            let is_good = matches!(outcome, "OK" | "NON-STRICT" | "INFORMATIONAL");
            if !is_good && !EXPLAINED.contains(&case.as_str()) {
                bad.push(format!("{case}: {part} {outcome}"));
            }
        }
    }
    println!("{} cases: {counts:?}", cases.len());
    assert!(cases.len() > 200, "{} cases", cases.len());
    assert!(bad.is_empty(), "{bad:#?}");
}
