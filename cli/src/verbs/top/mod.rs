//! `colo top`: what all nodes and journals of an instance are doing, as rates.

pub(crate) mod args;
mod table;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use node::{Exit, StopFlag};
use observe::Watch;

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::screen::Screen;
use crate::verbs::instance;
use args::Top;

/// Between two looks whether the user has seen enough.
const TICK: Duration = Duration::from_millis(50);

pub(crate) fn top(arguments: &Top) -> Result<u8, Failure> {
    let view = instance::view(arguments.instance.name())?;
    let once = arguments.once || arguments.format == Format::Json || !std::io::stdout().is_terminal();
    let stop = StopFlag::install()?;
    let mut watch = Watch::new(view)?;
    if once {
        sleep(arguments.interval, &stop);
        let report = watch.look()?;
        match arguments.format {
            Format::Json => output::print_json(&report)?,
            Format::Text => output::print(&table::text(&report, usize::MAX))?,
        }
        return Ok(Exit::Done.code());
    }
    let name = watch.view().instance().name().to_owned();
    if follow(&mut watch, arguments.interval, &stop)? {
        talk!("instance `{name}` is gone");
    }
    Ok(Exit::Done.code())
}

/// Draws until it is told to stop; true when the instance is gone.
fn follow(watch: &mut Watch, interval: Duration, stop: &StopFlag) -> Result<bool, Failure> {
    let screen = Screen::enter()?;
    // Something to look at before the first interval is over.
    let mut wait = interval.min(Duration::from_millis(250));
    loop {
        sleep(wait, stop);
        if stop.is_set() {
            return Ok(false);
        }
        if !watch.view().instance().registry().exists() {
            return Ok(true);
        }
        let report = match watch.look() {
            Ok(report) => report,
            // Its journals went while they were looked at.
            Err(_) if !watch.view().instance().registry().exists() => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        screen.draw(&table::text(&report, screen.size().1))?;
        wait = interval;
    }
}

fn sleep(time: Duration, stop: &StopFlag) {
    let end = Instant::now() + time;
    while !stop.is_set() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(TICK));
    }
}
