//! A time within which nobody looks.

use super::Rules;
use crate::paths;

/// Notes the groups whose `wake_within` has no effect.
pub(super) fn check(rules: &mut Rules<'_>) {
    let config = rules.config;
    for group in config.strategies.iter().filter(|group| !group.wake_within.is_zero()) {
        let path = format!("{}.wake_within", paths::group(rules.rows, &group.name));
        if !rules.rows.is_written(&path) {
            continue;
        }
        let (mode, key) = match &group.host {
            Some(host) => (host.mode, "host.mode"),
            None => (group.run.mode, "mode"),
        };
        let (why, help) = if config.is_in_lock_step() {
            ("platform.deterministic is true, and there nobody naps".to_owned(), "leave it out".to_owned())
        } else if mode.is_fast() {
            let why = format!("`{}` polls (its {key} is \"fast\"), and no report wakes it", group.name);
            (why, format!("leave it out, or set {key} = \"parked\""))
        } else {
            continue;
        };
        rules.warning(&path, format!("`wake_within` means nothing: {why}"), help);
    }
}
