//! Aeron over IPC: the C client and the C media driver, through the rusteron crates.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::time::{Duration, Instant};

use rusteron_client::{
    Aeron as Client, AeronContext, AeronExclusivePublication, AeronOfferError, AeronSubscription, Handlers,
    IntoCString as _,
};

use super::helper::Helper;
use crate::error::{CompareError, refused};
use crate::rival::{Can, Facts, Link, Receiver, Rival, Room, Sender};

const NAME: &str = "aeron";
/// Time limit for Aeron's set-up.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest sleep of its default backoff.
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// Aeron IPC, with the whole media driver in one thread, or with its agents in threads of their own.
pub(crate) struct Aeron<const DEDICATED: bool>;

/// How a media driver runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mode {
    /// Each of its agents has a thread; otherwise they share one.
    dedicated: bool,
    /// Its threads nap while idle; otherwise they spin.
    naps: bool,
}

/// All modes, by the names of their helpers.
const MODES: [(&str, Mode); 4] = [
    ("aeron-shared-spins", Mode { dedicated: false, naps: false }),
    ("aeron-shared-naps", Mode { dedicated: false, naps: true }),
    ("aeron-dedicated-spins", Mode { dedicated: true, naps: false }),
    ("aeron-dedicated-naps", Mode { dedicated: true, naps: true }),
];

/// The media driver for a helper's name.
pub(super) fn mode(helper: &str) -> Option<Mode> {
    MODES.into_iter().find(|(name, _)| *name == helper).map(|(_, mode)| mode)
}

fn directory(room: &Path) -> CString {
    room.join("aeron").display().to_string().as_str().into_c_string()
}

/// The media driver.
pub(super) fn drive(room: &Path, Mode { dedicated, naps }: Mode) -> Result<(), CompareError> {
    use rusteron_media_driver::bindings::aeron_threading_mode_enum as mode;
    use rusteron_media_driver::{AeronDriver, AeronDriverContext};
    crate::place::follow_parent()?;
    let failed = |error: rusteron_media_driver::AeronCError| refused(NAME, "run the media driver")(error);
    let context = AeronDriverContext::new().map_err(failed)?;
    context.set_dir(&directory(room)).map_err(failed)?;
    context.set_dir_delete_on_start(true).map_err(failed)?;
    context.set_term_buffer_sparse_file(false).map_err(failed)?;
    let threading =
        if dedicated { mode::AERON_THREADING_MODE_DEDICATED } else { mode::AERON_THREADING_MODE_SHARED };
    context.set_threading_mode(threading).map_err(failed)?;
    let idle = if naps { c"backoff" } else { c"noop" };
    context.set_shared_idle_strategy(idle).map_err(failed)?;
    context.set_conductor_idle_strategy(idle).map_err(failed)?;
    context.set_sender_idle_strategy(idle).map_err(failed)?;
    context.set_receiver_idle_strategy(idle).map_err(failed)?;
    let driver = AeronDriver::new(&context).map_err(failed)?;
    driver.start(true).map_err(failed)?;
    loop {
        let work = driver.main_do_work().map_err(failed)?;
        driver.main_idle_strategy(work);
    }
}

