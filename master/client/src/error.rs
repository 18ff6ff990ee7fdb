//! Why a platform did not come up, or could not be asked.

use std::path::PathBuf;

use node::{Exit, Holder, InstanceDir};
use observe::ViewError;

/// A platform did not come up, could not be asked, or could not be taken down.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The instance's name is no name.
    #[error("`{0}` is no instance name: use 1 to 32 of a-z, 0-9, `-`, `_`")]
    BadInstance(String),
    /// No such instance.
    #[error("no instance `{instance}` runs{others}")]
    NotRunning {
        /// Its name.
        instance: String,
        /// "; there are: a, b", or nothing.
        others: String,
    },
    /// Master ended instead of bringing the platform up.
    #[error("the platform did not come up:\n{words}\n(log: {})", log.display())]
    MasterFailed {
        /// What it said.
        words: String,
        /// Where it said it.
        log: PathBuf,
        /// Its exit code.
        exit: u8,
    },
    /// Somebody holds it and does not answer.
    #[error(
        "instance `{instance}`: master, {holder}, {why}; try again, or end it by force: `colo down {instance} --force`"
    )]
    Silent {
        /// Which instance.
        instance: String,
        /// Who holds it.
        holder: String,
        /// What it does instead.
        why: String,
    },
    /// A signal has stopped master.
    #[error(
        "instance `{instance}`: master is stopped (SIGSTOP or a debugger) and answers nobody; let it go on with `kill -CONT {pid}`, \
         or end it by force: `colo down {instance} --force`"
    )]
    Stopped {
        /// Which instance.
        instance: String,
        /// Master's process.
        pid: u32,
    },
    /// Its processes have their ids from another pid namespace.
    #[error(
        "instance `{instance}`: its processes run in another pid namespace, such as another container; whether they live cannot be \
         told from here, so nothing is stopped or removed; run `colo down {instance}` there"
    )]
    Foreign {
        /// Which instance.
        instance: String,
    },
    /// A file that says what runs cannot be read.
    #[error(
        "instance `{instance}`: {} is damaged ({what}), so it cannot be reported on; `colo down {instance} --force` ends it all the same", path.display()
    )]
    Damaged {
        /// Which instance.
        instance: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Processes that not even SIGKILL ends.
    #[error("instance `{instance}`: these processes do not end: {pids}; nothing is removed while they live")]
    DoesNotEnd {
        /// Which instance.
        instance: String,
        /// Their ids.
        pids: String,
    },
    /// Somebody else was faster.
    #[error("instance `{instance}` was taken down by somebody else meanwhile, who has its report")]
    TakenDown {
        /// Which instance.
        instance: String,
    },
    /// Nobody can do what is wanted.
    #[error(
        "instance `{instance}`: its master is gone, and its strategies trade on without it; `colo up` with the same platform file takes it over, then try again"
    )]
    NoMaster {
        /// Which instance.
        instance: String,
    },
    /// What became of a request is not known.
    #[error(
        "instance `{instance}`: master {why}: what is wanted is written down, and whoever is master goes on with it (`colo up` with the same platform file \
         where there is none); `colo strategy ls` shows how it stands"
    )]
    Abandoned {
        /// Which instance.
        instance: String,
        /// What it did instead.
        why: String,
    },
    /// Master does not run, though its process is there.
    #[error(
        "instance `{instance}`: master has not answered within {seconds} s, and shows no sign of life (a debugger, SIGSTOP?): what is wanted waits for it, and \
         is done as soon as it goes on; `colo strategy ls` shows how it stands"
    )]
    Mute {
        /// Which instance.
        instance: String,
        /// How long it was waited.
        seconds: u64,
    },
    /// Master refused.
    #[error("master refuses: {0}")]
    Refused(String),
    /// The conversation with master broke.
    #[error("master of `{instance}`: {source}")]
    Protocol {
        /// Which instance.
        instance: String,
        /// What broke.
        source: node::protocol::ProtocolError,
    },
    /// The instance cannot be looked at.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A journal cannot be read.
    #[error(transparent)]
    Open(#[from] journal::OpenError),
    /// The system refuses.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl LaunchError {
    /// No such instance; what there is instead.
    pub(crate) fn not_running(instance: &InstanceDir) -> LaunchError {
        let all = InstanceDir::all().unwrap_or_default();
        let names: Vec<&str> =
            all.iter().map(InstanceDir::name).filter(|other| *other != instance.name()).collect();
        let mut others =
            if names.is_empty() { String::new() } else { format!("; there are: {}", names.join(", ")) };
        let roots = InstanceDir::roots_of_others();
        if !roots.is_empty() {
            let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
            others.push_str(&format!(
                "; other users have instances ({}), which only they can see and stop",
                roots.join(", ")
            ));
        }
        LaunchError::NotRunning { instance: instance.name().to_owned(), others }
    }

    /// The holder of an instance does not answer.
    pub(crate) fn silent(
        instance: &InstanceDir,
        holder: Option<Holder>,
        why: impl Into<String>,
    ) -> LaunchError {
        let holder = holder.map_or("a process".to_owned(), |holder| holder.to_string());
        LaunchError::Silent { instance: instance.name().to_owned(), holder, why: why.into() }
    }

    /// Somebody else has taken the instance down.
    pub(crate) fn taken_down(instance: &InstanceDir) -> LaunchError {
        LaunchError::TakenDown { instance: instance.name().to_owned() }
    }

    /// What the process ends with.
    pub fn exit(&self) -> u8 {
        match self {
            LaunchError::BadInstance(_) => Exit::Usage.code(),
            LaunchError::NotRunning { .. }
            | LaunchError::NoMaster { .. }
            | LaunchError::View(ViewError::NoInstance { .. }) => Exit::NoMaster.code(),
            LaunchError::TakenDown { .. } => Exit::Done.code(),
            LaunchError::MasterFailed { exit, .. } => *exit,
            LaunchError::System { source, .. } => Exit::of_io(source).code(),
            LaunchError::View(ViewError::Io { source, .. })
            | LaunchError::Open(journal::OpenError::Io { source, .. }) => Exit::of_io(source).code(),
            _ => Exit::Failed.code(),
        }
    }
}

