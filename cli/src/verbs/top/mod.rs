//! `colo top`: what all nodes and journals of an instance are doing, as rates.

pub(crate) mod args;
mod columns;
mod table;
mod view;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use node::{Exit, StopFlag};
use observe::Watch;

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::screen::{Key, Screen};
use crate::verbs::instance;
use args::Top;
use view::{Extent, View};

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
            Format::Text => output::print(&table::text(&report))?,
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
    let (mut view, mut extent) = (View::default(), Extent::default());
    let mut report = None;
    // Something to look at before the first interval is over.
    let mut next = Instant::now() + interval.min(Duration::from_millis(250));
    while !stop.is_set() {
        let left = next.saturating_duration_since(Instant::now());
        match screen.key(left.min(TICK))? {
            Some(Key::Quit) => return Ok(false),
            Some(key) => view.press(key, extent),
            None if Instant::now() < next => continue,
            None => {
                if !watch.view().instance().registry().exists() {
                    return Ok(true);
                }
                report = match watch.look() {
                    Ok(report) => Some(report),
                    // Its journals went while they were looked at.
                    Err(_) if !watch.view().instance().registry().exists() => return Ok(true),
                    Err(error) => return Err(error.into()),
                };
                next = Instant::now() + interval;
            }
        }
        if let Some(report) = &report {
            let (text, now) = table::drawn(report, &view, screen.size());
            extent = now;
            screen.draw(&text)?;
        }
    }
    Ok(false)
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
