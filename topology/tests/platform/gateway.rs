//! What the gateway listens on, and which files it reads.

use super::parse;

fn said(gateway: &str) -> String {
    let text = format!("[md]\n[gateway]\n{gateway}\n[strategies]\ncount = 1\n");
    topology::parse("test.toml", &text, &[]).map_or_else(|wrong| wrong.to_string(), |_| "fine".to_owned())
}

#[test]
fn every_listener_is_this_host_s_or_encrypted() {
    let tls = "tls = { cert = \"c\", key = \"k\" }";
    let fix = |listen: &str| format!("fix = {{ listen = \"{listen}\" }}");
    for fine in
        [String::new(), "diff = true".to_owned(), fix("127.0.0.1:1"), format!("{}\n{tls}", fix("0.0.0.0:1"))]
    {
        assert_eq!(said(&fine), "fine", "{fine}");
    }
    for (wrong, key) in [
        ("listen = \"0.0.0.0:1\"".to_owned(), "gateway.listen"),
        (fix("0.0.0.0:1"), "gateway.fix.listen"),
        (fix("nowhere"), "gateway.fix.listen"),
        ("diff_exchange = \"A.B\"".to_owned(), "gateway.diff_exchange"),
        ("diff_exchange = \"\"".to_owned(), "gateway.diff_exchange"),
    ] {
        let said = said(&wrong);
        assert!(said.contains(key.rsplit('.').next().unwrap()) && said != "fine", "{wrong}: {said}");
    }
}

#[test]
fn the_sessions_of_fix_lie_beside_the_platform_file() {
    let text = "[md]\n[gateway]\nfix = {}\n[strategies]\ncount = 1\n";
    let gateway = parse(text, &[]).config.gateway.expect("a gateway");
    let fix = gateway.fix.expect("its table stands there");
    let folder = std::path::Path::new(&gateway.tokens).parent();
    assert_eq!(std::path::Path::new(&fix.sessions).parent(), folder);
    assert!(fix.sessions.ends_with("fix.json"), "{}", fix.sessions);
}
