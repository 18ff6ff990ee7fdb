//! What is true of instruments, and what trading them costs: ready sets, a file, and the platform file, one over the other.
//!
//! ```text
//!  [[desk.contracts]]  ──►┐
//!  md.instruments_file ──►├─► Market: of each key the first that says it; in one place, the longest name that fits
//!  a ready set         ──►┘
//! ```
//!
//! All three have the same tables. md lists the instruments with it, so everybody else has tick, lot, multiplier, currency and limits
//! from the list.

use std::path::Path;

use serde::{Deserialize, Serialize};
use settings::schema::{Kind, Section};
use settings::{Diagnostics, Document, Draft, section, words};
use wire::{Currency, FeeRule, Instrument, Price, Quantity};

use crate::config::{
    ContractConfig, Decimal, DeskConfig, FeeConfig, MarginConfig, MarketSource, PlatformConfig,
};
use crate::rules::tables::Tables;

/// What names a ready set instead of a file.
const READY: &str = "ready:";

words! {
    /// What is known of a real market.
    pub enum ReadySet ("ready set of instruments") {
        /// Stocks, funds and B shares of Shanghai, with exchange fees and stamp duty.
        ShanghaiStock = "shanghai-stock",
        /// Stocks of the United States.
        UsStock = "us-stock",
        /// Futures on share indices at CME.
        CmeIndex = "cme-index",
        /// Simulated instruments.
        Simulated = "simulated",
        /// Nothing.
        None = "none",
    }
}

impl ReadySet {
    const ALL: [ReadySet; 5] =
        [ReadySet::ShanghaiStock, ReadySet::UsStock, ReadySet::CmeIndex, ReadySet::Simulated, ReadySet::None];

    /// As its file says it.
    pub fn text(self) -> &'static str {
        match self {
            ReadySet::ShanghaiStock => include_str!("../../configs/markets/shanghai-stock.toml"),
            ReadySet::UsStock => include_str!("../../configs/markets/us-stock.toml"),
            ReadySet::CmeIndex => include_str!("../../configs/markets/cme-index.toml"),
            ReadySet::Simulated => include_str!("../../configs/markets/simulated.toml"),
            ReadySet::None => "",
        }
    }

    /// What holds for a source where nobody says otherwise.
    fn of(source: MarketSource) -> ReadySet {
        match source {
            MarketSource::Sim | MarketSource::Exchange => ReadySet::Simulated,
            MarketSource::Sse => ReadySet::ShanghaiStock,
            MarketSource::Lobster | MarketSource::Pitch | MarketSource::Itch | MarketSource::Multicast => {
                ReadySet::UsStock
            }
            MarketSource::Dbn => ReadySet::CmeIndex,
            // Its instruments are as they were recorded.
            MarketSource::Recording => ReadySet::None,
        }
    }
}

section! {
    /// A file of instruments. Its tables are those of [desk]; what [desk] says itself comes before them.
    pub struct InstrumentsFile {
        /// The set that these rows are over, with its charges. Not set: that of the source, without charges.
        ready: Option<ReadySet> = None;
        /// What is true of instruments.
        contracts: Vec<ContractConfig> = Vec::new() => Kind::Tables(<ContractConfig as Section>::TABLE);
        /// Charges on fills. Any row here takes the place of all charges of the ready set.
        fees: Vec<FeeConfig> = Vec::new() => Kind::Tables(<FeeConfig as Section>::TABLE);
        /// Margin of positions. Any row here takes the place of all margins of the ready set.
        margins: Vec<MarginConfig> = Vec::new() => Kind::Tables(<MarginConfig as Section>::TABLE);
    }
}

/// Why a file of instruments cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MarketError {
    /// It cannot be read, or names no ready set.
    #[error("{message}")]
    Unusable {
        /// Why.
        message: String,
        /// What to do.
        help: String,
    },
    /// It is wrong.
    #[error(transparent)]
    Invalid(#[from] Diagnostics),
}

/// The rows of one file: of each key the longest name that fits holds.
type Layer = Vec<ContractConfig>;

