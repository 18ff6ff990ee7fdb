//! Where two journals that no longer reach back to their begin can be compared from.

use wire::{DROP_TAKEN, Message, NewOrder};

use super::Stop;
use super::findings::Findings;
use super::frames::same;
use crate::desk::{DROPS, Fault, ORDERS, Seen, Source, Stream};

/// `td.orders` from where it and the drop copy can be compared, and that place in the drop copy.
pub(super) fn align<'a>(
    source: &'a Source,
    is_begin: bool,
    findings: &mut Findings,
) -> Result<(Stream<'a>, u64), Stop> {
    let mut orders = super::stream(source, ORDERS, 0)?;
    if is_begin && orders.is_at_begin()? {
        return Ok((orders, 0));
    }
    let first_new = |stream: &mut Stream<'_>, topic: bool| -> Result<Option<Seen>, Fault> {
        while let Some(seen) = stream.next()? {
            if seen.id == NewOrder::ID && (!topic || seen.topic == DROP_TAKEN) {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    };
    let find = |stream: &mut Stream<'_>, wanted: &Seen| -> Result<Option<u64>, Fault> {
        while let Some(seen) = stream.next()? {
            if same(&seen, wanted) {
                return Ok(Some(seen.position));
            }
        }
        Ok(None)
    };
    let dropped = first_new(&mut super::stream(source, DROPS, 0)?, true)?;
    if let Some(dropped) = dropped
        && let Some(position) = find(&mut orders, &dropped)?
    {
        return Ok((super::stream(source, ORDERS, position)?, dropped.position));
    }
    let sent = first_new(&mut super::stream(source, ORDERS, 0)?, false)?;
    if let Some(sent) = sent
        && let Some(position) = find(&mut super::stream(source, DROPS, 0)?, &sent)?
    {
        return Ok((super::stream(source, ORDERS, sent.position)?, position));
    }
    findings.lacks(format!("{ORDERS} and {DROPS} have no request in common any more"));
    Ok((super::stream(source, ORDERS, 0)?, u64::MAX))
}
