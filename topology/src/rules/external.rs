//! Orders that go out to a market elsewhere.

use super::Rules;
use crate::config::Fill;

impl Rules<'_> {
    pub(super) fn external(&mut self) {
        let matching = &self.config.matching;
        if matching.fill != Fill::External {
            for key in ["program", "params"] {
                let path = format!("matching.{key}");
                if self.rows.is_written(&path) {
                    let message = format!(
                        "`{key}` means nothing: matching.fill is \"{}\", not \"external\"",
                        matching.fill
                    );
                    self.warning(&path, message, "leave it out, or set matching.fill = \"external\"");
                }
            }
            return;
        }
        if matching.program.is_empty() {
            self.error(
                "matching.fill",
                "matching.fill is \"external\", but matching.program names no program that takes the orders out",
                "write program = \"PATH\" in [matching], or fill from \"quotes\"",
            );
        }
        if self.config.is_in_lock_step() {
            self.error(
                "matching.fill",
                "matching.fill is \"external\": a market outside waits for nobody, so the platform cannot run in lock-step",
                "set platform.deterministic = false; a recorded day needs platform.live = true too",
            );
        }
        if self.config.platform.one_process == Some(true) {
            self.error(
                "platform.one_process",
                "matching.fill is \"external\", whose program has a process of its own",
                "leave it out",
            );
        }
        if self.rows.is_written("matching.huge_pages") {
            let message =
                "`huge_pages` means nothing: matching.fill is \"external\", which has no books here";
            self.warning("matching.huge_pages", message, "leave it out");
        }
    }
}
