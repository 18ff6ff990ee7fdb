//! Records of the schema `status`: an instrument's market enters a phase.

use dbn::StatusMsg;
use dbn::enums::StatusAction;
use wire::TradingPhase;

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
pub(super) fn phase(message: &StatusMsg) -> Result<Option<TradingPhase>, Fault> {
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