/// What holds on a platform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Market {
    /// The first that says a key holds.
    layers: Vec<Layer>,
    /// Charges on fills.
    pub fees: Vec<FeeConfig>,
    /// Margin of positions.
    pub margins: Vec<MarginConfig>,
}

fn parse(name: &str, text: &str) -> Result<InstrumentsFile, Diagnostics> {
    let mut draft = Document::parse(name, text, &[]).check::<InstrumentsFile>();
    if draft.is_whole() {
        let Draft { value, rows, report, .. } = &mut draft;
        Tables { under: "", rows, report }.check(&value.contracts, &value.fees, &value.margins);
    }
    Ok(draft.finish()?.value)
}

fn ready(set: ReadySet) -> Result<InstrumentsFile, Diagnostics> {
    parse(&format!("{READY}{set}"), set.text())
}

fn named(name: &str) -> Result<InstrumentsFile, MarketError> {
    let Some(set) = name.strip_prefix(READY) else {
        let text = std::fs::read_to_string(Path::new(name)).map_err(|error| MarketError::Unusable {
            message: format!("cannot read {name}: {error}"),
            help: "md.instruments_file names a file, or a ready set as in \"ready:us-stock\"".to_owned(),
        })?;
        return Ok(parse(name, &text)?);
    };
    let known = ReadySet::ALL.into_iter().find(|known| known.as_str() == set);
    let known = known.ok_or_else(|| MarketError::Unusable {
        message: format!("there is no ready set `{set}`"),
        help: format!("there is {}", settings::or_list(ReadySet::ALL.map(ReadySet::as_str), "`")),
    })?;
    Ok(InstrumentsFile { ready: Some(known), ..InstrumentsFile::default() })
}

impl Market {
    /// What a platform file says, the file that it names, and the ready set below.
    ///
    /// # Errors
    /// [`MarketError`]
    pub fn of(config: &PlatformConfig) -> Result<Market, MarketError> {
        let desk = &config.desk;
        let file = match &config.md.instruments_file {
            Some(name) => named(name)?,
            None => InstrumentsFile::default(),
        };
        let mut below = ready(file.ready.unwrap_or(ReadySet::of(config.md.source)))?;
        if file.ready.is_none() {
            (below.fees, below.margins) = (Vec::new(), Vec::new());
            // Who keeps accounts in other money has not asked for this.
            let is_foreign = |name: &String| config.keeps_accounts() && !has_rate(desk, name);
            for row in &mut below.contracts {
                row.currency.take_if(|name| is_foreign(name));
            }
        }
        for row in desk.contracts.iter().chain(&file.contracts) {
            if let (Some(low), Some(high)) = (row.price_low, row.price_high)
                && low > high
            {
                let name = row.symbols.as_deref().unwrap_or("all instruments");
                return Err(MarketError::Unusable {
                    message: format!("of {name}, price_low = {low} lies above price_high = {high}"),
                    help: "mend the row in [[contracts]]".to_owned(),
                });
            }
        }
        let first =
            |of: [Vec<FeeConfig>; 3]| of.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default();
        let first_margins =
            |of: [Vec<MarginConfig>; 3]| of.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default();
        Ok(Market {
            fees: first([desk.fees.clone(), file.fees, below.fees]),
            margins: first_margins([desk.margins.clone(), file.margins, below.margins]),
            layers: vec![desk.contracts.clone(), file.contracts, below.contracts],
        })
    }

    /// What a desk says alone.
    pub fn of_desk(config: &DeskConfig) -> Market {
        Market {
            layers: vec![config.contracts.clone()],
            fees: config.fees.clone(),
            margins: config.margins.clone(),
        }
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.layers.iter().all(Vec::is_empty) && self.fees.is_empty() && self.margins.is_empty()
    }

    /// Currencies that it names.
    pub(crate) fn currencies(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().flatten().filter_map(|row| row.currency.as_deref())
    }

