//! The times of a real run, from its t2o.csv.

use std::path::Path;

use topology::config::LatencyStage;

/// Longest delay, as in the platform file.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// All delays of a stage, in the file's order.
pub(super) fn read(path: &Path, stage: LatencyStage) -> Result<Vec<u64>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    parse(&text, stage).map_err(|why| format!("{}: {why}", path.display()))
}

fn parse(text: &str, stage: LatencyStage) -> Result<Vec<u64>, String> {
    let (from, to) = match stage {
        LatencyStage::T2o => ("published_ns", "taken_ns"),
        LatencyStage::Md => ("published_ns", "received_ns"),
        LatencyStage::Order => ("ordered_ns", "taken_ns"),
    };
    let mut rows = text.lines();
    let columns: Vec<&str> = rows.next().unwrap_or_default().split(',').collect();
    let place = |name| {
        let found = columns.iter().position(|column| *column == name);
        found.ok_or_else(|| format!("its first line names no column `{name}`: it is no t2o.csv of a run"))
    };
    let (from, to) = (place(from)?, place(to)?);
    let mut delays = Vec::new();
    for (number, row) in rows.enumerate() {
        let cells: Vec<&str> = row.split(',').collect();
        if cells.len() != columns.len() {
            return Err(format!("line {} has {} columns, not {}", number + 2, cells.len(), columns.len()));
        }
        let (from, to) = (cells[from], cells[to]);
        if from.is_empty() || to.is_empty() {
            continue;
        }
        match (from.parse::<u64>(), to.parse::<u64>()) {
            (Ok(from), Ok(to)) if from <= to && to - from <= LONGEST_NS => delays.push(to - from),
            (Ok(from), Ok(to)) if from <= to => {
                let seconds = (to - from) / 1_000_000_000;
                return Err(format!("line {}: {seconds} s is more than a delay can be: 1h", number + 2));
            }
            _ => return Err(format!("line {}: from {from} to {to} is no delay", number + 2)),
        }
    }
    if delays.is_empty() { Err("it has no order with both times".to_owned()) } else { Ok(delays) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "order_id,strategy,due_ns,published_ns,received_ns,ordered_ns,taken_ns\n";

    #[test]
    fn each_stage_is_taken_from_its_own_columns() {
        let text =
            format!("{HEAD}5-1-1,takers-1,,1000,1020,1050,1100\n5-1-2,takers-1,,2000,2010,2030,2040\n");
        assert_eq!(parse(&text, LatencyStage::T2o), Ok(vec![100, 40]));
        assert_eq!(parse(&text, LatencyStage::Md), Ok(vec![20, 10]));
        assert_eq!(parse(&text, LatencyStage::Order), Ok(vec![50, 10]));
    }

    #[test]
    fn a_file_that_is_no_t2o_or_is_cut_is_refused() {
        let refused = |text: &str| parse(text, LatencyStage::T2o).unwrap_err();
        assert!(refused("a,b\n1,2\n").contains("published_ns"));
        assert!(refused("").contains("published_ns"));
        assert!(refused(HEAD).contains("no order"));
        assert!(refused(&format!("{HEAD}5-1-1,takers-1,,1000,10")).contains("line 2 has 5 columns"));
        assert!(refused(&format!("{HEAD}5-1-1,takers-1,,1000,1020,1050,900\n")).contains("no delay"));
        let long = format!("{HEAD}5-1-1,takers-1,,1000,1020,1050,3600000001001\n");
        assert!(refused(&long).contains("line 2: 3600 s is more than a delay can be: 1h"));
        let hour = format!("{HEAD}5-1-1,takers-1,,1000,1020,1050,3600000001000\n");
        assert_eq!(parse(&hour, LatencyStage::T2o), Ok(vec![3_600_000_000_000]));
        let without = format!("{HEAD}5-1-1,takers-1,,,1020,1050,1100\n");
        assert!(refused(&without).contains("no order"));
    }
}
