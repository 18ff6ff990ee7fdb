//! The process: one core, and threads around it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::{Node, RunError};
use topology::GatewaySection;

use crate::core::Core;
use crate::core::ask::Door;
use crate::http::auth::{Guard, now_ms};
use crate::http::nonces::Nonces;
use crate::http::{Shared, document, start};
use crate::meter::Meter;
use crate::push::Mailbox;
use crate::{diff, fix, push};

/// Runs the gateway as this node until it is asked to stop.
///
/// # Errors
/// [`RunError`].
pub fn run(mut node: Node) -> Result<(), RunError> {
    let GatewaySection { config, keeps_accounts } = node.section()?;
    let handle = node.handle();
    let door = Door::new(handle.clone());
    // Later a damaged file leaves nobody in; now somebody looks.
    gateway_tokens::TokenFile::load(Path::new(&config.tokens))
        .map_err(|error| RunError::failed(error.to_string()))?;
    let path = node.instance().path().join("gateway.nonces");
    let nonces = Nonces::open(&path, now_ms())
        .map_err(|error| RunError::failed(format!("`{}`: {error}", path.display())))?;
    let tokens = PathBuf::from(&config.tokens);
    let guard = Arc::new(Guard::new(tokens, config.rate, config.order_rate, nonces));
    let kept = keeps_accounts.then(|| node.instance().clone());
    let meter = Arc::new(Meter::default());
    let diff = diff::door(&config, node.instance()).map_err(RunError::failed)?;
    let mailbox = || Mailbox::for_task().map_err(|error| RunError::failed(format!("no mailbox: {error}")));
    let diff_mailbox = diff.is_some().then(mailbox).transpose()?;
    let fix_mailbox = config.fix.is_some().then(mailbox).transpose()?;
    let sides = diff_mailbox.iter().chain(&fix_mailbox).cloned().collect();
    let (hub, pushers) =
        push::start(&config, &handle, &guard, kept, &meter, &door, sides).map_err(RunError::failed)?;
    let (diff, arriving) = diff.unzip();
    let mut core = Core::new(&mut node, hub, door.clone(), config.cancel_on_stop, Arc::clone(&meter))?;
    let ticks = (0..config.threads).map(|_| tokio::sync::Notify::new()).collect();
    let shared = Arc::new(Shared {
        seat: u16::try_from(node.assignment().seat).unwrap_or(u16::MAX),
        instance: node.instance().clone(),
        document: bytes::Bytes::from(document()),
        node: handle,
        guard: Arc::clone(&guard),
        permits: Arc::new(tokio::sync::Semaphore::new(config.connections as usize)),
        config,
        keeps_accounts,
        door,
        pushers: pushers.clone(),
        meter,
        watch: Arc::default(),
        diff,
        ticks,
    });
    let diff = diff_mailbox
        .zip(arriving)
        .map(|(mailbox, arriving)| diff::start(&shared, mailbox, arriving))
        .transpose()
        .map_err(RunError::failed)?;
    let fix = fix_mailbox
        .zip(shared.config.fix.as_ref())
        .map(|(mailbox, config)| fix::start(&shared, config, mailbox))
        .transpose()
        .map_err(RunError::failed)?;
    let watch = {
        let shared = Arc::clone(&shared);
        std::thread::Builder::new().name("clock".to_owned()).spawn(move || shared.watch())
    };
    let watch = watch.map_err(|error| RunError::failed(format!("no thread for the clock: {error}")))?;
    let server = start(&shared).map_err(RunError::failed)?;
    if let Some(address) = server.address {
        log::info!("listens on {address}");
    }
    let ended = node.run(&mut core);
    // An error ends the process; its threads need not be waited for.
    if ended.is_ok() {
        server.join();
        pushers.join();
        for side in diff.into_iter().chain(fix) {
            let _ = side.join();
        }
        let _ = watch.join();
    }
    ended
}
