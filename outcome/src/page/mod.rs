//! One HTML page of a run: it needs nothing else, and stays small however long the run was.

mod gather;
mod plot;
mod thin;

use std::path::Path;

use self::gather::{Gathered, gather, number};
use self::plot::{Picture, Series, escape};
use crate::shelf::ShelfError;

/// How pages look: light and dark, wide and narrow.
pub const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Rows of a table of strategies.
const MOST_ROWS: usize = 500;

/// The page of the run in this folder.
///
/// # Errors
/// [`ShelfError`] when its files cannot be read.
pub fn page(folder: &Path) -> Result<String, ShelfError> {
    let all = gather(folder)?;
    let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut body = header(folder, &all, &name);
    pictures(&all, &mut body);
    body.push_str(&strategies(&all));
    body.push_str(&latency(&all));
    body.push_str(&refused(&all));
    body.push_str(&losses(&all));
    body.push_str(&facts(&all));
    Ok(format!(
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{} – colo</title>\n\
         <style>\n{STYLE}</style>\n<body>\n<a class=skip href=\"#strategies\">To the table of strategies</a>\n\
         <main>\n{body}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&name)
    ))
}

fn header(folder: &Path, all: &Gathered, name: &str) -> String {
    let manifest = &all.manifest;
    let mode = match manifest.mode {
        crate::Mode::OneProcess => "lock-step in one process",
        crate::Mode::LockStep => "lock-step over processes",
        crate::Mode::Live => "live",
    };
    let mut text = format!(
        "<header><h1>{}</h1>\n<p class=lead>{}, {mode}, started {}</p>\n",
        escape(name),
        escape(&manifest.instance),
        escape(&manifest.started)
    );
    if manifest.state != crate::RunState::Finished {
        note(
            &mut text,
            &format!("This run is {}: what is shown is what had been written.", manifest.state_word(folder)),
        );
    }
    for missed in &manifest.missed {
        let why =
            missed.error.clone().unwrap_or_else(|| format!("{} bytes were overwritten unread", missed.bytes));
        note(&mut text, &format!("The files lack a part of {}: {why}.", missed.journal));
    }
    manifest.problems.iter().for_each(|problem| note(&mut text, problem));
    for fault in &all.faults {
        note(&mut text, &format!("This folder is not as the run left it: {fault}."));
    }
    match all.damaged {
        0 => {}
        1 => note(&mut text, "1 row is cut off and left out."),
        rows => note(&mut text, &format!("{rows} rows are cut off and left out.")),
    }
    let Some(report) = &manifest.report else { return text + "</header>\n" };
    for node in report.failed_nodes() {
        let reason = node.reason.clone().unwrap_or_else(|| "it left no words".to_owned());
        note(&mut text, &format!("Node {} failed: {reason}", node.name));
    }
    report.caveats.iter().for_each(|caveat| note(&mut text, caveat));
    let pnl = report.pnl();
    let drawdown = all.drawdown.iter().map(|point| point.1).fold(0.0, f64::min);
    let class = if pnl < 0.0 { "down" } else { "up" };
    let drawdown = if all.drawdown.is_empty() { "–".to_owned() } else { format!("{drawdown:.2}") };
    let tiles = [
        (format!("<b class={class}>{pnl:.2}</b>"), "profit and loss"),
        (format!("<b>{drawdown}</b>"), "largest drawdown, of the samples"),
        (format!("<b>{}</b>", thousands(report.totals.requests.orders)), "orders"),
        (format!("<b>{}</b>", thousands(report.totals.requests.rejected)), "of them rejected"),
        (format!("<b>{}</b>", thousands(report.totals.fills)), "fills"),
        (format!("<b>{}</b>", thousands(report.totals.quotes)), "quotes"),
    ];
    let tiles: String =
        tiles.iter().map(|(value, what)| format!("<li>{value}<span>{what}</span></li>")).collect();
    text + &format!("<ul class=tiles>{tiles}</ul></header>\n")
}

/// A picture of nothing yet.
fn base<'a>(all: &Gathered, title: &'a str, about: &'a str, height: f64) -> Picture<'a> {
    Picture {
        title,
        about,
        begin: all.begin,
        length: all.length,
        height,
        series: Vec::new(),
        area: false,
        bought: &[],
        sold: &[],
    }
}

