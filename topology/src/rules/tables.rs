//! Rows about instruments that contradict each other, in the platform file and in a file of instruments alike.

use std::collections::BTreeMap;

use settings::{Report, Rows};
use wire::Symbol;

use crate::config::{ChargeEvent, ChargeLiquidity, ChargeSide, ContractConfig, FeeConfig, MarginConfig};

const ALL: &str = "all instruments";

fn named(symbols: &str) -> &str {
    if symbols.is_empty() { ALL } else { symbols }
}

/// The tables below `under`: nothing, or `desk.`.
pub(crate) struct Tables<'a> {
    pub(crate) under: &'a str,
    pub(crate) rows: &'a Rows,
    pub(crate) report: &'a mut Report,
}

impl Tables<'_> {
    pub(crate) fn check(
        &mut self,
        contracts: &[ContractConfig],
        fees: &[FeeConfig],
        margins: &[MarginConfig],
    ) {
        self.contracts(contracts);
        self.fees(fees);
        self.prefixes("fees", fees.iter().map(|row| row.symbols.as_deref()));
        self.prefixes("margins", margins.iter().map(|row| row.symbols.as_deref()));
    }

    fn path(&self, table: &str, index: usize) -> String {
        format!("{}{table}.{index}", self.under)
    }

    fn two(&mut self, table: &str, rows: (usize, usize), message: String, help: &str) {
        let (first, second) = (self.path(table, rows.0), self.path(table, rows.1));
        let related = self.rows.place(&first);
        let noted = self.report.error(self.rows.place(&second), message);
        noted.related(related, "the first of them").help(help);
    }

    fn contracts(&mut self, contracts: &[ContractConfig]) {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, row) in contracts.iter().enumerate() {
            let symbols = row.symbols.as_deref().unwrap_or_default();
            if let Some(first) = known.insert(symbols, index) {
                let message = format!("two rows of [[contracts]] for {}: which one?", named(symbols));
                self.two("contracts", (first, index), message, "write what both say in one");
            }
        }
    }

    fn fees(&mut self, fees: &[FeeConfig]) {
        let mut known: BTreeMap<(u16, u32, &str), Vec<usize>> = BTreeMap::new();
        for (index, row) in fees.iter().enumerate() {
            let symbols = row.symbols.as_deref().unwrap_or_default();
            let others = known.entry((row.charge, row.account, symbols)).or_default();
            let met = others.iter().find_map(|other| Some((*other, common(&fees[*other], row)?)));
            others.push(index);
            let Some((first, common)) = met else { continue };
            let mut message = format!("two rows of charge {} for {}", row.charge, named(symbols));
            if row.account != 0 {
                message += &format!(" of account {}", row.account);
            }
            common.into_iter().for_each(|word| message += &format!(", {word}"));
            self.two(
                "fees",
                (first, index),
                message + ": which one?",
                "give them different side, event or liquidity, or charge numbers of their own where both are to be paid",
            );
        }
    }

    /// Charges and margins go by how a name begins alone.
    fn prefixes<'a>(&mut self, table: &str, symbols: impl Iterator<Item = Option<&'a str>>) {
        for (index, symbols) in symbols.enumerate() {
            let Some(symbols) = symbols else { continue };
            let path = format!("{}.symbols", self.path(table, index));
            let fault = if symbols.contains(['?', '#']) {
                Some((format!("[[{table}]] has no `?` and `#`"), "write how the names begin"))
            } else if Symbol::new(symbols).is_none() {
                Some((format!("`{symbols}` is longer than a symbol can be"), "write how the names begin"))
            } else {
                None
            };
            if let Some((message, help)) = fault {
                self.report.error(self.rows.place(&path), message).help(help);
            }
        }
    }
}

/// Which fills are both rows' own, in words; `None`: none.
fn common(one: &FeeConfig, other: &FeeConfig) -> Option<Vec<&'static str>> {
    let mut words = Vec::new();
    let side = both(one.side, other.side, ChargeSide::Both)?;
    let event = both(one.event, other.event, ChargeEvent::Any)?;
    let liquidity = both(one.liquidity, other.liquidity, ChargeLiquidity::Any)?;
    words.extend((side != ChargeSide::Both).then(|| side.as_str()));
    words.extend((event != ChargeEvent::Any).then(|| event.as_str()));
    words.extend((liquidity != ChargeLiquidity::Any).then(|| liquidity.as_str()));
    Some(words)
}

fn both<T: PartialEq + Copy>(one: T, other: T, any: T) -> Option<T> {
    if one == any { Some(other) } else { (other == any || one == other).then_some(one) }
}
