//! Anything that ends a verb, with its exit code.

use std::io;
use std::path::Path;

use node::{Exit, JoinError, RunError};
use observe::ViewError;
use recorder::read::OpenError;
use recorder::recover::RecoverError;

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The platform file is wrong, or cannot be read.
    #[error("{0}; nothing was started")]
    Platform(#[from] settings::LoadError),
    #[error(transparent)]
    Launch(#[from] master_client::LaunchError),
    #[error(transparent)]
    Master(#[from] master::MasterError),
    #[error(transparent)]
    Backtest(#[from] backtest::BacktestError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Open(#[from] journal::OpenError),
    #[error(transparent)]
    BenchIpc(#[from] bench_harness::ipc::IpcError),
    #[error(transparent)]
    T2o(#[from] bench_harness::t2o::T2oError),
    #[error(transparent)]
    Recover(#[from] recorder::recover::RecoverError),
    #[error(transparent)]
    Replay(#[from] replay::ReplayError),
    #[error(transparent)]
    Runs(#[from] outcome::RunsError),
    #[error(transparent)]
    Sweep(#[from] sweep::SweepError),
    #[error(transparent)]
    Shelf(#[from] outcome::shelf::ShelfError),
    /// Standard output is gone.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// Anything else, in its own words.
    #[error("{message}")]
    Other {
        /// What, where, and what to do.
        message: String,
        /// The exit code.
        exit: Exit,
    },
}

impl Failure {
    /// A failure in the verb's own words.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure::Other { message: message.into(), exit }
    }

    /// The system refuses to do something with a file or folder.
    pub(crate) fn system(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Failure {
        let path = path.display().to_string();
        move |error| Failure::new(Exit::of_io(&error), format!("cannot {action} {path}: {error}"))
    }

    /// What the process ends with.
    pub(crate) fn exit(&self) -> u8 {
        match self {
            Failure::Platform(settings::LoadError::Read { source, .. }) => match Exit::of_io(source) {
                Exit::Permission => Exit::Permission.code(),
                _ => Exit::Usage.code(),
            },
            Failure::Platform(settings::LoadError::Invalid(_)) => Exit::Usage.code(),
            Failure::Launch(error) => error.exit(),
            Failure::Master(error) => error.exit(),
            Failure::Backtest(error) => error.exit(),
            Failure::T2o(error) => t2o_exit(error).code(),
            Failure::Join(error) => error.exit().code(),
            Failure::Run(error) => error.exit().code(),
            Failure::Recover(RecoverError::Open { source: OpenError::Folder(error), .. }) => {
                Exit::of_io(error).code()
            }
            Failure::Recover(RecoverError::Open { source: OpenError::Several(_), .. }) => Exit::Usage.code(),
            Failure::Recover(_) => Exit::Failed.code(),
            Failure::Replay(error) => of_replay(error).code(),
            Failure::Runs(error) => of_runs(error).code(),
            Failure::Shelf(error) => of_shelf(error).code(),
            Failure::Sweep(error) => of_sweep(error).code(),
            Failure::View(ViewError::NoInstance { .. }) => Exit::NoMaster.code(),
            Failure::View(ViewError::Io { source, .. })
            | Failure::View(ViewError::Open(journal::OpenError::Io { source, .. }))
            | Failure::Open(journal::OpenError::Io { source, .. }) => Exit::of_io(source).code(),
            Failure::BenchIpc(error) => of_bench(error).code(),
            // A reader that has seen enough (`colo … | head`) is no failure.
            Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done.code(),
            Failure::Output(_) | Failure::View(_) | Failure::Open(_) => Exit::Failed.code(),
            Failure::Other { exit, .. } => exit.code(),
        }
    }

    /// Says it on standard error.
    pub(crate) fn print(&self) {
        match self {
            Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            // Already a text of its own, with lines and carets.
            Failure::Platform(settings::LoadError::Invalid(diagnostics)) => {
                let text = diagnostics.render(std::io::IsTerminal::is_terminal(&std::io::stderr()));
                talk!("{}", text.trim_end());
            }
            other => talk!("colo: {other}"),
        }
    }
}

fn of_replay(error: &replay::ReplayError) -> Exit {
    use replay::ReplayError;
    match error {
        ReplayError::Usage(_) => Exit::Usage,
        ReplayError::NotWhole(_) => Exit::CheckFailed,
        ReplayError::System { source, .. } => Exit::of_io(source),
        ReplayError::Claim { .. } | ReplayError::Journal { .. } | ReplayError::Strategy { .. } => {
            Exit::Failed
        }
    }
}

fn of_runs(error: &outcome::RunsError) -> Exit {
    match error {
        outcome::RunsError::NotEmpty(_) => Exit::Usage,
        outcome::RunsError::Io { action: "create" | "write", source, .. } => match Exit::of_io(source) {
            Exit::Failed => Exit::CannotCreate,
            other => other,
        },
        outcome::RunsError::Io { source, .. } => Exit::of_io(source),
        outcome::RunsError::Folder(error) => of_folder(error),
    }
}

fn of_folder(error: &node::FolderError) -> Exit {
    use node::FolderError;
    match error {
        FolderError::Io { action: "create", source, .. } => match Exit::of_io(source) {
            Exit::Failed => Exit::CannotCreate,
            other => other,
        },
        FolderError::Io { source, .. } => Exit::of_io(source),
        FolderError::Kind { .. }
        | FolderError::Foreign { .. }
        | FolderError::Writable { .. }
        | FolderError::Links { .. }
        | FolderError::Planted { .. } => Exit::Permission,
    }
}

fn of_sweep(error: &sweep::SweepError) -> Exit {
    use sweep::SweepError;
    match error {
        SweepError::Folder(error) => of_runs(error),
        SweepError::File(error) => of_folder(error),
        SweepError::Io { action: "create" | "write", source, .. } => match Exit::of_io(source) {
            Exit::Failed => Exit::CannotCreate,
            other => other,
        },
        SweepError::Io { source, .. } => Exit::of_io(source),
        SweepError::NoSweep(_) | SweepError::Empty(_) | SweepError::OtherRuns { .. } => Exit::Usage,
        SweepError::Changed { .. } => Exit::CheckFailed,
        SweepError::Damaged { .. } | SweepError::InUse(_) | SweepError::StillRun { .. } => Exit::Failed,
    }
}

fn of_shelf(error: &outcome::shelf::ShelfError) -> Exit {
    use outcome::shelf::ShelfError;
    match error {
        ShelfError::NoRun(_) | ShelfError::Empty(_) => Exit::Usage,
        ShelfError::Damaged { .. } => Exit::Failed,
        ShelfError::Io(error) => of_runs(error),
    }
}

fn of_bench(error: &bench_harness::ipc::IpcError) -> Exit {
    use bench_harness::ipc::IpcError;
    match error {
        IpcError::TooFewCpus { .. } => Exit::HostUnfit,
        IpcError::BadCpu { .. } => Exit::Usage,
        IpcError::Create(_) => Exit::CannotCreate,
        _ => Exit::Failed,
    }
}

fn t2o_exit(error: &bench_harness::t2o::T2oError) -> Exit {
    use bench_harness::t2o::T2oError;
    match error {
        T2oError::File { action: "create" | "write", source, .. } => match Exit::of_io(source) {
            Exit::Failed => Exit::CannotCreate,
            other => other,
        },
        T2oError::File { source, .. } => Exit::of_io(source),
        T2oError::NotEmpty(_) | T2oError::OtherScenario { .. } | T2oError::NoResults(_) => Exit::Usage,
        T2oError::OtherFormat { .. } => Exit::Usage,
        T2oError::Disagrees { .. } => Exit::CheckFailed,
        _ => Exit::Failed,
    }
}