fn pictures(all: &Gathered, body: &mut String) {
    let rest = match all.without_line {
        0 => String::new(),
        rest => format!(" {rest} more strategies have no line of their own."),
    };
    // A recorded day has its exchange's clock, in whatever zone that is.
    let time =
        if all.manifest.deterministic { "the market's own clock" } else { "the platform's clock (UTC)" };
    let total = Series { name: "all", points: &all.total, colour: 0, is_step: true };
    let lines = all.lines.iter().enumerate().map(|(index, line)| Series {
        name: &line.name,
        points: &line.equity,
        colour: index + 1,
        is_step: true,
    });
    let currencies = all.manifest.report.as_ref().map_or(&[][..], |report| &report.currencies);
    let money = match currencies {
        [] => "the currency".to_owned(),
        [one] => one.clone(),
        several => format!("{}, added up one to one", several.join(" and ")),
    };
    let about = format!("Realised and unrealised profit and loss in {money}, without fees, by {time}.{rest}");
    let mut equity = base(all, "Equity", &about, 280.0);
    equity.series = std::iter::once(total).chain(lines.filter(|_| all.lines.len() > 1)).collect();
    body.push_str(&equity.figure());
    let mut drawdown =
        base(all, "Drawdown", "Below the highest equity of all strategies together so far.", 160.0);
    drawdown.area = true;
    drawdown.series = vec![Series { name: "drawdown", points: &all.drawdown, colour: 5, is_step: true }];
    body.push_str(&drawdown.figure());
    for (index, priced) in all.priced.iter().enumerate() {
        let title = format!("Fills on {}", priced.name);
        let left = match all.without_picture {
            0 => String::new(),
            left => format!(" {left} more instruments that traded have no picture."),
        };
        let about = format!(
            "Mid, or the last trade; {} fills, of which the lowest and highest of each stretch are marked.{}",
            thousands(priced.fills),
            if index + 1 == all.priced.len() { &left } else { "" }
        );
        let mut picture = base(all, &title, &about, 280.0);
        picture.series = vec![Series { name: "price", points: &priced.price, colour: 1, is_step: true }];
        (picture.bought, picture.sold) = (&priced.bought, &priced.sold);
        body.push_str(&picture.figure());
    }
    let about = format!("Sum over instruments, in shares or contracts.{rest}");
    let mut positions = base(all, "Positions", &about, 220.0);
    let lines = all.lines.iter().enumerate();
    positions.series = lines
        .map(|(index, line)| Series {
            name: &line.name,
            points: &line.position,
            colour: index + 1,
            is_step: true,
        })
        .collect();
    body.push_str(&positions.figure());
}

fn strategies(all: &Gathered) -> String {
    let (head, rows) = &all.strategies;
    let mut text = "<h2 id=strategies>Strategies</h2>\n".to_owned();
    if rows.is_empty() {
        return text
            + "<p class=source>There is no table of strategies: the run did not come to its end.</p>\n";
    }
    let shown = rows.iter().take(MOST_ROWS).map(|row| {
        let cells = head.iter().zip(row).enumerate().map(|(index, (name, cell))| match name.as_str() {
            _ if index == 0 || cell.is_empty() => cell.clone(),
            "fill_ratio" | "sharpe" => format!("{:.3}", number(cell)),
            "holding_s" => format!("{:.2}", number(cell)),
            "turnover" | "pnl" | "pnl_net" | "fees" | "realised" | "unrealised" | "max_drawdown" => {
                format!("{:.2}", number(cell))
            }
            _ => cell.clone(),
        });
        cells.collect()
    });
    let head: Vec<String> = head.iter().map(|name| name.replace('_', " ")).collect();
    text.push_str(&table(&head, 1, shown, "tall"));
    text.push_str(
        "<p class=source>Sharpe: mean over standard deviation of the change of equity per interval, with the number of intervals; \
         not annualised. Its standard error is about √((1 + S²/2) / n).</p>\n",
    );
    text
}

