//! Which instance a verb means. Looking needs no master: dead instances serve as well.

use node::{Exit, InstanceDir};
use observe::{InstanceView, ViewError};

use crate::args::InstanceArgument;
use crate::failure::Failure;

/// Name of the instance that is meant: the one given, which need not exist, or the only one there is.
pub(crate) fn name(argument: &InstanceArgument) -> Result<String, Failure> {
    match argument.name() {
        Some(name) => Ok(name.to_owned()),
        None => Ok(instance(None)?.name().to_owned()),
    }
}

/// The instance that is meant, to look at: live or dead.
pub(crate) fn view(name: Option<&str>) -> Result<InstanceView, Failure> {
    let instance = instance(name)?;
    match InstanceView::open(instance) {
        // Its directory is there, but has no registry yet or no more.
        Err(ViewError::NoInstance { name, path }) => Err(Failure::new(
            Exit::NoMaster,
            format!(
                "instance `{name}` has no registry ({}): it is being made, or was only half removed; \
                 `colo journal clean {name}` removes what is left",
                path.display()
            ),
        )),
        other => Ok(other?),
    }
}

/// All instances of this user, live or dead.
pub(crate) fn all() -> Result<Vec<InstanceDir>, Failure> {
    InstanceDir::all().map_err(Failure::system("list", &InstanceDir::root()))
}

/// The directory of the instance that is meant: the one given, or the only one there is.
pub(crate) fn instance(name: Option<&str>) -> Result<InstanceDir, Failure> {
    let all = all()?;
    let names: Vec<&str> = all.iter().map(InstanceDir::name).collect();
    if let Some(name) = name {
        let instance =
            InstanceDir::new(name).ok_or(master_client::LaunchError::BadInstance(name.to_owned()))?;
        let is_there =
            instance.is_there().map_err(|error| Failure::system("use", instance.path())(error.into()))?;
        if !is_there {
            let message = format!("there is no instance `{name}`{}", suggestion(name, &names));
            return Err(Failure::new(Exit::NoMaster, message));
        }
        return Ok(instance);
    }
    match all.as_slice() {
        [] => Err(Failure::new(
            Exit::NoMaster,
            format!("no instance is there; `colo up` starts one{}", others()),
        )),
        [only] => Ok(only.clone()),
        _ => Err(Failure::new(
            Exit::Usage,
            format!("there are several instances, say which one is meant: {}", names.join(", ")),
        )),
    }
}

/// "; other users have …", or nothing.
fn others() -> String {
    let roots: Vec<String> =
        InstanceDir::roots_of_others().iter().map(|root| root.display().to_string()).collect();
    if roots.is_empty() {
        return String::new();
    }
    format!("; other users have instances ({}), which only they can see and stop", roots.join(", "))
}

/// Names are alike from here on: 1 is the same.
const ALIKE: f64 = 0.8;

/// "; did you mean …?", or all that there are.
pub(crate) fn suggestion(wanted: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return "; there are none".to_owned();
    }
    let mut near: Vec<(f64, &str)> =
        known.iter().map(|name| (strsim::jaro_winkler(wanted, name), *name)).collect();
    near.retain(|(likeness, name)| *likeness >= ALIKE || name.contains(wanted));
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    if near.is_empty() {
        return format!("; there are: {}", known.join(", "));
    }
    let names: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_and_else_all_of_them() {
        let known = ["md.quotes", "md.instruments", "orders.takers-1", "orders.takers-2"];
        assert_eq!(suggestion("md.qoutes", &known)[..27], *"; did you mean `md.quotes`?");
        assert!(suggestion("takers-1", &known).contains("`orders.takers-1`"));
        assert!(suggestion("zzz", &known).contains("there are: md.quotes, md.instruments"));
        assert_eq!(suggestion("a", &[]), "; there are none");
    }
}
