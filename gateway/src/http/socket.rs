//! Listeners, and streams of any kind.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use topology::config::TlsConfig;

/// Connections that wait to be accepted, at most.
const BACKLOG: i32 = 4_096;

/// A listener that has its address for itself.
pub(crate) fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    bound(address, false)
}

/// Listeners of as many threads, which have one address between them and share what comes.
pub(crate) fn listeners(address: SocketAddr, threads: u32) -> io::Result<Vec<std::net::TcpListener>> {
    // Who shares an address would share it with another gateway too: this one finds out whether it is free.
    let alone = listen(address)?;
    if threads == 1 {
        return Ok(vec![alone]);
    }
    let address = alone.local_addr()?;
    drop(alone);
    (0..threads).map(|_| bound(address, true)).collect()
}

fn bound(address: SocketAddr, is_shared: bool) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(is_shared)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// The system notices a peer that has vanished without a word, under each protocol: it asks the peer after this time without
/// traffic, and then so often and as many times.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_AGAIN: Duration = Duration::from_secs(5);
const KEEP_ALIVE_TIMES: u32 = 3;

/// Sets an accepted connection so.
pub(crate) fn keep_alive(stream: &TcpStream) {
    let keep_alive = TcpKeepalive::new()
        .with_time(KEEP_ALIVE)
        .with_interval(KEEP_ALIVE_AGAIN)
        .with_retries(KEEP_ALIVE_TIMES);
    if let Err(error) = SockRef::from(stream).set_tcp_keepalive(&keep_alive) {
        log::warn!("a connection has no TCP keepalive: {error}");
    }
}

/// The name of a local socket. It is dropped behind its listener, and removed then, unless another process listens there by now.
#[derive(Debug)]
pub(crate) struct SocketName(PathBuf);

impl Drop for SocketName {
    fn drop(&mut self) {
        if is_left(&self.0) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

/// Whether there is a socket to which nobody listens.
fn is_left(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.file_type().is_socket())
        && std::os::unix::net::UnixStream::connect(path).is_err()
}

/// A local socket that only this user may use. One that a dead gateway has left is replaced; anything else stays as it is, and is an
/// error.
pub(crate) fn listen_unix(path: &Path) -> io::Result<(std::os::unix::net::UnixListener, SocketName)> {
    match std::fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => {
            let what = "there is something that is no socket, and it is left as it is: name another path";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        Ok(_) if is_left(path) => std::fs::remove_file(path)?,
        Ok(_) | Err(_) => {}
    }
    let listener = std::os::unix::net::UnixListener::bind(path)?;
    let name = SocketName(path.to_owned());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((listener, name))
}

/// What TLS needs.
pub(crate) fn tls(config: &TlsConfig) -> Result<Arc<ServerConfig>, String> {
    let at = |file: &str, error: &dyn std::fmt::Display| format!("gateway.tls: `{file}`: {error}");
    let certificates = |file: &str| -> Result<Vec<CertificateDer<'static>>, String> {
        let read = CertificateDer::pem_file_iter(file).map_err(|error| at(file, &error))?;
        read.collect::<Result<_, _>>().map_err(|error| at(file, &error))
    };
    let key = PrivateKeyDer::from_pem_file(&config.key).map_err(|error| at(&config.key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match &config.client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(|error| at(file, &error))?;
            }
            // Who shows none may still see; who sends orders is looked at later.
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| at(file, &error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut made = builder
        .with_single_cert(certificates(&config.cert)?, key)
        .map_err(|error| at(&config.cert, &error))?;
    made.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(made))
}

/// A connection.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<tokio_rustls::server::TlsStream<TcpStream>>),
}

macro_rules! on_each {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream {
            Stream::Tcp($inner) => $call,
            Stream::Unix($inner) => $call,
            Stream::Tls($inner) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        on_each!(self.get_mut(), inner => Pin::new(inner).poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        on_each!(self.get_mut(), inner => Pin::new(inner).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        on_each!(self.get_mut(), inner => Pin::new(inner).poll_write_vectored(context, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        on_each!(self, inner => inner.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_each!(self.get_mut(), inner => Pin::new(inner).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_each!(self.get_mut(), inner => Pin::new(inner).poll_shutdown(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_without_a_listener_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "orders").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        for name in ["file", "folder", "link"] {
            let error = listen_unix(&at(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}: {error}");
        }
        assert_eq!(std::fs::read_to_string(at("link")).unwrap(), "orders");
        let first = listen_unix(&at("socket")).unwrap();
        assert_eq!(listen_unix(&at("socket")).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        // A gateway that was killed leaves its name.
        let (listener, name) = first;
        drop(listener);
        std::mem::forget(name);
        assert!(at("socket").exists());
        listen_unix(&at("socket")).unwrap();
    }

    #[test]
    fn a_name_goes_with_its_listener_and_not_with_that_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let (listener, name) = listen_unix(&path).unwrap();
        drop((listener, name));
        assert!(!path.exists());
        let (listener, name) = listen_unix(&path).unwrap();
        drop(listener);
        let (_other, _its_name) = listen_unix(&path).unwrap();
        drop(name);
        assert!(path.exists());
    }
}
