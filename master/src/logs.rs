//! Bounds the nodes' logs: a log that grows beyond `master.log_bytes` begins again, and its end is kept beside it
//! ([`node::cut_log`]).

use std::io;

use topology::NodeKind;

use crate::supervise::Master;

impl Master {
    /// Looks at the length of every log.
    pub(crate) fn bound_logs(&mut self) {
        let most = self.config.log_bytes.0;
        if most == 0 {
            return;
        }
        let directory = &self.instance.directory;
        let names = self.nodes.iter().map(|node| node.spec.name.as_str());
        for name in names.chain(std::iter::once(NodeKind::Master.as_str())) {
            let path = directory.log(name);
            match node::cut_log(&path, most) {
                Ok(None) => {}
                Ok(Some(dropped)) => log::warn!(
                    "the log of `{name}` had grown beyond {most} bytes and begins again; {} has its end, {dropped} bytes before \
                     that are dropped. master.log_bytes says how long a log may be",
                    node::kept_end(&path).display()
                ),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => log::warn!("cannot bound {}: {error}", path.display()),
            }
        }
    }
}