    /// All that is true of the instrument of this name.
    pub fn contract(&self, symbol: &str) -> ContractConfig {
        let mut found = ContractConfig::default();
        for layer in &self.layers {
            let mut fits: Vec<&ContractConfig> =
                layer.iter().filter(|row| fits(row.symbols.as_deref().unwrap_or_default(), symbol)).collect();
            fits.sort_by_key(|row| std::cmp::Reverse(row.symbols.as_deref().map_or(0, str::len)));
            for row in fits {
                found.fill_from(row);
            }
        }
        found
    }

    /// Completes what md has found of an instrument. A key that cannot have an effect is answered.
    pub fn complete(&self, instrument: &mut Instrument) -> Option<String> {
        let contract = self.contract(instrument.symbol.as_str());
        if let Some(tick) = contract.tick.and_then(Decimal::price) {
            instrument.tick = tick;
        }
        if let Some(reference) = contract.reference_price.and_then(Decimal::price) {
            instrument.reference_price = reference;
        }
        let note = (contract.price_limit.is_some() && !instrument.reference_price.is_some()).then(|| {
            "price_limit is a part of the reference price, and there is none: write reference_price beside it".to_owned()
        });
        if let Some(lot) = contract.lot {
            instrument.lot = Quantity(lot);
        }
        if let Some(most) = contract.max_quantity {
            instrument.max_quantity = Quantity(most);
        }
        let (low, high) = limits(&contract, instrument);
        if let Some(low) = low {
            instrument.price_low = low;
        }
        if let Some(high) = high {
            instrument.price_high = high;
        }
        if let Some(multiplier) = contract.multiplier {
            instrument.multiplier = multiplier;
        }
        if let Some(currency) = &contract.currency {
            instrument.currency = Currency::cut(currency);
        }
        note
    }

    /// The charges as accounts take them.
    pub fn fee_rules(&self) -> Vec<FeeRule> {
        self.fees.iter().map(crate::desk::fee).collect()
    }
}

/// Rows of the file named `name` that fit none of these instruments, in a sentence; `None` where all fit, and of ready sets.
pub fn idle_rows(name: &str, symbols: &[&str]) -> Option<String> {
    const SHOWN: usize = 5;
    if name.starts_with(READY) || symbols.is_empty() {
        return None;
    }
    let text = std::fs::read_to_string(name).ok()?;
    let file = parse(name, &text).ok()?;
    let mut idle: Vec<String> = Vec::new();
    let patterns = |row: &ContractConfig| row.symbols.clone();
    let contracts: Vec<_> = file.contracts.iter().map(patterns).collect();
    let fees: Vec<_> = file.fees.iter().map(|row| row.symbols.clone()).collect();
    let margins: Vec<_> = file.margins.iter().map(|row| row.symbols.clone()).collect();
    for (table, rows) in [("contracts", contracts), ("fees", fees), ("margins", margins)] {
        let lines = lines_of(&text, table);
        for (index, row) in rows.iter().enumerate() {
            let Some(pattern) = row else { continue };
            let is_met = match table {
                "contracts" => symbols.iter().any(|symbol| fits(pattern, symbol)),
                _ => symbols.iter().any(|symbol| symbol.starts_with(pattern)),
            };
            if !is_met {
                let line = lines.get(index).map_or(String::new(), |line| format!(" in line {line}"));
                idle.push(format!("[[{table}]]{line} ({pattern})"));
            }
        }
    }
    let more = |all: usize| if all > SHOWN { format!(" and {} more", all - SHOWN) } else { String::new() };
    (!idle.is_empty()).then(|| {
        format!(
            "rows of {name} fit no instrument of this run: {}{}; there are {}{}",
            idle.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", "),
            more(idle.len()),
            symbols.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", "),
            more(symbols.len()),
        )
    })
}

/// Lines, from 1, at which the rows of a table begin.
fn lines_of(text: &str, table: &str) -> Vec<usize> {
    let header = format!("[[{table}]]");
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| line.trim_start().starts_with(&header)).map(|(index, _)| index + 1).collect()
}

/// Instruments of a run, where the platform file itself says which.
fn known_symbols(config: &PlatformConfig) -> Vec<String> {
    match config.md.source {
        MarketSource::Sim => (1..=config.md.instruments).map(|number| format!("SIM{number:03}")).collect(),
        // Names of these may lack their market, or be a recording's own.
        MarketSource::Sse | MarketSource::Recording | MarketSource::Exchange => Vec::new(),
        _ => config.md.symbols.clone(),
    }
}

