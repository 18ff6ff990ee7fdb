//! From md's rows to those that matching compares with.

use std::collections::BTreeMap;
use std::path::Path;

use matching::exchange::MarketRules;
use matching::verify::{
    Action, Day, Feed, File, Place, Recording, Row, Snapshot, SnapshotLevel, SnapshotTotal, Traded,
};
use md::source::sse::{self, Layout};
use md::source::{Options, Published, PublishedDay, PublishedFile, SourceError, lobster, pitch};
use node::Exit;
use wire::{Instrument, Nanos, Price, Quantity, Side};

use super::columns;
use crate::args::{MatchingVerify, OrderSource};
use crate::failure::Failure;

/// One security's day.
pub(super) struct Security {
    pub(super) name: String,
    tick: Price,
    rows: Vec<Row>,
    snapshots: Vec<Snapshot>,
}

impl Security {
    pub(super) fn recording(&self, source: OrderSource) -> Recording<'_> {
        let first = self.rows.first().map_or(Nanos(0), |row| row.time);
        let (feed, market, day) = match source {
            OrderSource::Sse => (Feed::Both, MarketRules::shanghai(), Day::shanghai(first)),
            OrderSource::Lobster => {
                (Feed::Resting { numbers_grow: true }, MarketRules::plain(), Day::continuous())
            }
            OrderSource::Pitch => {
                (Feed::Resting { numbers_grow: false }, MarketRules::plain(), Day::continuous())
            }
        };
        // A feed that names no owners says nothing of self-trade prevention.
        let market = MarketRules { self_trade: matching::exchange::SelfTrade::Allow, ..market };
        Recording { feed, market, tick: self.tick, day, rows: &self.rows, snapshots: &self.snapshots }
    }
}

/// Everything that was read.
pub(super) struct Read {
    pub(super) securities: Vec<Security>,
    /// Rows about orders that no row adds.
    pub(super) unknown_order: u64,
}

/// Reads the files.
///
/// # Errors
/// [`Exit::Usage`]: files that cannot be used, or options that do not fit the source.
pub(super) fn read(arguments: &MatchingVerify) -> Result<Read, Failure> {
    let unusable = |error: SourceError| Failure::new(Exit::Usage, error.to_string());
    let options = Options { symbols: arguments.symbols.clone(), ..Options::default() };
    let path = |path: &Option<std::path::PathBuf>| path.clone().unwrap_or_default();
    let day = match arguments.source {
        OrderSource::Sse => {
            refuse(arguments.messages.is_some(), "--messages", "sse has --orders and --trades")?;
            let layout: Layout = columns::layout(arguments.columns.as_deref())?;
            sse::read(&path(&arguments.orders), &path(&arguments.trades), &layout, &options)
        }
        source => {
            for (given, name) in [
                (arguments.orders.is_some(), "--orders"),
                (arguments.trades.is_some(), "--trades"),
                (arguments.snapshots.is_some(), "--snapshots"),
                (arguments.columns.is_some(), "--columns"),
            ] {
                refuse(given, name, "only --source sse has it")?;
            }
            match source {
                OrderSource::Lobster => lobster::read(&path(&arguments.messages), &options),
                _ => pitch::read(&path(&arguments.messages), &options),
            }
        }
    };
    let day = day.map_err(unusable)?;
    let unknown_order = day.unknown_order;
    let mut securities = split(day);
    if let Some(path) = &arguments.snapshots {
        put_snapshots(&mut securities, path)?;
    }
    Ok(Read { securities, unknown_order })
}

fn refuse(given: bool, name: &str, why: &str) -> Result<(), Failure> {
    if given { Err(Failure::new(Exit::Usage, format!("{name}: {why}"))) } else { Ok(()) }
}

/// The rows by security.
fn split(day: PublishedDay) -> Vec<Security> {
    let security = |instrument: &Instrument| Security {
        name: instrument.symbol.to_string(),
        tick: instrument.tick,
        rows: Vec::new(),
        snapshots: Vec::new(),
    };
    let mut securities: Vec<Security> = day.instruments.iter().map(security).collect();
    for row in day.rows {
        let file = match row.file {
            PublishedFile::Orders => File::Orders,
            PublishedFile::Trades => File::Trades,
            PublishedFile::Messages => File::Messages,
        };
        let action = match row.body {
            Published::Order { order: id, side, price, quantity } => {
                Action::Order { id, side, price, quantity }
            }
            Published::Cancel { order: id, quantity, resting } => Action::Cancel { id, quantity, resting },
            Published::Reduce { order: id, quantity, resting } => Action::Reduce { id, quantity, resting },
            Published::Trade { buy, sell, price, quantity, aggressor } => {
                Action::Trade { buy, sell, price, quantity, aggressor }
            }
            Published::Execution { order: id, side, price, quantity } => {
                Action::Execution { id, side, price, quantity }
            }
            Published::Hidden { .. } => Action::Hidden,
            Published::Clear => Action::Clear,
        };
        let place = Place { file, row: row.row };
        let place_of = (row.instrument.0 as usize).checked_sub(1);
        if let Some(security) = place_of.and_then(|index| securities.get_mut(index)) {
            let (time, stated, off_money) = (row.time, row.stated, row.off_money);
            security.rows.push(Row { place, time, stated, off_money, action });
        }
    }
    securities
}

fn traded(traded: sse::Traded) -> Traded {
    let sse::Traded { volume, turnover, last, high, low } = traded;
    Traded { volume, turnover, last, high, low }
}

fn total(total: sse::SnapshotTotal) -> SnapshotTotal {
    SnapshotTotal { quantity: total.quantity, orders: total.orders, levels: total.levels }
}

/// Gives each stock its snapshots; those of other stocks and of other phases are left out.
fn put_snapshots(securities: &mut [Security], path: &Path) -> Result<(), Failure> {
    let number = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let by_number: BTreeMap<String, usize> =
        securities.iter().enumerate().map(|(index, security)| (number(&security.name), index)).collect();
    let read = sse::read_snapshots(path).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let mut put = 0;
    for snapshot in read.into_iter().filter(|snapshot| snapshot.continuous) {
        let index = by_number.get(&number(snapshot.symbol.as_str())).copied();
        let Some(security) = index.and_then(|index| securities.get_mut(index)) else { continue };
        let levels = |side| -> Vec<SnapshotLevel> {
            let levels = snapshot.side(side).iter();
            let level = |level: &sse::SnapshotLevel| SnapshotLevel {
                price: level.price,
                quantity: Quantity(level.quantity),
                orders: level.orders,
            };
            levels.map(level).collect()
        };
        put += 1;
        security.snapshots.push(Snapshot {
            place: Place { file: File::Snapshots, row: snapshot.row },
            trades: snapshot.trades,
            bids: levels(Side::Buy),
            asks: levels(Side::Sell),
            totals: snapshot.totals().map(|totals| totals.map(total)),
            traded: traded(snapshot.traded),
        });
    }
    if put == 0 {
        let message = format!(
            "{}: no snapshot of these stocks in continuous trading (InstruStatus TRADE); leave --snapshots out, or name the \
             day's own file",
            path.display()
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(())
}
