//! All sums once more, from their parts.

use std::collections::BTreeMap;

use crate::desk::Desk;
use crate::orders::Reservation;
use crate::positions::index;

/// What orders at work add to an account's slot or purse.
#[derive(Default, PartialEq, Eq, Debug)]
struct Held {
    working: [i64; 2],
    frozen: [[i64; 3]; 2],
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, kept: &T, summed: &T) -> Result<(), String> {
    if kept == summed { Ok(()) } else { Err(format!("{what}: kept {kept:?}, its parts come to {summed:?}")) }
}

pub(crate) fn audit(desk: &Desk) -> Result<(), String> {
    let mut held: BTreeMap<(u32, u32), Held> = BTreeMap::new();
    let mut money: BTreeMap<(u32, u8), (i128, i128)> = BTreeMap::new();
    let mut open: BTreeMap<u32, u32> = BTreeMap::new();
    for (place, order) in desk.orders.open() {
        let name = order.request.order_id;
        let computed = desk.reservation_of(place).ok_or(format!("order {name} has no account"))?;
        same(&format!("reservation of order {name}"), &order.reserved, &computed)?;
        let Reservation { money: held_money, gross, open: lots, closing } = computed;
        let instrument = order.instrument();
        let held = held.entry((order.account, instrument.0)).or_default();
        let side = index(order.side());
        held.working[side] += lots;
        held.frozen[1 - side][order.closes as usize] += closing;
        let currency = desk.contracts.get(instrument).map_or(0, |contract| contract.currency);
        let sums = money.entry((order.account, currency)).or_default();
        *sums = (sums.0 + held_money, sums.1 + gross);
        *open.entry(order.account).or_default() += 1;
    }
    let mut platform: BTreeMap<u8, i128> = BTreeMap::new();
    for (place, account) in desk.accounts.iter().enumerate() {
        let place = place as u32;
        let name = format!("account {} of {:?}", account.id.0, account.owner);
        same(&format!("open orders of {name}"), &account.watch.open, &open.remove(&place).unwrap_or(0))?;
        let mut margins: BTreeMap<u8, (i128, i128, i128, i128)> = BTreeMap::new();
        for slot in &account.slots {
            let held = held.remove(&(place, slot.instrument.0)).unwrap_or_default();
            let name = format!("instrument {} of {name}", slot.instrument.0);
            same(&format!("working lots in {name}"), &slot.working, &held.working)?;
            let frozen = [slot.holdings[0].frozen, slot.holdings[1].frozen];
            same(&format!("frozen lots in {name}"), &frozen, &held.frozen)?;
            for holding in &slot.holdings {
                same(&format!("lots frozen beyond what is held in {name}"), &holding.excess(), &[0; 3])?;
            }
            let Some(contract) = desk.contracts.get(slot.instrument) else { continue };
            let sums = margins.entry(contract.currency).or_default();
            sums.0 += slot.holdings[0].margin + slot.holdings[1].margin;
            sums.1 += slot.gross();
            sums.2 += slot.cost();
            sums.3 += slot.settled();
        }
        for purse in account.purses() {
            let name = format!("purse {} of {name}", desk.currency(purse.currency));
            let (margin, gross, cost, settled) = margins.remove(&purse.currency).unwrap_or_default();
            let (reserved, orders) = money.remove(&(place, purse.currency)).unwrap_or_default();
            same(&format!("balance of {name}"), &purse.balance, &purse.totals.balance())?;
            same(&format!("margin of {name}"), &purse.margin, &margin)?;
            same(&format!("reservations of {name}"), &purse.reserved, &reserved)?;
            same(&format!("gross of {name}"), &purse.gross, &(gross + orders))?;
            let is_cash = account.kind == wire::AccountKind::Cash;
            same(&format!("invested of {name}"), &purse.totals.invested, if is_cash { &cost } else { &0 })?;
            same(&format!("variation of {name}"), &purse.totals.variation, &settled)?;
            *platform.entry(purse.currency).or_default() += purse.gross;
        }
        if margins.values().any(|sums| *sums != (0, 0, 0, 0)) {
            return Err(format!("{name} holds what no purse pays for"));
        }
    }
    if !held.is_empty() || !money.is_empty() || !open.is_empty() {
        return Err("orders at work name an account or an instrument that is not there".to_owned());
    }
    for (currency, sum) in platform {
        let kept = desk.scopes.platform.gross.get(usize::from(currency)).copied().unwrap_or(0);
        same("gross of the platform", &kept, &sum)?;
    }
    Ok(())
}
