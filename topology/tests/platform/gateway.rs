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

#[test]
fn a_ring_too_small_for_the_gateways_working_orders_is_warned_of() {
    let of = |sets: &[&str]| {
        let parsed = parse("[md]\n[gateway]\nlisten = '127.0.0.1:1'\n[strategies]\ncount = 1\n", sets);
        let ring = parsed.topology.journal("orders.gateway").expect("a ring");
        (ring.capacity_bytes >> 20, parsed.warnings.to_string())
    };
    for (sets, mib, has_room) in [
        (&[][..], 16, true),
        (&["gateway.limits.max_working_orders=0"], 16, true),
        (&["gateway.limits.max_working_orders=16384"], 16, true),
        (&["gateway.limits.max_working_orders=16385"], 32, true),
        (&["td.max_working_orders=65536"], 64, true),
        (&["td.max_working_orders=65537"], 64, false),
        (&["td.max_working_orders=65537", "gateway.limits.max_working_orders=10"], 16, true),
        (&["journal.orders.capacity=1MiB", "gateway.limits.max_working_orders=1024"], 1, true),
        (&["journal.orders.capacity=1MiB", "gateway.limits.max_working_orders=1025"], 1, false),
        (&["journal.capacity=64KiB"], 0, false),
    ] {
        let (capacity, warnings) = of(sets);
        assert_eq!(capacity, mib, "{sets:?}");
        assert_eq!(!warnings.contains("have room in `orders.gateway`"), has_room, "{sets:?}: {warnings}");
    }
}
