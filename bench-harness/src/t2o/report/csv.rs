//! The figures as CSV, one line for each cell and stage.

use std::fmt::Write;

use wire::stages::STAGES;

use crate::t2o::record::DURABLE;
use crate::t2o::result::Results;

pub(super) fn text(results: &Results) -> String {
    let mut text = String::from(
        "cell,group,load,rate,achieved_rate,runs,samples,lost,stage,mean_low_us,mean_high_us,mean_us,p50_us,p90_us,\
         p99_us,p999_us,max_us,pages,marked\n",
    );
    for cell in &results.cells {
        for name in STAGES.into_iter().chain([DURABLE]) {
            let Some(stage) = cell.stage(name) else { continue };
            let caveats: Vec<&str> =
                cell.marked.iter().filter_map(|caveat| caveat.split(':').next()).collect();
            let _ = writeln!(
                text,
                "{},{},{},{},{:.3},{},{},{},{name},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{:.3},{},{}",
                cell.name,
                cell.group,
                cell.load,
                cell.rate,
                cell.achieved_rate,
                cell.repeats,
                cell.samples,
                cell.lost,
                stage.mean_us[0],
                stage.mean_us[1],
                stage.all_mean_us,
                stage.p50_us,
                stage.p90_us,
                stage.p99_us,
                stage.p999_us,
                stage.max_us,
                cell.pages,
                caveats.join(" "),
            );
        }
    }
    text
}
