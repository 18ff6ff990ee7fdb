//! `colo down`.

use crate::args::Down;
use crate::failure::Failure;
use crate::verbs::report;

pub(crate) fn down(arguments: &Down) -> Result<u8, Failure> {
    node::start_log();
    let name = super::instance::name(&arguments.instance)?;
    let report = launcher::attach(&name)?.finish()?;
    report::print(&report, arguments.format)?;
    talk!("instance `{name}` is down");
    Ok(node::Exit::Done.code())
}
