//! The page's files, and what it is told: dead, stale and losing are seen, and what is mended is well again.

mod support;

use serde_json::Value;
use support::{order, platform};

const OVERVIEW: &str = "/v1/overview";

fn has(overview: &Value, kind: &str, who: &str) -> bool {
    let troubles = overview["troubles"].as_array().map(Vec::as_slice).unwrap_or_default();
    troubles
        .iter()
        .any(|one| one["kind"] == kind && one["who"].as_str().is_some_and(|name| name.contains(who)))
}

#[test]
fn the_page_is_there_without_a_token_and_nothing_that_it_shows_is() {
    let Some(platform) = platform("page", "") else { return };
    let page = platform.ask("", "GET", "/", "");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-security-policy: default-src 'self'"), "{}", page.head);
    let html = page.body.as_str().unwrap().to_owned();
    // Whatever it names is there, and what that names in turn.
    let mut names: Vec<String> =
        html.split('"').filter(|text| text.starts_with("/page/")).map(str::to_owned).collect();
    assert!(names.len() >= 4, "{names:?}");
    let mut seen = 0;
    while let Some(name) = names.pop() {
        let answer = platform.ask("", "GET", &name, "");
        assert_eq!(answer.status, 200, "{name}");
        seen += 1;
        assert!(seen < 50);
        let script = answer.body.as_str().unwrap_or_default();
        let imports = script.lines().filter(|line| line.starts_with("import "));
        names.extend(
            imports
                .filter_map(|line| Some(format!("/page/{}", line.split("'./").nth(1)?.split('\'').next()?))),
        );
    }
    assert_eq!(platform.ask("", "GET", "/page/nothing.js", "").status, 404);
    assert_eq!(platform.ask("", "POST", "/", "").status, 405);
    // A slash within a part is no border between two.
    assert_eq!(platform.ask("", "GET", "/v1%2Foverview", "").status, 404);
    assert_eq!(platform.ask("", "GET", OVERVIEW, "").status, 401);
    let scoped = platform.token(&["s", "--accounts", "9"]);
    assert_eq!(platform.ask(&scoped, "GET", OVERVIEW, "").status, 403);
}

#[test]
fn who_dies_is_named_a_fallen_switch_too_and_what_comes_back_is_well() {
    let Some(platform) = platform("well", "") else { return };
    let token = platform.token(&["t", "--role", "admin"]);
    let well = platform.until(&token, OVERVIEW, |body| body["is_well"] == true);
    assert_eq!(well["holdings"]["source"], "accounts", "{well}");
    assert_eq!(platform.ask(&token, "POST", "/v1/orders", &order("a", "buy", 3, "95")).status, 201);
    let working = platform.until(&token, OVERVIEW, |body| body["holdings"]["working"][0]["buys"] == 1);
    let row = &working["holdings"]["working"][0];
    assert_eq!((&row["strategy"], &row["account"]), (&Value::from("gateway"), &Value::from(9)), "{working}");

    let why = r#"{"account":9,"why":"a test"}"#;
    assert_eq!(platform.ask(&token, "POST", "/v1/kill", why).status, 200);
    let killed = platform.until(&token, OVERVIEW, |body| has(body, "killed", "account 9"));
    let kill = &killed["holdings"]["kills"][0];
    assert_eq!(
        (&kill["why"], &kill["reason"]),
        (&Value::from("asked for"), &Value::from("a test")),
        "{kill}"
    );
    assert_eq!(platform.ask(&token, "POST", "/v1/revive", why).status, 200);
    platform.until(&token, OVERVIEW, |body| body["is_well"] == true);

    // td is started again; md is not.
    platform.kill("td");
    platform.until(&token, OVERVIEW, |body| {
        let td = body["nodes"].as_array().unwrap().iter().find(|node| node["node"] == "td").unwrap().clone();
        td["starts"] == 2 && body["is_well"] == true
    });
    platform.kill("md");
    let dead = platform.until(&token, OVERVIEW, |body| has(body, "dead", "md"));
    assert_eq!(dead["is_well"], false);
}

#[test]
fn a_master_that_is_gone_is_said_and_one_that_takes_over_is_well() {
    let Some(platform) = platform("master", "") else { return };
    let token = platform.token(&["t"]);
    platform.until(&token, OVERVIEW, |body| body["is_well"] == true);
    platform.kill("master");
    platform.until(&token, OVERVIEW, |body| has(body, "dead", "master") && body["master"] == false);
    let up = platform.colo(&["up", "g.toml", "--stay"]);
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    platform.until(&token, OVERVIEW, |body| body["is_well"] == true && body["master"] == true);
}

#[test]
fn an_orders_way_is_told_hop_by_hop_to_who_may_see_the_order() {
    let Some(platform) = platform("way", "") else { return };
    let admin = platform.token(&["t", "--role", "admin"]);
    let made = platform.ask(&admin, "POST", "/v1/orders", &order("a", "buy", 3, "95"));
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.body["order_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/orders/{id}/trace");
    let is_reported = |body: &Value| {
        let hops = body["hops"].as_array().map(Vec::as_slice).unwrap_or_default();
        hops.iter().any(|hop| hop["hop"] == "reported" && hop["evidence"] == "frame")
    };
    let trace = platform.until(&admin, &path, is_reported);
    assert_eq!(
        (&trace["order_id"], &trace["strategy"], &trace["status"]),
        (&Value::from(id.as_str()), &"gateway".into(), &"accepted".into()),
        "{trace}"
    );
    let hops = trace["hops"].as_array().unwrap();
    // No quote has caused it.
    let steps: Vec<&str> = hops.iter().map(|hop| hop["hop"].as_str().unwrap()).collect();
    assert_eq!(steps, ["ordered", "other", "routed", "executed", "reported"], "{trace}");
    assert_eq!(hops[1]["message"], "ClientOrder", "the client, in the same batch: {trace}");
    let nodes: Vec<&str> = hops.iter().map(|hop| hop["node"].as_str().unwrap()).collect();
    assert_eq!(nodes, ["gateway", "gateway", "td", "matching", "td"]);
    let times: Vec<u64> = hops.iter().map(|hop| hop["time_ns"].as_u64().unwrap()).collect();
    let since: Vec<u64> = hops.iter().map(|hop| hop["since_start_ns"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times.iter().zip(&since).all(|(time, since)| time - times[0] == *since), "{trace}");
    // It is among the newest.
    let overview = platform.ask(&admin, "GET", OVERVIEW, "").body;
    assert_eq!(
        (&overview["recent"][0]["order_id"], &overview["recent"][0]["side"]),
        (&id.as_str().into(), &"buy".into())
    );

    // Its account's token sees it; that of another, and one that asks for what is not there, are answered alike.
    let own = platform.token(&["own", "--accounts", "9"]);
    assert_eq!(platform.ask(&own, "GET", &path, "").status, 200);
    let other = platform.token(&["other", "--accounts", "8"]);
    let refused = platform.ask(&other, "GET", &path, "");
    let nothing = platform.ask(&other, "GET", "/v1/orders/1-1-1/trace", "");
    assert_eq!((refused.status, &refused.body["detail"]), (404, &nothing.body["detail"]), "{refused:?}");
    assert_eq!(platform.ask("", "GET", &path, "").status, 401);
    assert_eq!(platform.ask(&admin, "GET", "/v1/orders/x/trace", "").status, 400);
    assert_eq!(platform.ask(&admin, "GET", "/v1/orders/1-1-1/trace", "").status, 404);
    assert_eq!(platform.ask(&admin, "POST", &path, "").status, 405);
}
