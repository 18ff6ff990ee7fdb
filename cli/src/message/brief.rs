//! A message on one line.

use serde_json::Value;
use wire::{AnyMessage, Level};

use super::fields;
use crate::output;

fn side(level: Option<Level>) -> String {
    level.map_or("-".to_owned(), |level| format!("{}×{}", level.price, level.quantity))
}

/// What a person looks for first. Text in messages is of whoever wrote it: on a terminal it must stay one line of text.
pub(crate) fn brief(message: &AnyMessage) -> String {
    output::escaped(&said(message))
}

fn said(message: &AnyMessage) -> String {
    match message {
        AnyMessage::Best(m) => format!("Best bid {} ask {}", side(m.best_bid()), side(m.best_ask())),
        AnyMessage::Quote(m) => {
            format!(
                "Quote instrument {} bid {} ask {} last {} #{}",
                m.instrument,
                side(m.best_bid()),
                side(m.best_ask()),
                m.last_price,
                m.sequence
            )
        }
        AnyMessage::TradePrint(m) => {
            format!(
                "TradePrint instrument {} {}×{} {} #{}",
                m.instrument, m.price, m.quantity, m.aggressor, m.sequence
            )
        }
        AnyMessage::BookEvent(m) => format!(
            "BookEvent instrument {} {} {} order {} {}×{} #{}",
            m.instrument, m.action, m.side, m.order_ref, m.price, m.quantity, m.sequence
        ),
        AnyMessage::NewOrder(m) => {
            let cause = match m.cause.is_some() {
                true => format!(" caused by {}@{}", m.cause.journal, m.cause.position),
                false => String::new(),
            };
            format!(
                "NewOrder {} instrument {} {} {} {}×{} {}{cause}",
                m.order_id, m.instrument, m.side, m.order_type, m.price, m.quantity, m.time_in_force
            )
        }
        AnyMessage::ReplaceOrder(m) => {
            format!("ReplaceOrder {} instrument {} {}×{}", m.order_id, m.instrument, m.price, m.quantity)
        }
        AnyMessage::OrderUpdate(m) if m.status == wire::OrderStatus::MassCancelled => format!(
            "OrderUpdate {} {}, {} orders cancelled, {} left",
            m.order_id, m.status, m.quantity, m.remaining
        ),
        AnyMessage::OrderUpdate(m) => {
            let reason = match m.reason {
                wire::Reason::None => String::new(),
                reason => format!(" ({reason})"),
            };
            format!(
                "OrderUpdate {} {}{reason}, {} of {} traded, {} working",
                m.order_id, m.status, m.filled, m.quantity, m.remaining
            )
        }
        AnyMessage::Fill(m) => {
            format!(
                "Fill {} {} {}×{} {}, {} working",
                m.order_id, m.side, m.price, m.quantity, m.liquidity, m.remaining
            )
        }
        AnyMessage::LatencySample(m) => {
            let micros = (m.taken.0.saturating_sub(m.published.0)) as f64 / 1_000.0;
            format!("LatencySample {} t2o {micros:.1} µs", m.order_id)
        }
        other => {
            let shown = fields(other).into_iter().filter(|(_, value)| !value.is_null());
            let words = shown.map(|(name, value)| match value {
                Value::String(text) => format!(" {name} {text}"),
                value => format!(" {name} {value}"),
            });
            format!("{}{}", other.name(), words.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{AccountAction, AccountChange, AccountScope, Currency, Text, WideMoney};

    #[test]
    fn control_characters_in_a_message_are_shown_and_not_obeyed() {
        let change = AccountChange {
            subject: 7,
            scope: AccountScope::Account,
            action: AccountAction::Freeze,
            reserved: 0,
            amount: WideMoney::default(),
            currency: Currency::EMPTY,
            who: Text::cut("\u{1b}[2Jann"),
            why: Text::cut("one\ntwo\u{9b}31m über"),
        };
        let line = brief(&AnyMessage::AccountChange(change));
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(line.contains(r"\u{1b}[2Jann") && line.contains(r"one\ntwo\u{9b}31m über"), "{line}");
    }
}