fn latency(all: &Gathered) -> String {
    let Some(report) = &all.manifest.report else { return String::new() };
    let mut text = "<h2>Latency</h2>\n".to_owned();
    let head = ["stage, µs", "n", "mean", "p50", "p90", "p99", "p99.9", "max"].map(str::to_owned);
    let rows = report.stages.stages.iter().filter(|(_, stage)| stage.n > 0).map(|(name, stage)| {
        let times = [stage.mean_us, stage.p50_us, stage.p90_us, stage.p99_us, stage.p999_us, stage.max_us];
        let mut row = vec![name.clone(), thousands(stage.n)];
        row.extend(times.map(|time| format!("{time:.1}")));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return text + "<p class=source>No order answered a quote.</p>\n";
    }
    text.push_str(&table(&head, 1, rows.into_iter(), ""));
    text.push_str(&plot::distribution(&all.times));
    text.push_str("<p class=source>Times of this host, also where the market's time is another: from md's commit to td's taking the order.</p>\n");
    text
}

fn refused(all: &Gathered) -> String {
    let mut text = "<h2>Refused, and why</h2>\n".to_owned();
    if all.refused.is_empty() {
        return text + "<p class=source>Nothing was refused.</p>\n";
    }
    let mut rows: Vec<_> = all.refused.iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let rows = rows.into_iter().take(MOST_ROWS).map(|((strategy, what, why), count)| {
        vec![strategy.clone(), (*what).to_owned(), why.clone(), thousands(*count)]
    });
    let head = ["strategy", "what", "why", "how often"].map(str::to_owned);
    text.push_str(&table(&head, 3, rows, "tall"));
    text
}

fn losses(all: &Gathered) -> String {
    let Some(report) = &all.manifest.report else { return String::new() };
    let mut text = "<h2>Lost</h2>\n".to_owned();
    if report.lost_by.is_empty() {
        return text + "<p class=source>No reader lost anything.</p>\n";
    }
    let head = ["reader", "journal", "bytes", "times overtaken", "messages given up"].map(str::to_owned);
    let rows = report.lost_by.iter().map(|lost| {
        let numbers = [lost.bytes, lost.gaps, lost.undelivered].map(thousands);
        [vec![lost.node.clone(), lost.journal.clone()], numbers.to_vec()].concat()
    });
    text.push_str(&table(&head, 2, rows, "tall"));
    text
}

fn facts(all: &Gathered) -> String {
    let manifest = &all.manifest;
    let mut rows = vec![
        vec!["colo".to_owned(), manifest.colo.clone()],
        vec!["source".to_owned(), manifest.source.clone()],
        vec!["platform file".to_owned(), manifest.platform.clone().unwrap_or_default()],
    ];
    rows.extend(manifest.seed.map(|seed| vec!["seed".to_owned(), seed.to_string()]));
    for file in &manifest.data {
        let hash = file.xxh3.as_deref().unwrap_or("no hash");
        let text = format!("{}, {} bytes, xxh3 {hash}", file.path.display(), thousands(file.bytes));
        rows.push(vec!["data".to_owned(), text]);
    }
    for (node, file) in &manifest.programs {
        let hash = file.xxh3.as_deref().unwrap_or("no hash");
        rows.push(vec![format!("program of {node}"), format!("{}, xxh3 {hash}", file.path.display())]);
    }
    if let Some(report) = &manifest.report {
        let rules = report.matched.rules.as_ref();
        rows.extend(rules.map(|rules| vec!["fills by".to_owned(), rules.written()]));
        let host = &report.host;
        rows.push(vec!["host".to_owned(), format!("{}, {} CPUs", host.cpu_model, host.cpus)]);
        rows.push(vec!["real time".to_owned(), format!("{:.1} s", report.seconds)]);
    }
    let rows = rows.into_iter().filter(|row| !row[1].is_empty());
    format!("<h2>Where it came from</h2>\n{}", table(&[], 2, rows, "facts"))
}

fn note(text: &mut String, words: &str) {
    text.push_str(&format!("<p class=note>{}</p>\n", escape(words)));
}

fn table(head: &[String], words: usize, rows: impl Iterator<Item = Vec<String>>, class: &str) -> String {
    let side = |index: usize| if index < words { " class=word" } else { "" };
    let row = |cells: &[String], tag: &str| -> String {
        let cell =
            |(index, cell): (usize, &String)| format!("<{tag}{}>{}</{tag}>", side(index), escape(cell));
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let head = if head.is_empty() { String::new() } else { format!("<thead>{}</thead>\n", row(head, "th")) };
    let rows: String = rows.map(|cells| row(&cells, "td")).collect();
    format!(
        "<div class=\"scroll {class}\" tabindex=0><table class=\"{class}\">\n{head}{rows}</table></div>\n"
    )
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
