//! From HTTP to a WebSocket.

use hyper::Request;
use hyper::body::Incoming;

use super::Here;
use super::answer::Answered;
use super::auth::Peer;
use super::problem::{Kind, Problem};

pub(crate) fn upgrade(_here: &Here, _peer: &Peer, _request: Request<Incoming>) -> Answered {
    Err(Problem::new(Kind::Internal, "not yet"))
}
