//! Records of the schema `status`: an instrument's market enters a phase.

use dbn::StatusMsg;
use dbn::enums::StatusAction;
use wire::TradingPhase;

use super::{DbnSource, Pending};
use crate::source::SourceError;
use crate::source::error::Fault;

/// The phase that a record names; `None`: it says something else.
///
/// | action | phase |
/// |---|---|
/// | pre-open | pre-open |
/// | rotation | opening auction |
/// | quoting, pre-cross, cross, new price indication | volatility auction |
/// | trading | continuous |
/// | halt, pause, suspend, not available for trading | halt |
/// | pre-close, where the record says that the instrument does not trade | closing auction |
/// | close, post-close | closed |
/// | none, short-sale restriction; pre-close, where it may trade | none |
fn phase(message: &StatusMsg) -> Result<Option<TradingPhase>, Fault> {
    let action = StatusAction::try_from(message.action)
        .map_err(|_| Fault::new("action of a status", message.action, "a number from 0 to 15"))?;
    Ok(Some(match action {
        StatusAction::PreOpen => TradingPhase::PreOpen,
        StatusAction::Rotation => TradingPhase::OpeningAuction,
        StatusAction::Quoting
        | StatusAction::PreCross
        | StatusAction::Cross
        | StatusAction::NewPriceIndication => TradingPhase::VolatilityAuction,
        StatusAction::Trading => TradingPhase::Continuous,
        StatusAction::Halt
        | StatusAction::Pause
        | StatusAction::Suspend
        | StatusAction::NotAvailableForTrading => TradingPhase::Halt,
        StatusAction::PreClose if message.is_trading as u8 == b'N' => TradingPhase::ClosingAuction,
        StatusAction::Close | StatusAction::PostClose => TradingPhase::Closed,
        // And whatever later versions of the format add: it is not known to stop trading.
        _ => return Ok(None),
    }))
}

impl DbnSource {
    /// Reads a status: the events before it are whole.
    pub(super) fn read_status(&mut self, number: u64, message: &StatusMsg) -> Result<(), SourceError> {
        let received = super::or(message.ts_recv, message.hd.ts_event);
        self.end_names(received, number);
        let checked = self
            .names
            .name(message.hd.instrument_id, received)
            .and_then(|name| phase(message).map(|phase| (name, phase)));
        let (name, phase) = match checked {
            Ok(checked) => checked,
            Err(fault) => return self.counts.reject(self.on_bad_row, fault, &self.path, number),
        };
        let Some(instrument) = self.listing.get(&name) else {
            self.counts.skipped.other_symbol += 1;
            return Ok(());
        };
        let Some(phase) = phase else {
            self.counts.skipped.no_effect += 1;
            return Ok(());
        };
        let stamp = message.hd.ts_event;
        let time = self.time(stamp, received, false, number);
        self.end_events(stamp, received);
        self.end_event(instrument);
        let status = Pending { phase: Some(phase), time, stamp, received, number, ..Pending::default() };
        self.ready.push_back((instrument, status));
        Ok(())
    }
}
