//! ExecType (150) of FIX 4.4, and what each is news of: one row each, without a default.

use fix_codec::codec::Message;

/// Why the market sends an execution report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExecType {
    /// 0
    New,
    /// 1, of FIX 4.2: F since.
    PartialFill,
    /// 2, of FIX 4.2: F since.
    Fill,
    /// 3
    DoneForDay,
    /// 4
    Canceled,
    /// 5
    Replaced,
    /// 6
    PendingCancel,
    /// 7
    Stopped,
    /// 8
    Rejected,
    /// 9
    Suspended,
    /// A
    PendingNew,
    /// B
    Calculated,
    /// C
    Expired,
    /// D
    Restated,
    /// E
    PendingReplace,
    /// F
    Trade,
    /// G
    TradeCorrect,
    /// H
    TradeCancel,
    /// I
    OrderStatus,
    /// L, of FIX 5.0: a stop was triggered.
    Triggered,
    /// A value that is none of these, or none.
    Other,
}

impl ExecType {
    /// All of them with their codes; the last has none.
    pub const ALL: [(ExecType, &'static str); 21] = [
        (ExecType::New, "0"),
        (ExecType::PartialFill, "1"),
        (ExecType::Fill, "2"),
        (ExecType::DoneForDay, "3"),
        (ExecType::Canceled, "4"),
        (ExecType::Replaced, "5"),
        (ExecType::PendingCancel, "6"),
        (ExecType::Stopped, "7"),
        (ExecType::Rejected, "8"),
        (ExecType::Suspended, "9"),
        (ExecType::PendingNew, "A"),
        (ExecType::Calculated, "B"),
        (ExecType::Expired, "C"),
        (ExecType::Restated, "D"),
        (ExecType::PendingReplace, "E"),
        (ExecType::Trade, "F"),
        (ExecType::TradeCorrect, "G"),
        (ExecType::TradeCancel, "H"),
        (ExecType::OrderStatus, "I"),
        (ExecType::Triggered, "L"),
        (ExecType::Other, "Z"),
    ];

    /// That of a report. FIX 4.2 says in ExecTransType (20) that a trade is cancelled or corrected, or that a report is a status.
    pub fn of(message: &Message) -> ExecType {
        match message.get(20) {
            Some("1") => return ExecType::TradeCancel,
            Some("2") => return ExecType::TradeCorrect,
            Some("3") => return ExecType::OrderStatus,
            _ => {}
        }
        let code = message.get(150).unwrap_or_default();
        let known = ExecType::ALL[..ExecType::ALL.len() - 1].iter().find(|(_, known)| *known == code);
        known.map_or(ExecType::Other, |(exec_type, _)| *exec_type)
    }
}
