//! Sessions over TLS.

use serde_json::json;

use crate::client::Client;
use crate::support::{certificates, platform};

#[test]
fn a_certificate_takes_the_place_of_a_password_for_its_own_session_only() {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path(), &["server", "desk", "other"]) {
        println!("skipped: there is no openssl, which makes the certificates");
        return;
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let at = |name: &str| folder.path().join(name);
    let more = format!(
        "fix = {{ listen = \"127.0.0.1:{port}\", sessions = \"fix.json\" }}\n\
         tls = {{ cert = {:?}, key = {:?}, client_ca = {:?} }}",
        at("server.pem"),
        at("server.key"),
        at("ca.pem")
    );
    let Some(platform) = platform("fix-tls", &more) else { return };
    let token = platform.token(&["fix", "--role", "trader"]);
    let certificate = |name: &str| CertificateDer::from_pem_file(at(name)).unwrap();
    let digest = ring::digest::digest(&ring::digest::SHA256, &certificate("desk.pem"));
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let session = json!({"client": "DESK", "gateway": "COLO", "token": token.split('_').nth(1), "account": 9, "certificate": hex});
    std::fs::write(platform.path("fix.json"), json!({"sessions": [session]}).to_string()).unwrap();
    let client = |name: Option<&str>| {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate("ca.pem")).unwrap();
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match name {
            None => config.with_no_client_auth(),
            Some(name) => {
                let key = PrivateKeyDer::from_pem_file(at(&format!("{name}.key"))).unwrap();
                config.with_client_auth_cert(vec![certificate(&format!("{name}.pem"))], key).unwrap()
            }
        };
        let mut client = Client::new(port, &token);
        client.tls = Some(std::sync::Arc::new(config));
        client.connect();
        client
    };
    for name in [None, Some("other")] {
        let mut client = client(name);
        client.send("A", "98=0|108=30|");
        assert!(client.expect(&[(35, "5")]).get(58).contains("password"), "{name:?}");
    }
    let mut desk = client(Some("desk"));
    desk.send("A", "98=0|108=30|");
    desk.expect(&[(35, "A")]);
    desk.order("a", 1, 1, "95");
    desk.expect(&[(35, "8"), (150, "0"), (11, "a")]);
    drop(desk);
    // A password is good without one too.
    let mut client = client(None);
    (client.next_out, client.next_in) = (3, 3);
    client.send("A", &format!("98=0|108=30|554={token}|"));
    assert_eq!(client.read().unwrap().get(35), "A");
    assert!(!platform.log("gateway").contains("panicked"));
}
