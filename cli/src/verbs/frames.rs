//! `colo journal tail`: frames, decoded.

use std::collections::VecDeque;
use std::time::Duration;

use journal::{Frame, LooseReader, ReadError, WriterState};
use node::StopFlag;
use serde_json::json;
use wire::AnyMessage;

use crate::failure::Failure;
use crate::output::{self, Format};

/// Between two looks for new frames.
const TICK: Duration = Duration::from_millis(10);

pub(crate) fn tail(
    name: &str,
    instance: Option<String>,
    lines: usize,
    follow: bool,
    format: Format,
) -> Result<u8, Failure> {
    let view = super::view(instance)?;
    if !view.instance().find_journal(name).control.exists() {
        return Err(super::journals::unknown_journal(name, &view));
    }
    let (journal, _) = view.journal(name)?;
    let mut reader = journal.observe(journal.oldest_frame()?)?;
    // What is there now; later frames belong to `--follow`, so that a busy writer cannot keep us here.
    let head = journal.head();
    let mut last: VecDeque<Line> = VecDeque::with_capacity(lines + 1);
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) => keep(&mut last, lines, Line::of(&frame)),
            Ok(None) => break,
            Err(ReadError::Lapped(gap)) => keep(&mut last, lines, Line::lost(gap.bytes(), gap.from)),
            Err(error) => return Err(Failure::new(node::Exit::Failed, format!("journal `{name}`: {error}"))),
        }
    }
    if format == Format::Json && !follow {
        let frames: Vec<_> = last.iter().map(Line::json).collect();
        output::print_json(&json!({ "journal": name, "head": head, "frames": frames }))?;
        return Ok(node::Exit::Done.code());
    }
    for line in &last {
        print(line, format)?;
    }
    if follow {
        followed(&mut reader, name, format)?;
    }
    Ok(node::Exit::Done.code())
}

fn keep(last: &mut VecDeque<Line>, lines: usize, line: Line) {
    last.push_back(line);
    if last.len() > lines {
        last.pop_front();
    }
}

fn followed(reader: &mut LooseReader, name: &str, format: Format) -> Result<(), Failure> {
    let stop = StopFlag::install()?;
    while !stop.is_set() {
        match reader.read() {
            Ok(Some(frame)) => print(&Line::of(&frame), format)?,
            Ok(None) => match reader.writer_state() {
                WriterState::Closed | WriterState::Dead(_) => {
                    eprintln!("the writer of `{name}` is gone");
                    return Ok(());
                }
                _ => std::thread::sleep(TICK),
            },
            Err(ReadError::Lapped(gap)) => print(&Line::lost(gap.bytes(), gap.from), format)?,
            Err(error) => return Err(Failure::new(node::Exit::Failed, format!("journal `{name}`: {error}"))),
        }
    }
    Ok(())
}

fn print(line: &Line, format: Format) -> Result<(), Failure> {
    match format {
        Format::Text => output::print(&line.text()),
        Format::Json => output::print(&line.json().to_string()),
    }
}

/// What is printed of one frame, or of a gap.
struct Line {
    position: u64,
    time: u64,
    topic: u32,
    message: Result<AnyMessage, String>,
}

impl Line {
    fn of(frame: &Frame<'_>) -> Line {
        Line {
            position: frame.position,
            time: frame.time,
            topic: frame.topic,
            message: AnyMessage::decode(frame.message_id, frame.payload).map_err(|error| error.to_string()),
        }
    }

    fn lost(bytes: u64, position: u64) -> Line {
        Line { position, time: 0, topic: 0, message: Err(format!("{bytes} bytes were overwritten")) }
    }

    fn text(&self) -> String {
        let message = match &self.message {
            Ok(message) => brief(message),
            Err(error) => format!("! {error}"),
        };
        format!(
            "{:>12}  {}.{:09}  {message}",
            self.position,
            self.time / 1_000_000_000,
            self.time % 1_000_000_000
        )
    }

    fn json(&self) -> serde_json::Value {
        match &self.message {
            Ok(message) => json!({
                "position": self.position,
                "time_ns": self.time,
                "topic": self.topic,
                "message": message.name(),
                "text": brief(message),
            }),
            Err(error) => {
                json!({ "position": self.position, "time_ns": self.time, "topic": self.topic, "error": error })
            }
        }
    }
}

/// A message on one line, with what a person looks for first.
fn brief(message: &AnyMessage) -> String {
    match message {
        AnyMessage::Instrument(m) => {
            format!("Instrument {} {} tick {} lot {}", m.id, m.symbol, m.tick, m.lot)
        }
        AnyMessage::Quote(m) => {
            let side = |level: Option<wire::Level>| {
                level.map_or("-".to_owned(), |level| format!("{}×{}", level.price, level.quantity))
            };
            format!(
                "Quote instrument {} bid {} ask {} last {} #{}",
                m.instrument,
                side(m.best_bid()),
                side(m.best_ask()),
                m.last_price,
                m.sequence
            )
        }
        AnyMessage::TradePrint(m) => {
            format!(
                "TradePrint instrument {} {}×{} {} #{}",
                m.instrument, m.price, m.quantity, m.aggressor, m.sequence
            )
        }
        AnyMessage::BookEvent(m) => format!(
            "BookEvent instrument {} {} {} order {} {}×{} #{}",
            m.instrument, m.action, m.side, m.order_ref, m.price, m.quantity, m.sequence
        ),
        AnyMessage::NewOrder(m) => format!(
            "NewOrder {} instrument {} {} {} {}×{} {} caused by {}@{}",
            m.order_id,
            m.instrument,
            m.side,
            m.order_type,
            m.price,
            m.quantity,
            m.time_in_force,
            m.cause.journal,
            m.cause.position
        ),
        AnyMessage::CancelOrder(m) => format!("CancelOrder {} instrument {}", m.order_id, m.instrument),
        AnyMessage::ReplaceOrder(m) => {
            format!("ReplaceOrder {} instrument {} {}×{}", m.order_id, m.instrument, m.price, m.quantity)
        }
        AnyMessage::OrderUpdate(m) => format!(
            "OrderUpdate {} {} ({}) filled {} of {}, {} working",
            m.order_id, m.status, m.reason, m.filled, m.quantity, m.remaining
        ),
        AnyMessage::Fill(m) => {
            format!(
                "Fill {} {} {}×{} {}, {} working",
                m.order_id, m.side, m.price, m.quantity, m.liquidity, m.remaining
            )
        }
        other => format!("{other:?}"),
    }
}
