//! The gateway, if the file has one.

use super::{Builder, json};
use crate::config::OnDeath;
use crate::services::NodeKind;
use crate::spec::{GatewaySection, Program};

impl Builder<'_> {
    /// Its node, in the seat behind the last strategy's: to td it is one of them.
    pub(super) fn gateway(&mut self) {
        let config = self.config;
        let Some(gateway) = &config.gateway else { return };
        let program = Program::Builtin(NodeKind::Gateway.as_str().to_owned());
        // It reads everything loosely: there is no cursor to hold.
        let node =
            self.node(NodeKind::Gateway.as_str(), NodeKind::Gateway, &gateway.run, OnDeath::Drop, program);
        node.section =
            json(GatewaySection { config: gateway.clone(), keeps_accounts: config.keeps_accounts() });
    }
}