/// One client per process.
fn client(room: Room<'_>) -> Result<Client, CompareError> {
    thread_local!(static CLIENT: RefCell<Option<Client>> = const { RefCell::new(None) });
    CLIENT.with_borrow_mut(|client| {
        if let Some(client) = client {
            return Ok(client.clone());
        }
        let begin = Instant::now();
        loop {
            match connect(room) {
                Ok(new) => return Ok(client.insert(new).clone()),
                Err(error) if begin.elapsed() > PATIENCE => return Err(refused(NAME, "connect")(error)),
                // The media driver is still setting itself up.
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    })
}

fn connect(room: Room<'_>) -> Result<Client, rusteron_client::AeronCError> {
    let context = AeronContext::new()?;
    context.set_dir(&directory(room.directory))?;
    context.set_pre_touch_mapped_memory(true)?;
    let client = Client::new(&context)?;
    client.start()?;
    Ok(client)
}

impl<const N: usize, const DEDICATED: bool> Rival<N> for Aeron<DEDICATED> {
    type Hub = Option<Helper>;
    type Sender = Writing;
    type Receiver = Reading;

    fn facts() -> Facts {
        Facts {
            name: if DEDICATED { "aeron-dedicated" } else { NAME },
            version: "Aeron 1.54.0 (C client and media driver, through rusteron 0.2.16)".to_owned(),
            settings: if DEDICATED {
                &[
                    "as aeron, the media driver with dedicated threads that busy-spin (on four cores they compete with the peers)",
                ]
            } else {
                &[
                    "aeron:ipc, terms of 16 MiB, not sparse; client pre-touches; exclusive publication, try_claim; poll",
                    "C media driver in a process of its own, one shared thread that busy-spins",
                    "a dead client goes after 10 s, as by default: longer than a quick run waits",
                    "asleep: nothing wakes its readers; they and the driver back off as Aeron's do by default (10 spins, 20 yields, naps from 1 µs doubling to 1 ms)",
                    "80 sleepers: a stream for each reader, terms of 64 KiB, so nobody gets what they do not want",
                ]
            },
            in_process: false,
            floor: false,
            naps: true,
            can: Can::ALL,
        }
    }

    fn create(room: Room<'_>, links: &[Link]) -> Result<Option<Helper>, CompareError> {
        let naps = links.iter().any(|link| link.asleep);
        let wanted = |mode: Mode| mode.dedicated == DEDICATED && mode.naps == naps;
        let helper = MODES.into_iter().find(|(_, mode)| wanted(*mode));
        helper.map(|(name, _)| Helper::start(name, room.directory)).transpose()
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<Option<Helper>, CompareError> {
        Ok(None)
    }

    fn receiver(
        _hub: &Option<Helper>,
        room: Room<'_>,
        link: Link,
        reader: usize,
    ) -> Result<Reading, CompareError> {
        let subscription = client(room)?
            .async_add_subscription(channel(link), stream(link, reader), Handlers::NONE, Handlers::NONE)
            .and_then(|adding| adding.poll_blocking(PATIENCE))
            .map_err(refused(NAME, "subscribe"))?;
        Ok(Reading { subscription, idle: 0 })
    }

    fn sender(_hub: &Option<Helper>, room: Room<'_>, link: Link) -> Result<Writing, CompareError> {
        let streams = if link.routed { link.readers } else { 1 };
        let publications = (0..streams).map(|reader| publish(room, link, reader));
        Ok(Writing { publications: publications.collect::<Result<_, _>>()? })
    }
}

fn publish(room: Room<'_>, link: Link, reader: usize) -> Result<AeronExclusivePublication, CompareError> {
    let publication = client(room)?
        .async_add_exclusive_publication(channel(link), stream(link, reader))
        .and_then(|adding| adding.poll_blocking(PATIENCE))
        .map_err(refused(NAME, "publish"))?;
    let begin = Instant::now();
    while !publication.is_connected() {
        if begin.elapsed() > PATIENCE {
            return Err(refused(NAME, "publish")("no subscriber came"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(publication)
}

fn channel(link: Link) -> &'static CStr {
    if link.routed { c"aeron:ipc?term-length=64k" } else { c"aeron:ipc?term-length=16m" }
}

/// Routed links have a stream for each reader.
fn stream(link: Link, reader: usize) -> i32 {
    1001 + 1000 * link.number as i32 + if link.routed { reader as i32 } else { 0 }
}

/// The writing end.
pub(crate) struct Writing {
    /// One, or one for each reader.
    publications: Vec<AeronExclusivePublication>,
}

impl<const N: usize> Sender<N> for Writing {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        self.send_to(0, message)
    }

    #[inline]
    fn send_to(&mut self, reader: usize, message: &[u8; N]) -> Result<bool, CompareError> {
        match self.publications[reader].try_claim_owned(N) {
            Ok(mut claim) => {
                claim.data().copy_from_slice(message);
                claim.commit().map_err(refused(NAME, "commit"))?;
                Ok(true)
            }
            Err(
                AeronOfferError::BackPressured | AeronOfferError::AdminAction | AeronOfferError::NotConnected,
            ) => Ok(false),
            Err(error) => Err(refused(NAME, "claim")(error)),
        }
    }
}

/// A reading end.
pub(crate) struct Reading {
    subscription: AeronSubscription,
    /// Waits since the last message.
    idle: u32,
}

impl<const N: usize> Receiver<N> for Reading {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let take = |buffer: &[u8], _| buffer.first_chunk().map(&mut *each).unwrap_or(());
        let handed = self.subscription.poll_fn(take, most).map_err(refused(NAME, "poll"))?;
        let handed = handed.max(0) as usize;
        if handed > 0 {
            self.idle = 0;
        }
        Ok(handed)
    }

    fn settle(&mut self) -> Result<(), CompareError> {
        let begin = Instant::now();
        while self.subscription.image_count().map_err(refused(NAME, "count images"))? < 1 {
            if begin.elapsed() > PATIENCE {
                return Err(refused(NAME, "connect")("no publication came"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Aeron's backoff, with its defaults.
    fn wait(&mut self, _timeout: Duration) -> Result<(), CompareError> {
        match self.idle {
            ..10 => std::hint::spin_loop(),
            10..30 => std::thread::yield_now(),
            naps => std::thread::sleep(Duration::from_micros(1 << (naps - 30).min(10)).min(LONGEST_NAP)),
        }
        self.idle = self.idle.saturating_add(1);
        Ok(())
    }
}
