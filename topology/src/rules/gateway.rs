//! The gateway: what it listens on, and for whom it trades.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use settings::ByteSize;
use wire::KeptOrder;

use super::Rules;
use super::room::{self, PART};
use super::state::frame;
use crate::config::{MarketData, PlatformConfig};

/// Bytes of the least and the largest ring that is made without being asked for. What clients called their orders is looked up
/// there after a restart.
const LEAST: u64 = 16 << 20;
const MOST: u64 = 64 << 20;

/// Bytes of the ring in which so many orders may work.
fn ring_for(orders: u64) -> u64 {
    (orders * frame::<KeptOrder>() * PART).next_power_of_two()
}

/// Bytes of `orders.gateway`, unless the file says otherwise.
pub(crate) fn own_capacity(config: &PlatformConfig) -> ByteSize {
    ByteSize(ring_for(room::of_gateway(config).unwrap_or(0)).clamp(LEAST, MOST))
}

/// Notes a ring in which fewer orders can work than the limit lets through.
fn orders_fit(rules: &mut Rules<'_>) {
    let journal = &rules.config.journal;
    let (path, capacity) = match (journal.orders.capacity, journal.ring.capacity) {
        (Some(capacity), _) => ("journal.orders.capacity", capacity),
        (None, Some(capacity)) => ("journal.capacity", capacity),
        (None, None) => ("gateway.limits.max_working_orders", own_capacity(rules.config)),
    };
    let Some(orders) = room::of_gateway(rules.config) else { return };
    let room = capacity.0 / PART / frame::<KeptOrder>();
    if orders <= room {
        return;
    }
    let message = format!(
        "{orders} orders may work for the gateway, and {room} have room in `orders.gateway`, a ring of {capacity}: \
         one beyond that is refused with `not-sent`"
    );
    let help = format!("set journal.orders.capacity = \"{}\", or a lower limit", ByteSize(ring_for(orders)));
    rules.warning(path, message, help);
}

pub(super) fn check(rules: &mut Rules<'_>) {
    let config = rules.config;
    let Some(gateway) = &config.gateway else { return };
    if config.is_in_lock_step() {
        rules.error(
            "platform.deterministic",
            "clients come when they like, and nothing is the same twice: a gateway has no place in lock-step",
            "leave [gateway] out, or set platform.deterministic = false",
        );
    }
    if gateway.data == MarketData::Flow {
        let message = "the gateway serves quotes and depth, not the flow of orders";
        rules.error("gateway.data", message, "set gateway.data = \"depth\" or \"best\"");
    }
    if gateway.listen.is_none() && gateway.unix.is_none() {
        rules.error("gateway", "it listens nowhere", "set gateway.listen or gateway.unix");
    }
    if let Some(listen) = &gateway.listen {
        match listen.parse::<SocketAddr>() {
            Err(_) => rules.error(
                "gateway.listen",
                format!("`{listen}` is no address and port"),
                "write listen = \"127.0.0.1:8080\"",
            ),
            Ok(address) if !address.ip().is_loopback() && gateway.tls.is_none() => rules.error(
                "gateway.listen",
                format!("{address} is reached from other hosts, and nothing would be encrypted"),
                "add tls = { cert = \"FILE\", key = \"FILE\" }, or listen on 127.0.0.1",
            ),
            Ok(_) => {}
        }
    }
    if let Some(fix) = &gateway.fix {
        match fix.listen.parse::<SocketAddr>() {
            Err(_) => rules.error(
                "gateway.fix.listen",
                format!("`{}` is no address and port", fix.listen),
                "write listen = \"127.0.0.1:9878\"",
            ),
            Ok(address) if !address.ip().is_loopback() && gateway.tls.is_none() => rules.error(
                "gateway.fix.listen",
                format!("{address} is reached from other hosts, and nothing would be encrypted"),
                "add gateway.tls, or listen on 127.0.0.1",
            ),
            Ok(_) => {}
        }
    }
    let is_name = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_name(&gateway.diff_exchange) {
        rules.error(
            "gateway.diff_exchange",
            format!("`{}` is no exchange", gateway.diff_exchange),
            "write letters and digits, as in diff_exchange = \"SHFE\"",
        );
    }
    orders_fit(rules);
    if !config.keeps_accounts() {
        if !gateway.accounts.is_own() {
            rules.error(
                "gateway.accounts",
                "the gateway trades for accounts, and there are none",
                "open them with [[accounts]], or name a file of them with desk.file",
            );
        }
        return;
    }
    if config.desk.file.is_none() {
        let listed: BTreeSet<u32> = config.accounts.iter().map(|account| account.number).collect();
        let unknown =
            gateway.accounts.listed().iter().find(|account| **account != 0 && !listed.contains(account));
        if let Some(account) = unknown {
            let message = format!("there is no account {account}");
            rules.error("gateway.accounts", message, "open it with [[accounts]]");
        }
    }
}
