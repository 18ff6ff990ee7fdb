//! Positions that a market reports, right or wrong, while orders trade at random.

use std::collections::VecDeque;

use venue::conform::Draw;
use venue::{Command, Driver, Effects, Input, LOT, Lots, News, Overdue, Report, Says, Why};
use wire::{
    InstrumentId, Nanos, NewOrder, OrderId, OrderType, Price, Quantity, Request, Side, StrategyId,
    TimeInForce,
};

const INSTRUMENT: InstrumentId = InstrumentId(1);
/// A report takes so many steps at most; what is overdue is asked for again after more.
const LATE: u64 = 6;
const PATIENCE: u64 = 20;

fn seeds() -> u64 {
    std::env::var("COLO_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(200)
}

/// A market, and the driver beside it.
struct Floor {
    draw: Draw,
    driver: Driver,
    now: u64,
    /// Trade reports under way, in their order, and when each arrives.
    reports: VecDeque<(u64, News)>,
    /// Positions under way. They may overtake trades.
    positions: VecDeque<(u64, i64)>,
    overtakes: bool,
    /// It is asked once more when the last question is answered.
    wants_position: bool,
    /// At the last look.
    waiting: Vec<Overdue>,
    /// What the account holds, and by how much its reports are wrong.
    holds: i64,
    wrong: i64,
    orders: Vec<(String, Side)>,
    sent: u32,
    trades: u32,
    /// Positions that the driver has taken.
    reported: u32,
}

impl Floor {
    fn new(seed: u64) -> Floor {
        let mut draw = Draw::new(seed);
        let (overtakes, holds) = (draw.percent(50), draw.below(9) as i64 - 4);
        let mut floor = Floor {
            draw,
            driver: Driver::new("p"),
            now: 0,
            reports: VecDeque::new(),
            positions: VecDeque::new(),
            overtakes,
            wants_position: false,
            waiting: Vec::new(),
            holds,
            wrong: 0,
            orders: Vec::new(),
            sent: 0,
            trades: 0,
            reported: 0,
        };
        // What is not booked stops nothing.
        floor.take(&Input::Stop(false));
        floor
    }

    fn take(&mut self, input: &Input) {
        let mut effects = Effects::default();
        self.driver.take(input, &mut effects);
        for command in effects.commands {
            match command {
                Command::New { name, order } => self.orders.push((name, order.side)),
                Command::Reconcile if !self.positions.is_empty() => self.wants_position = true,
                Command::Reconcile => self.answer(),
                Command::Cancel { .. } | Command::Replace { .. } | Command::Ask { .. } => {}
            }
        }
    }

    /// The position of now is under way.
    fn answer(&mut self) {
        let at = self.now + self.draw.below(LATE);
        // On one line with the trades, it comes behind those that it holds.
        let last = self.reports.back().map_or(0, |(at, _)| at + 1);
        let at = if self.overtakes { at } else { at.max(last) };
        self.positions.push_back((at, self.holds + self.wrong));
    }

    fn send(&mut self) {
        self.sent += 1;
        let id = OrderId::new(StrategyId(5), 1, self.sent);
        let side = if self.draw.percent(50) { Side::Buy } else { Side::Sell };
        let (kind, life, price) = (OrderType::Limit, TimeInForce::Day, Price(Price::ONE));
        let order = NewOrder::plain(id, INSTRUMENT, side, kind, life, price, Quantity(1_000_000));
        self.take(&Input::Request(u64::from(self.sent) * 64, Request::New(order)));
    }

    fn trade(&mut self) {
        if self.orders.is_empty() {
            return;
        }
        let place = self.draw.below(self.orders.len() as u64) as usize;
        let ((name, side), quantity) = (self.orders[place].clone(), 1 + self.draw.below(5) as i64);
        self.holds += side.sign() * quantity;
        self.trades += 1;
        let (id, price, quantity) = (format!("T{}", self.trades), Price(Price::ONE), Quantity(quantity));
        let says = Says::Trade { id, price, quantity, filled: None::<Lots> };
        let of = Some((INSTRUMENT, side));
        let news = News::Report(Report { name, original: None, of, time: Nanos(0), says });
        let last = self.reports.back().map_or(0, |(at, _)| *at);
        self.reports.push_back(((self.now + self.draw.below(LATE)).max(last), news));
    }

    /// A step of time. Orders and trades come with this chance in a hundred.
    fn step(&mut self, busy: u64) {
        self.now += 1;
        if self.draw.percent(busy / 4) {
            self.send();
        }
        if self.draw.percent(busy) {
            self.trade();
        }
        while let Some((at, lots)) = self.positions.front().copied() {
            if at > self.now {
                break;
            }
            self.positions.pop_front();
            self.reported += 1;
            self.take(&Input::News(News::Position { instrument: INSTRUMENT, lots: i128::from(lots) * LOT }));
        }
        while self.reports.front().is_some_and(|(at, _)| *at <= self.now) {
            let Some((_, news)) = self.reports.pop_front() else { break };
            self.take(&Input::News(news));
        }
        if self.now.is_multiple_of(PATIENCE) {
            // As the process does it: what waits at two looks.
            let waiting = self.driver.waiting();
            let before = std::mem::replace(&mut self.waiting, waiting.clone());
            for overdue in waiting.into_iter().filter(|overdue| before.contains(overdue)) {
                if matches!(overdue, Overdue::Position(..)) {
                    self.take(&Input::Overdue(overdue));
                }
            }
        }
    }

    /// Steps without trades until nothing is in doubt; how many positions that took.
    fn settle(&mut self) -> u32 {
        let before = self.reported;
        let is_doubtful = |floor: &Floor| {
            let is_position = |overdue: &Overdue| matches!(overdue, Overdue::Position(..));
            !floor.positions.is_empty() || floor.driver.waiting().iter().any(is_position)
        };
        for _ in 0..200 * PATIENCE {
            if !is_doubtful(self) {
                return self.reported - before;
            }
            self.step(0);
        }
        panic!("positions are still in doubt: {:?}", self.driver);
    }

    /// The sum of what is listed, in lots.
    fn listed(&self) -> i64 {
        assert!(self.driver.unbooked().all(|what| what.why == Why::Position));
        i64::try_from(self.driver.unbooked().map(|what| what.lots).sum::<i128>() / LOT).unwrap()
    }
}

/// Orders and trades, and now and then a line that is cut or a gap.
fn play(floor: &mut Floor, steps: u64) {
    for _ in 0..steps {
        floor.step(40);
        if floor.draw.percent(2) {
            floor.take(&Input::News(News::Gap));
        }
    }
}

fn begin(seed: u64) -> Floor {
    let mut floor = Floor::new(seed);
    // Some send before the line is there, or before the first position comes.
    if floor.draw.percent(50) {
        floor.send();
    }
    floor.take(&Input::News(News::Up));
    (0..floor.draw.below(8)).for_each(|_| floor.step(80));
    floor
}

#[test]
fn a_right_position_is_never_listed_whatever_is_under_way() {
    for seed in 0..seeds() {
        let mut floor = begin(seed);
        play(&mut floor, 600);
        floor.settle();
        assert_eq!((floor.listed(), floor.driver.unbooked_so_far()), (0, 0), "seed {seed}");
        assert!(floor.reported > 2 && floor.trades > 50);
    }
}

#[test]
fn a_position_that_is_wrong_is_listed_within_three_reports_and_until_it_is_right_again() {
    let mut many = 0;
    for seed in 0..seeds() {
        let mut floor = begin(seed);
        play(&mut floor, 200);
        floor.settle();
        let wrong = [-5, -1, 1, 5][floor.draw.below(4) as usize];
        for (wrong, busy) in [(wrong, 0), (0, 0), (wrong, 40), (0, 40)] {
            // What is under way arrives.
            (0..2 * LATE).for_each(|_| floor.step(0));
            floor.wrong = wrong;
            floor.take(&Input::News(News::Gap));
            if busy == 0 {
                let before = floor.reported;
                while floor.reported < before + 3 {
                    floor.step(0);
                }
                assert_eq!(floor.listed(), wrong, "seed {seed}");
                // One more agrees with what is listed.
                assert_eq!(floor.settle(), 1, "seed {seed}");
                continue;
            }
            // Trades may hide it from one question, and not from those that follow.
            let before = floor.reported;
            while floor.listed() != wrong {
                assert!(floor.reported < before + 400, "seed {seed}: {:?}", floor.driver);
                floor.step(busy);
                if floor.draw.percent(1) {
                    floor.take(&Input::News(News::Gap));
                }
            }
            many += floor.reported - before;
            floor.settle();
            assert_eq!(floor.listed(), wrong, "seed {seed}");
        }
    }
    println!("{many} reports while orders traded");
}

#[test]
fn a_first_position_is_the_base_although_an_order_was_sent_before() {
    let mut floor = Floor::new(1);
    (floor.holds, floor.overtakes) = (0, false);
    floor.take(&Input::News(News::Up));
    floor.send();
    // The answer to the first question, as it was.
    (0..LATE).for_each(|_| floor.step(0));
    assert_eq!((floor.reported, floor.listed()), (1, 0));
    floor.wrong = 5;
    floor.settle();
    assert_eq!((floor.reported, floor.listed()), (5, 5), "the first, three, and one that agrees");
}
