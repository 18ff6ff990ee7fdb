//! A file of accounts.

use std::path::Path;

use super::{deposit_fault, name_fault};
use crate::config::{AccountConfig, Decimal};

/// What spreadsheets write before the first column.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a file of accounts: CSV, the first line names the columns, those of `[[accounts]]` and of its limits.
///
/// # Errors
/// What is wrong, with the line.
pub fn read_accounts(path: &Path) -> Result<Vec<AccountConfig>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text).map_err(|fault| match fault {
        (0, what) => format!("{}: {what}", path.display()),
        (line, what) => format!("{}:{line}: {what}", path.display()),
    })
}

/// The accounts, or what is wrong and in which line; 0: in none.
fn parse(text: &str) -> Result<Vec<AccountConfig>, (usize, String)> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut lines =
        (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (first, header) = lines.next().ok_or_else(|| (0, "it is empty".to_owned()))?;
    // What is left of a line may be a smaller number, and still a good one.
    if !text.ends_with('\n') {
        let what = "the last line has no line end: is the file cut? Give it one if the line is whole";
        return Err((text.lines().count(), what.to_owned()));
    }
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    if !columns.contains(&"number") {
        return Err((first, "the first line names the columns, and `number` among them".to_owned()));
    }
    for (index, column) in columns.iter().enumerate() {
        if !column.is_empty() && columns[..index].contains(column) {
            return Err((first, format!("the column `{column}` is there twice: leave one of them out")));
        }
    }
    let mut accounts = Vec::new();
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != columns.len() {
            return Err((number, format!("{} cells, and {} columns", cells.len(), columns.len())));
        }
        let mut account = AccountConfig::default();
        for (column, cell) in columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            set(&mut account, column, cell).map_err(|what| (number, format!("{column}: {what}")))?;
        }
        if account.number == 0 {
            return Err((number, "number: an account has a number, from 1 to 1048576".to_owned()));
        }
        accounts.push(account);
    }
    Ok(accounts)
}

fn set(account: &mut AccountConfig, column: &str, cell: &str) -> Result<(), String> {
    fn number<T: std::str::FromStr>(cell: &str) -> Result<T, String> {
        cell.parse().map_err(|_| format!("`{cell}` is no number that fits"))
    }
    fn word<T: serde::de::DeserializeOwned>(cell: &str) -> Result<T, String> {
        serde_json::from_value(serde_json::Value::String(cell.to_owned())).map_err(|error| error.to_string())
    }
    let limits = &mut account.limits;
    match column {
        "number" => {
            account.number = number(cell)
                .ok()
                .filter(|number| (1..=1 << 20).contains(number))
                .ok_or_else(|| format!("`{cell}` is no number from 1 to 1048576"))?
        }
        "name" => match name_fault(cell) {
            Some(what) => return Err(what),
            None => account.name = Some(cell.to_owned()),
        },
        "kind" => account.kind = word(cell)?,
        "method" => account.method = word(cell)?,
        "group" => account.group = number(cell)?,
        "parent" => account.parent = number(cell)?,
        "currency" => account.currency = Some(cell.to_owned()),
        "deposit" => {
            let deposit: Decimal = cell.parse()?;
            match deposit_fault(deposit) {
                Some(what) => return Err(what),
                None => account.deposit = deposit,
            }
        }
        "position" => limits.position = Some(number(cell)?),
        "gross_notional" => limits.gross_notional = Some(cell.parse()?),
        "order_quantity" => limits.order_quantity = Some(number(cell)?),
        "order_notional" => limits.order_notional = Some(cell.parse()?),
        "order_rate" => limits.order_rate = Some(cell.parse()?),
        "message_rate" => limits.message_rate = Some(cell.parse()?),
        "open_orders" => limits.open_orders = Some(number(cell)?),
        "loss" => limits.loss = Some(cell.parse()?),
        "reject_rate" => limits.reject_rate = Some(cell.parse()?),
        "runaway_rate" => limits.runaway_rate = Some(cell.parse()?),
        "margin_call" => limits.margin_call = Some(cell.parse()?),
        "forced_liquidation" => limits.forced_liquidation = Some(cell.parse()?),
        _ => return Err("there is no such column; see [[accounts]] in the platform file's schema".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DeskConfig;
    use crate::desk::{MOST_AMOUNT, rehearse};

    fn numbers(text: &str) -> Vec<u32> {
        parse(text).unwrap().iter().map(|account| account.number).collect()
    }

    #[test]
    fn a_file_from_a_spreadsheet_is_read() {
        assert_eq!(numbers("\u{feff}number,deposit\r\n7,5\r\n\r\n8,\r\n"), [7, 8]);
        assert_eq!(numbers("# of today\nnumber,,\n7,,\n"), [7]);
        assert_eq!(numbers(&format!("number,deposit\n7,{}\n", Decimal(MOST_AMOUNT))), [7]);
    }

    #[test]
    fn what_would_open_other_accounts_than_were_meant_is_refused_with_its_line() {
        let too_much = format!("number,deposit\n7,5\n8,{}\n", Decimal(MOST_AMOUNT + 1));
        let long = format!("number,name\n7,{}\n8,{}\n", "x".repeat(32), "x".repeat(33));
        for (text, line, word) in [
            ("number,deposit,deposit\n7,5,500\n", 1, "the column `deposit` is there twice"),
            ("# of today\nnumber, number\n7,8\n", 2, "the column `number` is there twice"),
            ("number,deposit\n7,5\n8,100", 3, "is the file cut?"),
            ("number", 1, "is the file cut?"),
            (too_much.as_str(), 3, "larger than a booking can be"),
            ("number,deposit\n7,-5\n", 2, "is negative"),
            (long.as_str(), 3, "longer than 32 bytes"),
            ("number,name\n7,ho\u{1b}[2Juse\n", 2, "control character"),
            ("", 0, "it is empty"),
        ] {
            let (at, what) = parse(text).unwrap_err();
            assert!(at == line && what.contains(word), "{text:?}: {at}: {what}");
        }
    }

    #[test]
    fn the_accounts_of_a_platform_file_are_held_to_the_same() {
        let good = AccountConfig { number: 7, name: Some("ä".repeat(16)), ..AccountConfig::default() };
        assert_eq!(rehearse(&DeskConfig::default(), std::slice::from_ref(&good)), Ok(()));
        let name = |name: &str| AccountConfig { name: Some(name.to_owned()), ..good.clone() };
        let deposit = |units: i128| AccountConfig { deposit: Decimal(units), ..good.clone() };
        for (account, path, word) in [
            (name(&"x".repeat(33)), "accounts.0.name", "longer than 32 bytes"),
            (name("two\nlines"), "accounts.0.name", "control character"),
            (deposit(MOST_AMOUNT + 1), "accounts.0.deposit", "larger than a booking"),
            (deposit(-1), "accounts.0.deposit", "negative"),
        ] {
            let fault = rehearse(&DeskConfig::default(), &[account]).unwrap_err();
            assert!(fault.path == path && fault.message.contains(word), "{fault:?}");
        }
    }
}