/// The system refuses to do this.
pub(crate) fn system(action: &str) -> impl Fn(std::io::Error) -> LaunchError {
    let action = action.to_owned();
    move |source| LaunchError::System { action: action.clone(), source }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    fn instance() -> InstanceDir {
        InstanceDir::new("mc-refusals").unwrap()
    }

    #[test]
    fn refusals_say_what_to_do_with_the_name_of_the_instance() {
        let force = "`colo down mc-refusals --force`";
        let silent = LaunchError::silent(&instance(), None, "has not answered for 3 s");
        let stopped = LaunchError::Stopped { instance: "mc-refusals".to_owned(), pid: 77 };
        let (path, what) = (PathBuf::from("/there/registry"), "cut short".to_owned());
        let damaged = LaunchError::Damaged { instance: "mc-refusals".to_owned(), path, what };
        for (error, words) in [
            (&silent, ["has not answered for 3 s", force]),
            (&stopped, ["`kill -CONT 77`", force]),
            (&damaged, ["/there/registry is damaged (cut short)", force]),
        ] {
            let text = error.to_string();
            assert!(words.iter().all(|words| text.contains(words)), "{text}");
            assert_eq!(error.exit(), Exit::Failed.code(), "{text}");
        }
    }

    #[test]
    fn exit_codes_say_why() {
        let denied = || Error::from(ErrorKind::PermissionDenied);
        let cases = [
            (LaunchError::BadInstance("X".to_owned()), Exit::Usage.code()),
            (LaunchError::taken_down(&instance()), Exit::Done.code()),
            (LaunchError::not_running(&instance()), Exit::NoMaster.code()),
            (LaunchError::MasterFailed { words: String::new(), log: PathBuf::new(), exit: 3 }, 3),
            (system("do this")(denied()), Exit::of_io(&denied()).code()),
            (ViewError::Io { path: PathBuf::new(), source: denied() }.into(), Exit::of_io(&denied()).code()),
            (LaunchError::Refused("no".to_owned()), Exit::Failed.code()),
        ];
        for (error, code) in &cases {
            assert_eq!(error.exit(), *code, "{error}");
        }
        assert_ne!(Exit::of_io(&denied()).code(), Exit::Failed.code());
    }
}
