//! One strategy alone.

use std::env;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use node::{Exit, StopFlag};
use recorder::read::Recording;
use replay::{Difference, Input, Options, Outcome, Verdict};
use serde_json::{Map, Value, json};
use topology::config::Speed;
use wire::{AnyMessage, Request};

use super::args::Replay;
use crate::failure::Failure;
use crate::message::{brief, object_of};
use crate::output::{self, Format, count};

pub(super) fn replay(arguments: &Replay, strategy: &str, recording: &Recording) -> Result<u8, Failure> {
    let stop = StopFlag::install()?;
    let options = Options {
        strategy: strategy.to_owned(),
        from: arguments.from,
        to: arguments.to,
        instance: super::instance(arguments, &recording.description().instance),
        colo: env::current_exe()?,
        program: arguments.program.clone(),
        parameters: arguments.parameters.iter().cloned().collect(),
        speed: match arguments.speed {
            Speed::Times(factor) => Some(factor),
            Speed::Word(_) => None,
        },
        check: arguments.check,
    };
    let mut is_interrupted = false;
    let outcome = replay::replay(recording, &options, || {
        is_interrupted |= stop.is_set();
        !is_interrupted
    })?;
    if is_interrupted {
        return Err(super::interrupted());
    }
    if let Some(file) = &arguments.orders {
        write(file, &outcome.requests).map_err(Failure::system("write", file))?;
    }
    match arguments.format {
        Format::Json => output::print_json(&object(strategy, recording, &outcome))?,
        Format::Text => output::print(&text(strategy, &outcome))?,
    }
    let exit = match outcome.verdict {
        Verdict::Differs if arguments.check => Exit::CheckFailed,
        Verdict::Inconclusive if arguments.check => Exit::Inconclusive,
        _ => Exit::Done,
    };
    Ok(exit.code())
}

fn write(file: &Path, requests: &[Request]) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for request in requests {
        writeln!(out, "{}", Value::Object(object_of(&message(request))))?;
    }
    out.flush()
}

fn message(request: &Request) -> AnyMessage {
    match *request {
        Request::New(order) => AnyMessage::NewOrder(order),
        Request::Cancel(cancel) => AnyMessage::CancelOrder(cancel),
        Request::Replace(replace) => AnyMessage::ReplaceOrder(replace),
        Request::CancelAll(cancel) => AnyMessage::CancelAll(cancel),
    }
}

fn name_of(request: &Request) -> &'static str {
    match request {
        Request::New(_) => "NewOrder",
        Request::Cancel(_) => "CancelOrder",
        Request::Replace(_) => "ReplaceOrder",
        Request::CancelAll(_) => "CancelAll",
    }
}

fn said(request: &Request) -> Value {
    json!({ "message": name_of(request), "fields": object_of(&message(request)) })
}

/// Names of the fields that are not the same.
fn fields(difference: &Difference) -> Vec<String> {
    let (Some((_, live)), Some(replayed)) = (&difference.live, &difference.replayed) else {
        return Vec::new();
    };
    if name_of(live) != name_of(replayed) {
        return vec!["message".to_owned()];
    }
    let (live, replayed): (Map<_, _>, Map<_, _>) = (object_of(&message(live)), object_of(&message(replayed)));
    live.iter()
        .filter(|(name, value)| replayed.get(*name) != Some(value))
        .map(|(name, _)| name.clone())
        .collect()
}

fn input(given: &Input) -> Value {
    let fields = AnyMessage::decode(given.message_id, &given.payload).map(|message| object_of(&message));
    json!({
        "journal": given.journal,
        "position": given.position,
        "time_ns": given.time,
        "message_id": given.message_id,
        "topic": given.topic,
        "fields": fields.ok(),
    })
}

fn object(strategy: &str, recording: &Recording, outcome: &Outcome) -> Value {
    let difference = outcome.difference.as_ref().map(|difference| {
        json!({
            "number": difference.number,
            "live_time_ns": difference.live.map(|(time, _)| time),
            "live": difference.live.as_ref().map(|(_, request)| said(request)),
            "replayed": difference.replayed.as_ref().map(said),
            "fields": fields(difference),
            "inputs": difference.inputs.iter().map(input).collect::<Vec<_>>(),
            "more_inputs": difference.more_inputs,
        })
    });
    json!({
        "recording": output::path(recording.folder()),
        "strategy": strategy,
        "frames": outcome.frames.values().sum::<u64>(),
        "journals": outcome.frames,
        "requests": outcome.requests.len(),
        "live_requests": outcome.live,
        "same_requests": outcome.same,
        "identical": outcome.difference.is_none(),
        "verdict": outcome.verdict.as_str(),
        "moved_frames": outcome.moved,
        "difference": difference,
        "caveats": outcome.caveats,
    })
}

fn text(strategy: &str, outcome: &Outcome) -> String {
    let frames: u64 = outcome.frames.values().sum();
    let mut text = format!(
        "{strategy}: {} given, {} sent; live it sent {}\n",
        count(frames, "frame"),
        count(outcome.requests.len() as u64, "request"),
        output::number(outcome.live)
    );
    match &outcome.difference {
        None => text.push_str("the requests are the same as live\n"),
        Some(difference) => text.push_str(&of_difference(difference)),
    }
    if outcome.moved > 0 {
        text.push_str(&format!(
            "{} handed over earlier or later than the recording's times say, within 5 ms: so more requests are the same\n",
            count(outcome.moved, "frame")
        ));
    }
    if outcome.verdict == Verdict::Inconclusive {
        text.push_str(
            "inconclusive: reports were read when they were on disk, and in which order with the frames around them was not \
             recorded; none of the orders that were tried gives the same requests\n",
        );
    }
    for caveat in &outcome.caveats {
        text.push_str(&format!("note: {caveat}\n"));
    }
    text
}

fn of_difference(difference: &Difference) -> String {
    let say = |request: Option<&Request>| request.map_or("nothing".to_owned(), |it| brief(&message(it)));
    let mut text = format!(
        "request {} is the first that is not the same\n  live:     {}\n  replayed: {}\n",
        difference.number,
        say(difference.live.as_ref().map(|(_, request)| request)),
        say(difference.replayed.as_ref())
    );
    let fields = fields(difference);
    if !fields.is_empty() {
        text.push_str(&format!("  differs in {}\n", fields.join(", ")));
    }
    text.push_str("  given since the request before:\n");
    if difference.more_inputs > 0 {
        text.push_str(&format!("    … {} before these\n", count(difference.more_inputs, "frame")));
    }
    for given in &difference.inputs {
        let said = match AnyMessage::decode(given.message_id, &given.payload) {
            Ok(message) => brief(&message),
            Err(error) => error.to_string(),
        };
        text.push_str(&format!("    {} at {}: {said}\n", given.journal, given.position));
    }
    text
}
