//! The sockets.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

/// Bytes that the kernel is asked to keep for a reader that is busy; it may give less.
const BUFFER: usize = 8 << 20;
/// Largest packet of UDP.
const LARGEST: usize = 65_536;

/// Where a group is heard, and who sends again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The group.
    pub group: SocketAddrV4,
    /// The interface's own address.
    pub interface: Ipv4Addr,
    /// Who sends again what was lost.
    pub server: Option<SocketAddrV4>,
}

fn udp() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    // What the kernel allows is enough for a start; what is lost is asked for again.
    let _ = socket.set_recv_buffer_size(BUFFER);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The reader's sockets.
#[derive(Debug)]
pub(super) struct Ears {
    group: UdpSocket,
    server: Option<UdpSocket>,
    buffer: Vec<u8>,
}

impl Ears {
    pub(super) fn open(place: &Place) -> io::Result<Ears> {
        let group = udp()?;
        // Many hear one group on one host.
        group.set_reuse_address(true)?;
        group.bind(&SocketAddr::V4(place.group).into())?;
        group.join_multicast_v4(place.group.ip(), &place.interface)?;
        let server = match place.server {
            Some(server) => {
                let socket = udp()?;
                let own = if server.ip().is_loopback() { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
                socket.bind(&SocketAddr::from((own, 0)).into())?;
                socket.connect(&SocketAddr::V4(server).into())?;
                Some(UdpSocket::from(socket))
            }
            None => None,
        };
        Ok(Ears { group: UdpSocket::from(group), server, buffer: vec![0; LARGEST] })
    }

    /// Hands over at most `most` packets that have come; how many.
    pub(super) fn listen(&mut self, most: usize, mut take: impl FnMut(&[u8])) -> io::Result<usize> {
        let mut taken = 0;
        for socket in std::iter::once(&self.group).chain(&self.server) {
            for _ in 0..most {
                match socket.recv(&mut self.buffer) {
                    Ok(length) => {
                        take(&self.buffer[..length]);
                        taken += 1;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // The server is not there: it is asked again, or what is missing is lost.
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(taken)
    }

    /// Asks the server.
    pub(super) fn ask(&self, request: &[u8]) {
        if let Some(server) = &self.server {
            // It may be away for a moment; the request is repeated.
            let _ = server.send(request);
        }
    }
}

/// The sender's sockets.
#[derive(Debug)]
pub(super) struct Mouth {
    group: UdpSocket,
    to: SocketAddrV4,
    server: UdpSocket,
}

impl Mouth {
    pub(super) fn open(group: SocketAddrV4, interface: Ipv4Addr, server: SocketAddrV4) -> io::Result<Mouth> {
        let mouth = udp()?;
        mouth.set_multicast_if_v4(&interface)?;
        mouth.set_multicast_loop_v4(true)?;
        // It stays on this network.
        mouth.set_multicast_ttl_v4(1)?;
        let own = udp()?;
        own.bind(&SocketAddr::V4(server).into())?;
        Ok(Mouth { group: UdpSocket::from(mouth), to: group, server: UdpSocket::from(own) })
    }

    pub(super) fn server(&self) -> io::Result<SocketAddr> {
        self.server.local_addr()
    }

    /// To the group. A full buffer is a lost packet, as on a real network.
    pub(super) fn say(&self, packet: &[u8]) -> io::Result<()> {
        match self.group.send_to(packet, self.to) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }

    /// A request, and from whom, if one has come.
    pub(super) fn asked(&self) -> Option<(Vec<u8>, SocketAddr)> {
        let mut buffer = [0; 64];
        let (length, from) = self.server.recv_from(&mut buffer).ok()?;
        Some((buffer[..length.min(buffer.len())].to_vec(), from))
    }

    /// To who asked.
    pub(super) fn answer(&self, packet: &[u8], to: SocketAddr) {
        // It asks again if this does not come.
        let _ = self.server.send_to(packet, to);
    }
}