/// What [`idle_rows`] says before a run.
pub(crate) fn idle_rows_before(config: &PlatformConfig) -> Option<String> {
    let symbols = known_symbols(config);
    let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
    idle_rows(config.md.instruments_file.as_deref()?, &symbols)
}

/// Lowest and highest price, on the tick.
fn limits(contract: &ContractConfig, instrument: &Instrument) -> (Option<Price>, Option<Price>) {
    let part = contract.price_limit.filter(|_| instrument.reference_price.is_some()).map(|part| part.0);
    let around = |sign: i128| {
        let reference = i128::from(instrument.reference_price.0);
        let away = part.map(|part| reference + sign * (reference.abs() * part / Decimal::ONE))?;
        let tick = i128::from(instrument.tick.0.max(1));
        // Towards the reference: the limit itself may be traded at.
        let on_tick = if sign < 0 {
            away.div_euclid(tick) + i128::from(away.rem_euclid(tick) != 0)
        } else {
            away.div_euclid(tick)
        };
        i64::try_from(on_tick * tick).ok().map(Price)
    };
    let low = contract.price_low.and_then(Decimal::price).or_else(|| around(-1));
    let high = contract.price_high.and_then(Decimal::price).or_else(|| around(1));
    (low, high)
}

/// Whether accounts know what this money is worth.
pub(crate) fn has_rate(desk: &DeskConfig, name: &str) -> bool {
    desk.currency == name || desk.currencies.iter().any(|row| row.name == name)
}

