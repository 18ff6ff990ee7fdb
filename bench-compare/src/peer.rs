//! A process that performs one role of one block.

use crate::error::CompareError;
use crate::task::Task;
use crate::{place, rivals};

/// Performs a role and prints its outcome.
pub(crate) fn run(role: usize, task: &str) -> Result<(), CompareError> {
    place::follow_parent()?;
    let task: Task = serde_json::from_str(task)
        .map_err(|error| CompareError::Usage(format!("the task cannot be read: {error}")))?;
    let entry = rivals::find(&task.rival)?;
    let outcome = (entry.run)(role, &task)?;
    let text = serde_json::to_string(&outcome).map_err(|error| CompareError::Peer(error.to_string()))?;
    println!("{text}");
    Ok(())
}
