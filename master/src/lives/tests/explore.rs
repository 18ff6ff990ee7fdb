//! Every order of a few events, and long random ones.

use proptest::prelude::*;

use super::world::{Step, World};
use super::*;

/// A platform that is starting, and one that is up.
fn beginnings(policy: RestartPolicy) -> [World; 2] {
    let starting = World::new(policy);
    let mut up = starting.clone();
    for _ in 0..3 {
        up.step(Step::Looks(1));
        for node in 0..6 {
            up.step(Step::Registers(node));
            up.step(Step::GetsReady(node));
        }
    }
    up.step(Step::Looks(1));
    assert!(up.is_up);
    [starting, up]
}

/// Checks the invariants in all orders of `depth` steps, and counts the orders.
fn all_orders(world: &World, steps: &[Step], depth: usize) -> u64 {
    if depth == 0 {
        world.clone().comes_to_rest();
        return 1;
    }
    let mut count = 0;
    for step in steps {
        let mut next = world.clone();
        if next.step(*step) {
            count += all_orders(&next, steps, depth - 1);
        }
    }
    count
}

#[test]
fn any_four_events_in_any_order_leave_nothing_in_between() {
    use Step::*;
    let steps = [
        Dies(TD),
        Dies(MATCHING),
        Dies(STRATEGY),
        Dies(HOST),
        Leaves(MEMBER, 1),
        Leaves(MATCHING, 0),
        Leaves(TD, 0),
        Hold(STRATEGY),
        Hold(MEMBER),
        LetGo(STRATEGY),
        Registers(STRATEGY),
        Registers(MATCHING),
        RefusesNext,
        Looks(1),
        Looks(400),
        Stop,
        TakenOver,
        TakenOverWithout(STRATEGY),
        TakenOverWithout(HOST),
    ];
    let mut count = 0;
    for policy in [RestartPolicy::Never, RestartPolicy::OnFailure, RestartPolicy::Always] {
        for world in beginnings(policy) {
            count += all_orders(&world, &steps, 4);
        }
    }
    println!("{count} orders");
    assert!(count > 10_000, "only {count}");
}

fn any_step() -> impl Strategy<Value = Step> {
    let node = 0..6_usize;
    prop_oneof![
        3 => node.clone().prop_map(Step::Dies),
        2 => (node.clone(), 0..3_u8).prop_map(|(node, code)| Step::Leaves(node, code)),
        6 => node.clone().prop_map(Step::Registers),
        6 => node.clone().prop_map(Step::GetsReady),
        1 => Just(Step::RefusesNext),
        8 => (0..3_000_u64).prop_map(Step::Looks),
        1 => prop_oneof![Just(STRATEGY), Just(MEMBER)].prop_map(Step::Hold),
        1 => prop_oneof![Just(STRATEGY), Just(MEMBER)].prop_map(Step::LetGo),
        1 => Just(Step::TakenOver),
        1 => node.prop_map(Step::TakenOverWithout),
    ]
}

proptest! {
    #[test]
    fn long_histories_leave_nothing_in_between(
        steps in prop::collection::vec(any_step(), 0..80),
        policy in prop_oneof![
            Just(RestartPolicy::Never),
            Just(RestartPolicy::OnFailure),
            Just(RestartPolicy::Always),
        ],
        begins_up: bool,
        stops: bool,
    ) {
        let [starting, up] = beginnings(policy);
        let mut world = if begins_up { up } else { starting };
        for step in steps {
            world.step(step);
        }
        if stops {
            world.step(Step::Stop);
        }
        world.comes_to_rest();
    }
}
