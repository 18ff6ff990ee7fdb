//! `colo md send`.

use std::net::SocketAddrV4;

use md::source::itch;
use md::source::multicast::{Plan, Sender, session};
use node::{Exit, StopFlag};

use crate::args::MdSend;
use crate::failure::Failure;
use crate::output::{self, number};

pub(crate) fn send(arguments: &MdSend) -> Result<u8, Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, message);
    if !arguments.group.is_multicast() {
        let message =
            format!("--group {} is no multicast address: 224.0.0.0 to 239.255.255.255", arguments.group);
        return Err(usage(message));
    }
    for (name, share) in [("--loss", arguments.loss), ("--reorder", arguments.reorder)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(usage(format!("{name} {share} is no share: write 0 to 1, as in 0.01")));
        }
    }
    let name = arguments.session.clone().unwrap_or_else(|| itch::date_in_name(&arguments.file));
    let session = session(&name)
        .ok_or_else(|| usage(format!("--session `{name}`: expected one to ten plain characters")))?;
    let messages = itch::messages(&arguments.file).map_err(|error| usage(error.to_string()))?;
    let plan = Plan {
        group: SocketAddrV4::new(arguments.group, arguments.port),
        interface: arguments.interface,
        server: arguments.server,
        session,
        rate: arguments.rate,
        per_packet: usize::from(arguments.per_packet),
        loss: arguments.loss,
        reorder: arguments.reorder,
        seed: arguments.seed,
        withheld: None,
        linger: arguments.linger,
    };
    let failed = |error: std::io::Error| {
        let message = format!(
            "cannot send to {}:{} from {}, requests at {}: {error}",
            arguments.group, arguments.port, arguments.interface, arguments.server
        );
        Failure::new(Exit::Failed, message)
    };
    let stop = StopFlag::install()?;
    let sender = Sender::new(plan, messages).map_err(failed)?;
    talk!(
        "session {name} to {}:{}; requests are answered at {}",
        arguments.group,
        arguments.port,
        arguments.server
    );
    let sent = sender.run(|| stop.is_set()).map_err(failed)?;
    output::print(&format!(
        "{} messages in {} packets, {} of them lost on purpose, {} sent late; {} requests, {} messages sent again\n",
        number(sent.messages),
        number(sent.packets),
        number(sent.dropped),
        number(sent.reordered),
        number(sent.requests),
        number(sent.resent),
    ))?;
    Ok(if stop.is_set() { Exit::Failed } else { Exit::Done }.code())
}
