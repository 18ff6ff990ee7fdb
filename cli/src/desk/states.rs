//! How accounts stand, as the ledger publishes it.

use node::InstanceDir;
use wire::AccountState;

use crate::failure::Failure;

/// All accounts, by the order of opening; `None` where the ledger has published none.
pub(crate) fn states(instance: &InstanceDir) -> Result<Option<Vec<AccountState>>, Failure> {
    let accounts = node::Accounts::of(instance)?;
    Ok(accounts.map(|accounts| accounts.all().map(|(_, state)| state).collect()))
}
