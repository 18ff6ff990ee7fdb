//! Settlement prices: the latest marks, or a file.

use std::path::Path;

use node::Exit;
use wire::{InstrumentId, Price};

use super::failed;
use crate::failure::Failure;

/// The prices that are asked for.
pub(super) fn prices(
    what: &str,
    desk: &accounts::Desk,
    is_forced: bool,
) -> Result<Vec<(InstrumentId, Price)>, Failure> {
    if what != "last" {
        let prices = read(Path::new(what), desk)?;
        if !is_forced {
            prices.iter().try_for_each(|(instrument, price)| plausible(desk, *instrument, *price))?;
        }
        return Ok(prices);
    }
    let mut prices = Vec::new();
    for row in desk.all_positions() {
        let lots = [row.long_today, row.long_yesterday, row.short_today, row.short_yesterday];
        if lots == [0; 4] || prices.iter().any(|(known, _)| *known == row.instrument) {
            continue;
        }
        if !row.mark.is_some() {
            let instrument = row.instrument;
            return Err(failed(format!(
                "instrument {instrument} is held and has no mark yet: give its price in a file"
            )));
        }
        prices.push((row.instrument, row.mark));
    }
    prices.sort_unstable();
    Ok(prices)
}

/// A settlement cannot be taken back: a price that looks like a slip is asked about.
fn plausible(desk: &accounts::Desk, instrument: InstrumentId, price: Price) -> Result<(), Failure> {
    let Some(contract) = desk.contract(instrument) else { return Ok(()) };
    let (symbol, mark) = (contract.symbol, contract.mark);
    if accounts::is_near(price, mark) {
        return Ok(());
    }
    let what = if price.0 <= 0 {
        "not positive".to_owned()
    } else {
        format!("more than half away from the latest mark, {mark}")
    };
    Err(Failure::new(
        Exit::Usage,
        format!("the price {price} of {symbol} is {what}: if it is meant, say --force"),
    ))
}

/// A file of prices.
fn read(path: &Path, desk: &accounts::Desk) -> Result<Vec<(InstrumentId, Price)>, Failure> {
    let usage = |what: String| Failure::new(Exit::Usage, format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(usage("the last line has no end: is the file cut?".to_owned()));
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|error| usage(error.to_string()))?.clone();
    let place = |name: &str| columns.iter().position(|column| column.trim() == name);
    let (symbol, number, price) = (place("symbol"), place("instrument"), place("price"));
    let Some(price) = price.filter(|_| symbol.is_some() || number.is_some()) else {
        return Err(usage(
            "the first line names the columns: `price`, and `symbol` or `instrument`".to_owned(),
        ));
    };
    let mut prices: Vec<(InstrumentId, Price)> = Vec::new();
    for (line, row) in reader.records().enumerate() {
        let at = |what: String| usage(format!("line {}: {what}", line + 2));
        let row = row.map_err(|error| at(error.to_string()))?;
        let cell = |place: Option<usize>| place.and_then(|place| row.get(place)).unwrap_or_default().trim();
        let instrument = match (cell(number), cell(symbol)) {
            ("", symbol) => desk
                .contracts()
                .find(|(_, contract)| contract.symbol.as_str() == symbol)
                .map(|(instrument, _)| instrument)
                .ok_or_else(|| at(format!("there is no instrument `{symbol}`")))?,
            (number, _) => {
                InstrumentId(number.parse().map_err(|_| at(format!("`{number}` is no instrument")))?)
            }
        };
        let text = cell(Some(price));
        let price = text.parse::<Price>().map_err(|error| at(error.to_string()))?;
        if prices.iter().any(|(known, _)| *known == instrument) {
            return Err(at(format!("instrument {instrument} has a price already")));
        }
        prices.push((instrument, price));
    }
    Ok(prices)
}
