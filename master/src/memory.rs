//! Decides on which pages each journal lies.

use std::path::PathBuf;

use journal::{Journal, JournalShape, Origin};
use node::InstanceDir;
use pinning::HugePool;
use topology::{JournalSpec, Pages};

use crate::error::MasterError;

/// The memory of a journal's ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backing {
    /// Mount point of the huge-page file system; `None`: ordinary pages in the instance's directory.
    pub(crate) huge: Option<PathBuf>,
    /// Size of a page.
    pub(crate) page: u64,
    /// Whether to ask the kernel for transparent huge pages.
    pub(crate) transparent: bool,
}

impl Backing {
    const SMALL: Backing = Backing { huge: None, page: 4096, transparent: false };
    const TRANSPARENT: Backing = Backing { transparent: true, ..Backing::SMALL };
}

/// Bytes of a transparent huge page.
const TRANSPARENT_PAGE: u64 = 2 << 20;
/// Largest message of a platform's journals in bytes, where the ring takes that much. Every loose reader has memory for
/// one, so it is far less than rings would take.
const LARGEST_MESSAGE: u64 = (64 << 10) - 32;

/// Asks for transparent huge pages, if that was decided, and logs the result. The actual pages are read later from the
/// processes that map the ring.
pub(crate) fn make_transparent(journal: &Journal, backing: &Backing) {
    if !backing.transparent {
        return;
    }
    let name = &journal.shape().name;
    if !journal.shape().capacity.is_multiple_of(TRANSPARENT_PAGE) {
        log::warn!("journal `{name}` is smaller than a transparent huge page: it lies on 4 KiB pages");
        return;
    }
    match journal.make_transparent_huge() {
        Ok(()) => log::info!("journal `{name}` lies on transparent huge pages for now"),
        Err(error) => {
            log::warn!(
                "journal `{name}`: the kernel gives no transparent huge pages ({error}): it lies on 4 KiB pages"
            )
        }
    }
}

/// Decides for all journals at once, before any is created: pages that one journal takes are not available to the next.
///
/// # Errors
/// [`MasterError::HugePages`] for the first journal whose required pages are missing.
pub(crate) fn decide(journals: &[JournalSpec]) -> Result<Vec<Backing>, MasterError> {
    let mut pool = HugePool::now();
    journals.iter().map(|journal| decide_one(journal, journals, &mut pool)).collect()
}

fn decide_one(
    journal: &JournalSpec,
    all: &[JournalSpec],
    pool: &mut HugePool,
) -> Result<Backing, MasterError> {
    let (size, require) = match journal.pages {
        Pages::Small => return Ok(Backing::SMALL),
        Pages::Transparent => return Ok(Backing::TRANSPARENT),
        Pages::Huge { size, require } => (size, require),
    };
    let wanted = journal.capacity_bytes.div_ceil(size);
    let needed = needed(all, size, require);
    let (found, fix) = if !journal.capacity_bytes.is_multiple_of(size) {
        let found = format!("the capacity of {} bytes is no whole number of them", journal.capacity_bytes);
        (found, "give it a larger capacity, or smaller pages".to_owned())
    } else {
        match pool.take(size, wanted) {
            Ok(mount) => return Ok(Backing { huge: Some(mount), page: size, transparent: false }),
            Err(lack) => (lack.to_string(), format!("as root: {}", lack.fix(size, needed))),
        }
    };
    if require {
        return Err(MasterError::HugePages { journal: journal.name.clone(), needed, page: size, found, fix });
    }
    log::warn!(
        "journal `{}`: {wanted} huge pages of {} MiB preferred, {found}; {fix}",
        journal.name,
        size >> 20
    );
    Ok(Backing::TRANSPARENT)
}

/// Pages of `size` bytes that the journals need: those that require them, or also those that prefer them.
fn needed(journals: &[JournalSpec], size: u64, only_required: bool) -> u64 {
    let counts = |pages: Pages| matches!(pages, Pages::Huge { size: own, require } if own == size && (require || !only_required));
    let counted = journals.iter().filter(|journal| counts(journal.pages));
    counted.map(|journal| journal.capacity_bytes.div_ceil(size)).sum()
}

/// Creates a journal on its decided memory. If huge pages were only preferred and are used up meanwhile, or a limit
/// that is not visible (a control group's) forbids them, it goes onto ordinary pages.
pub(crate) fn create(
    directory: &InstanceDir,
    spec: &JournalSpec,
    backing: &mut Backing,
    seats: u32,
    origin: Origin,
) -> Result<Journal, MasterError> {
    let make = |backing: &Backing| -> Result<Journal, MasterError> {
        if let Some(mount) = &backing.huge {
            let rings = directory.on_huge_pages(mount);
            let failed = |source| MasterError::Io { action: "create", path: rings.clone(), source };
            directory.create_on_huge_pages(mount).map_err(|error| failed(error.into()))?;
        }
        let shape = JournalShape {
            id: spec.id,
            name: spec.name.clone(),
            capacity: spec.capacity_bytes,
            seats,
            topics: spec.topics,
            page: backing.page,
        };
        let origin = Origin { max_payload: LARGEST_MESSAGE, ..origin };
        Ok(Journal::create_from(directory.journal(&spec.name, backing.huge.as_deref()), shape, origin)?)
    };
    let is_preferred = matches!(spec.pages, Pages::Huge { require: false, .. });
    match make(backing) {
        Err(error) if is_preferred && backing.huge.is_some() => {
            log::warn!("journal `{}`: huge pages preferred, {error}: it goes onto ordinary pages", spec.name);
            *backing = Backing::TRANSPARENT;
            make(backing)
        }
        made => made,
    }
}