/// Whether a name begins as a row says: `?` is any character, `#` a digit.
fn fits(pattern: &str, symbol: &str) -> bool {
    let mut letters = symbol.chars();
    pattern.chars().all(|wanted| match (wanted, letters.next()) {
        (_, None) => false,
        ('?', Some(_)) => true,
        ('#', Some(letter)) => letter.is_ascii_digit(),
        (wanted, Some(letter)) => wanted == letter,
    })
}

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, Symbol};

    use super::*;

    fn listed(symbol: &str, tick: &str, reference: &str) -> Instrument {
        Instrument {
            id: InstrumentId(1),
            reserved: 0,
            symbol: Symbol::new(symbol).unwrap(),
            tick: tick.parse().unwrap(),
            lot: Quantity(1),
            price_low: Price::NONE,
            price_high: Price::NONE,
            reference_price: reference.parse().unwrap(),
            max_quantity: Quantity(0),
            multiplier: 0,
            currency: Currency::EMPTY,
        }
    }

    fn config(source: MarketSource) -> PlatformConfig {
        let mut config = PlatformConfig::default();
        config.md.source = source;
        config
    }

    fn completed(market: &Market, symbol: &str, tick: &str) -> (Instrument, Option<String>) {
        let mut instrument = listed(symbol, tick, "100");
        let note = market.complete(&mut instrument);
        (instrument, note)
    }

    #[test]
    fn every_ready_set_is_read() {
        for set in ReadySet::ALL {
            ready(set).unwrap_or_else(|error| panic!("{set}: {error}"));
        }
    }

    #[test]
    fn the_sources_that_are_known_need_no_file() {
        let sse = Market::of(&config(MarketSource::Sse)).unwrap();
        assert!(sse.fees.is_empty(), "nobody asked for charges");
        let (stock, _) = completed(&sse, "600519.SH", "0.01");
        assert_eq!((stock.lot, stock.currency.as_str(), stock.contract()), (Quantity(100), "CNY", 1));
        assert_eq!(completed(&sse, "688981.SH", "0.01").0.lot, Quantity(1));
        let dbn = Market::of(&config(MarketSource::Dbn)).unwrap();
        let (future, _) = completed(&dbn, "ESH4", "0.25");
        assert_eq!((future.contract(), future.currency.as_str()), (50, "USD"));
        assert_eq!(completed(&dbn, "ESAB", "0.01").0.contract(), 1);
        assert_eq!(completed(&dbn, "ES", "0.01").0.contract(), 1);
        let sim = Market::of(&config(MarketSource::Sim)).unwrap();
        let (bounded, _) = completed(&sim, "SIM001", "0.03");
        assert_eq!(
            (bounded.price_low.to_string(), bounded.price_high.to_string()),
            ("80.01".into(), "120".into())
        );
    }

    #[test]
    fn of_each_key_the_nearest_that_says_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("instruments.toml");
        let text = "ready = \"shanghai-stock\"\n[[contracts]]\nsymbols = \"60\"\nlot = 10\n\
                    [[contracts]]\nmultiplier = 3\nlot = 7\n[[contracts]]\nsymbols = \"600519\"\nprice_high = \"200\"\n";
        std::fs::write(&path, text).unwrap();
        let mut config = config(MarketSource::Sse);
        config.md.instruments_file = Some(path.to_string_lossy().into_owned());
        config.desk.contracts = vec![ContractConfig { multiplier: Some(2), ..ContractConfig::default() }];
        let market = Market::of(&config).unwrap();
        let (stock, _) = completed(&market, "600519.SH", "0.01");
        assert_eq!((stock.contract(), stock.lot, stock.currency.as_str()), (2, Quantity(10), "CNY"));
        assert_eq!((stock.price_low, stock.price_high.to_string()), (Price::NONE, "200".to_owned()));
        assert_eq!(market.fee_rules().len(), 4, "the named set has its charges");
        config.desk.fees = vec![FeeConfig::default()];
        assert_eq!(Market::of(&config).unwrap().fees.len(), 1, "those of the desk take their place");
    }

    #[test]
    fn a_tick_that_is_given_holds_whatever_the_source_lists() {
        let market = Market::of(&config(MarketSource::Lobster)).unwrap();
        let (stock, note) = completed(&market, "PENY", "0.0001");
        assert_eq!((stock.tick.to_string(), note), ("0.01".to_owned(), None));
        assert_eq!(completed(&market, "AAPL", "0.05").0, completed(&market, "AAPL", "0.01").0);
    }

    #[test]
    fn a_limit_lies_around_the_reference_price_that_is_given_and_without_one_is_answered() {
        let mut config = config(MarketSource::Sse);
        let limit = |text: &str| text.parse().ok();
        config.desk.contracts =
            vec![ContractConfig { price_limit: limit("0.1"), ..ContractConfig::default() }];
        let mut stock = Instrument { reference_price: Price::NONE, ..listed("600519.SH", "0.01", "1") };
        let note = Market::of(&config).unwrap().complete(&mut stock).unwrap();
        assert!(note.contains("reference_price"), "{note}");
        assert_eq!((stock.price_low, stock.reference_price), (Price::NONE, Price::NONE));
        config.desk.contracts[0].reference_price = limit("20.05");
        assert_eq!(Market::of(&config).unwrap().complete(&mut stock), None);
        let said = [stock.price_low, stock.reference_price, stock.price_high].map(|price| price.to_string());
        assert_eq!(said, ["18.05", "20.05", "22.05"]);
    }

    #[test]
    fn rows_that_fit_no_instrument_are_named_with_line_and_symbols() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("instruments.toml");
        let text = "[[contracts]]\nsymbols = \"APPL\"\n[[contracts]]\nsymbols = \"A?P\"\n\
                    [[fees]]\ncharge = 1\n[[fees]]\nsymbols = \"IBM\"\n";
        std::fs::write(&path, text).unwrap();
        let name = path.to_string_lossy().into_owned();
        let said = idle_rows(&name, &["AAPL", "MSFT"]).unwrap();
        assert!(
            said.ends_with("[[contracts]] in line 1 (APPL), [[fees]] in line 7 (IBM); there are AAPL, MSFT"),
            "{said}"
        );
        assert_eq!(idle_rows(&name, &["APPL", "IBM", "AAPL"]), None);
        assert_eq!(idle_rows("ready:cme-index", &["AAPL"]), None);
        let mut config = config(MarketSource::Lobster);
        config.md.instruments_file = Some(name);
        assert_eq!(idle_rows_before(&config), None, "nobody knows which there are");
        config.md.symbols = vec!["AAPL".to_owned()];
        assert!(idle_rows_before(&config).unwrap().ends_with("there are AAPL"));
    }

    #[test]
    fn a_wrong_file_is_shown_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("instruments.toml");
        std::fs::write(&path, "[[contracts]]\nsymbols = \"60\"\nmultipler = 50\nlot = 0\n").unwrap();
        let mut config = config(MarketSource::Sse);
        config.md.instruments_file = Some(path.to_string_lossy().into_owned());
        let error = Market::of(&config).unwrap_err().to_string();
        assert!(
            error.contains("instruments.toml:3") && error.contains("did you mean `multiplier`?"),
            "{error}"
        );
        assert!(error.contains("instruments.toml:4"), "{error}");
        let text = "[[contracts]]\nsymbols = \"A\"\ntick = \"0\"\nprice_limit = \"1.5\"\n";
        std::fs::write(&path, text).unwrap();
        let error = Market::of(&config).unwrap_err().to_string();
        assert!(error.contains("a step above zero") && error.contains("less than 1"), "{error}");
        std::fs::write(&path, "[[contracts]]\nsymbols = \"A\"\nprice_low = \"5\"\nprice_high = \"4\"\n")
            .unwrap();
        let error = Market::of(&config).unwrap_err().to_string();
        assert!(error.contains("of A, price_low = 5 lies above price_high = 4"), "{error}");
        for (text, line, words) in [
            ("[[fees]]\nper_lot = \"-0.1\"\n", 2, "an amount of 0 or more: there are no negative charges"),
            ("[[fees]]\nminimum = \"-5\"\n", 2, "an amount of 0 or more"),
            ("[[fees]]\nunit = \"-0.01\"\n", 2, "an amount of 0 or more"),
            ("[[fees]]\nrate = \"-0.1\"\n", 2, "0 or more and less than 1"),
            ("[[fees]]\nrate = \"1\"\n", 2, "a part of what the fills are worth"),
            ("[[margins]]\nlong = \"-0.1\"\n", 2, "a part of what the position is worth"),
            ("[[fees]]\nsymbols = \"ES?#\"\n", 2, "[[fees]] has no `?` and `#`"),
            ("[[fees]]\nsymbols = \"A-NAME-OF-MORE-THAN-24-LETTERS\"\n", 2, "longer than a symbol can be"),
            (
                "[[contracts]]\nsymbols = \"A\"\n[[contracts]]\nsymbols = \"A\"\n",
                3,
                "two rows of [[contracts]] for A: which one?",
            ),
            (
                "[[fees]]\nsymbols = \"AAPL\"\n[[fees]]\nsymbols = \"AAPL\"\nside = \"buy\"\n",
                3,
                "two rows of charge 1 for AAPL, buy: which one?",
            ),
            (
                "[[fees]]\nevent = \"open\"\n[[fees]]\nliquidity = \"maker\"\n",
                3,
                "all instruments, open, maker",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Market::of(&config).unwrap_err().to_string();
            assert!(error.contains(&format!("instruments.toml:{line}")) && error.contains(words), "{error}");
            if text.matches("[[").count() > 1 {
                assert!(error.contains("the first of them"), "both lines: {error}");
            }
        }
        let apart = "[[fees]]\nside = \"buy\"\n[[fees]]\nside = \"sell\"\nliquidity = \"maker\"\n\
                     [[fees]]\nside = \"sell\"\nliquidity = \"taker\"\n[[fees]]\nsymbols = \"A\"\n\
                     [[fees]]\ncharge = 2\n[[fees]]\naccount = 7\n";
        std::fs::write(&path, apart).unwrap();
        assert_eq!(Market::of(&config).unwrap().fees.len(), 6);
        config.md.instruments_file = Some("ready:nasdaq".to_owned());
        assert!(Market::of(&config).unwrap_err().to_string().contains("no ready set `nasdaq`"));
    }
}
