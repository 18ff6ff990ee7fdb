//! The other processes.

use std::io::Read;

use super::parts::{Parts, pin};
use super::watch::Watch;
use super::{IpcError, Setup, fan_out, flow, ping, system};

/// Takes part as described by the text on `input`; returns when the measurement is over.
///
/// # Errors
/// [`IpcError`]; also when the measuring process has ended.
pub fn run_peer(mut input: impl Read) -> Result<(), IpcError> {
    let mut text = String::new();
    input.read_to_string(&mut text).map_err(system("read what to do"))?;
    let setup: Setup =
        serde_json::from_str(&text).map_err(|error| system("understand what to do")(error.into()))?;
    pin(setup.cpu)?;
    let parts = Parts::open(&setup.directory)?;
    let mut watch = Watch::of_peer(setup.parent);
    let seat = setup.peer as u32 + 1;
    if setup.peer == 0 {
        ping::answer(&setup.settings, &parts, seat, &mut watch)?;
    }
    flow::take_part(&setup.settings, &parts, (setup.peer, setup.peers), &mut watch)?;
    if setup.peer == 0 {
        fan_out::take_part(&parts, &mut watch)?;
    }
    Ok(())
}
