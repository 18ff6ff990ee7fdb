//! Aeron over IPC: the C client and the C media driver, through the rusteron crates.

use std::cell::RefCell;
use std::ffi::CString;
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
/// How long Aeron may take to set something up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Aeron IPC, with all of the media driver in one thread, or with its agents in threads of their own.
pub(crate) struct Aeron<const DEDICATED: bool>;

/// Name of the helper.
pub(super) const fn helper(dedicated: bool) -> &'static str {
    if dedicated { "aeron-dedicated-driver" } else { "aeron-driver" }
}

fn directory(room: &Path) -> CString {
    room.join("aeron").display().to_string().as_str().into_c_string()
}

/// The media driver.
pub(super) fn drive(room: &Path, dedicated: bool) -> Result<(), CompareError> {
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
    context.set_shared_idle_strategy(c"noop").map_err(failed)?;
    context.set_conductor_idle_strategy(c"noop").map_err(failed)?;
    context.set_sender_idle_strategy(c"noop").map_err(failed)?;
    context.set_receiver_idle_strategy(c"noop").map_err(failed)?;
    let driver = AeronDriver::new(&context).map_err(failed)?;
    driver.start(true).map_err(failed)?;
    loop {
        let work = driver.main_do_work().map_err(failed)?;
        driver.main_idle_strategy(work);
    }
}

/// One client a process.
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
            version: "rusteron 0.2.16 (Aeron's C client and media driver)".to_owned(),
            settings: if DEDICATED {
                &[
                    "as aeron, the media driver with dedicated threads that busy-spin (on four cores they compete with the peers)",
                ]
            } else {
                &[
                    "aeron:ipc, terms of 16 MiB, not sparse; client pre-touches; exclusive publication, try_claim; poll",
                    "C media driver in a process of its own, one shared thread that busy-spins",
                    "its idle strategies sleep by time and are not woken, so it is not measured asleep",
                ]
            },
            in_process: false,
            floor: false,
            can: Can { sleep: false, ..Can::ALL },
        }
    }

    fn create(room: Room<'_>, _links: &[Link]) -> Result<Option<Helper>, CompareError> {
        Helper::start(helper(DEDICATED), room.directory).map(Some)
    }

    fn open(_room: Room<'_>, _links: &[Link]) -> Result<Option<Helper>, CompareError> {
        Ok(None)
    }

    fn receiver(
        _hub: &Option<Helper>,
        room: Room<'_>,
        link: Link,
        _reader: usize,
    ) -> Result<Reading, CompareError> {
        let subscription = client(room)?
            .async_add_subscription(CHANNEL, stream(link), Handlers::NONE, Handlers::NONE)
            .and_then(|adding| adding.poll_blocking(PATIENCE))
            .map_err(refused(NAME, "subscribe"))?;
        Ok(Reading { subscription })
    }

    fn sender(_hub: &Option<Helper>, room: Room<'_>, link: Link) -> Result<Writing, CompareError> {
        let publication = client(room)?
            .async_add_exclusive_publication(CHANNEL, stream(link))
            .and_then(|adding| adding.poll_blocking(PATIENCE))
            .map_err(refused(NAME, "publish"))?;
        let begin = Instant::now();
        while !publication.is_connected() {
            if begin.elapsed() > PATIENCE {
                return Err(refused(NAME, "publish")("no subscriber came"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Writing { publication })
    }
}

const CHANNEL: &std::ffi::CStr = c"aeron:ipc?term-length=16m";

fn stream(link: Link) -> i32 {
    1001 + link.number as i32
}

/// The writing end.
pub(crate) struct Writing {
    publication: AeronExclusivePublication,
}

impl<const N: usize> Sender<N> for Writing {
    #[inline]
    fn send(&mut self, message: &[u8; N]) -> Result<bool, CompareError> {
        match self.publication.try_claim_owned(N) {
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
}

impl<const N: usize> Receiver<N> for Reading {
    #[inline]
    fn receive(&mut self, most: usize, each: &mut impl FnMut(&[u8; N])) -> Result<usize, CompareError> {
        let take = |buffer: &[u8], _| buffer.first_chunk().map(&mut *each).unwrap_or(());
        let handed = self.subscription.poll_fn(take, most).map_err(refused(NAME, "poll"))?;
        Ok(handed.max(0) as usize)
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
}
