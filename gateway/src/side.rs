//! Threads of protocols whose clients ask, beside those that push: a runtime of their own, events from the core through a
//! mailbox, sockets of any kind.

use std::io;
use std::time::Duration;

use tokio::net::{TcpStream, UnixStream};

use wire::{Best, InstrumentId, Level, Message, Quote};

use crate::http::Stream;
use crate::push::{Event, Letters, Mailbox, Socket};

/// Between two looks at whatever rings no bell.
const LOOK: Duration = Duration::from_millis(50);

/// A mailbox, for a task.
pub(crate) struct Letterbox {
    mailbox: Mailbox,
    letters: Letters,
}

impl Letterbox {
    pub(crate) fn new(mailbox: Mailbox) -> Letterbox {
        Letterbox { mailbox, letters: Letters::default() }
    }

    /// What has come; waits a moment for it if there is nothing. `wakes` is called where the core has to bring the latest quotes.
    pub(crate) async fn next(&mut self, wakes: impl FnOnce()) -> &mut Letters {
        if self.mailbox.take(&mut self.letters, true) {
            wakes();
        }
        let letters = &self.letters;
        let is_empty = letters.events.is_empty()
            && letters.lost.is_empty()
            && letters.listed.is_empty()
            && letters.resolved.is_empty()
            && letters.read_back.is_none();
        if is_empty && !letters.is_closing {
            tokio::select! {
                () = self.mailbox.rung() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            self.mailbox.take(&mut self.letters, true);
        }
        &mut self.letters
    }
}

/// The quote of an event; where only the best is heard, the first level of what is known.
pub(crate) fn quoted(event: &Event, known: Option<Quote>) -> Option<Quote> {
    match event.message_id {
        Quote::ID => Quote::decode(&event.payload).ok(),
        Best::ID => Best::decode(&event.payload).ok().map(|best| {
            let mut quote = known.unwrap_or_else(|| Quote::empty(InstrumentId(event.key)));
            quote.bids[0] = best.best_bid().unwrap_or(Level::EMPTY);
            quote.asks[0] = best.best_ask().unwrap_or(Level::EMPTY);
            quote
        }),
        _ => None,
    }
}

/// A socket that another thread has had.
pub(crate) fn stream(socket: Socket) -> io::Result<Stream> {
    Ok(match socket {
        Socket::Tcp(stream) => Stream::Tcp(TcpStream::from_std(stream)?),
        Socket::Unix(stream) => Stream::Unix(UnixStream::from_std(stream)?),
    })
}

/// Runs a task on a thread and a runtime of its own.
pub(crate) fn thread<F: Future<Output = ()>>(
    name: &'static str,
    make: impl FnOnce() -> F + Send + 'static,
) -> Result<std::thread::JoinHandle<()>, String> {
    let run = move || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build();
        match runtime {
            Ok(runtime) => tokio::task::LocalSet::new().block_on(&runtime, make()),
            Err(error) => log::error!("no runtime for {name}: {error}"),
        }
    };
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    started.map_err(|error| format!("no thread for {name}: {error}"))
}
