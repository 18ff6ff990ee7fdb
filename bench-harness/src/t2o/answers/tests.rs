use super::*;

const TURN: u64 = 1_000;

/// Quotes due every turn from 0 on, of four instruments in turn, published 10 ns late.
fn quotes(count: u64) -> Vec<Quoted> {
    (1..=count)
        .map(|n| Quoted { due: n * TURN, published: n * TURN + 10, instrument: (n % 4) as u32 + 1 })
        .collect()
}

fn answer(quote: &Quoted) -> Stamps {
    let published = quote.published;
    Stamps {
        order_id: quote.due,
        due: quote.due,
        published,
        received: published + 100,
        ordered: published + 200,
        durable: 0,
        taken: published + 300,
    }
}

fn stretch() -> Stretch {
    Stretch { from: 10 * TURN, until: 110 * TURN, closed: 150 * TURN, turn: TURN as f64 }
}

fn check(answers: &Answers, (expected, unanswered, unpublished): (u64, u64, u64)) {
    assert_eq!(
        (answers.expected, answers.unanswered, answers.unpublished),
        (expected, unanswered, unpublished)
    );
    let open = answers.records.iter().filter(|record| record.is_open()).count() as u64;
    assert_eq!(open, answers.lost());
    assert_eq!(answers.records.len() as u64, answers.expected, "expected = came + lost");
}

#[test]
fn every_quote_of_the_stretch_answered_is_nothing_lost() {
    let quotes = quotes(130);
    let samples: Vec<Stamps> = quotes.iter().map(answer).collect();
    let answers = Answers::of(stretch(), &Listeners::each(4, 1), &quotes, &samples);
    check(&answers, (100, 0, 0));
    assert_eq!((answers.outstanding, answers.published), (0, 100));
}

#[test]
fn a_strategy_that_stops_leaves_open_waits_to_the_end() {
    let quotes = quotes(130);
    let stopped = |quote: &Quoted| quote.instrument == 2 && quote.due > 50 * TURN;
    let samples: Vec<Stamps> = quotes.iter().filter(|quote| !stopped(quote)).map(answer).collect();
    let answers = Answers::of(stretch(), &Listeners::each(4, 1), &quotes, &samples);
    check(&answers, (100, 15, 0));
    let longest = answers.records.iter().filter_map(Stamps::open_waits).map(|(t2o, _)| t2o).max();
    assert_eq!(longest, Some(Some(150 * TURN - 53 * TURN - 10)));
}

#[test]
fn quotes_that_md_did_not_publish_are_missing_in_the_middle_and_at_the_end() {
    let whole = quotes(130);
    let there = |quote: &&Quoted| {
        let n = quote.due / TURN;
        !(n == 9 || n == 10 || (40..=44).contains(&n) || n >= 100)
    };
    let quotes: Vec<Quoted> = whole.iter().filter(there).copied().collect();
    let samples: Vec<Stamps> = quotes.iter().map(answer).collect();
    let answers = Answers::of(stretch(), &Listeners::each(4, 1), &quotes, &samples);
    check(&answers, (100, 0, 1 + 5 + 10));
    let none = Answers::of(stretch(), &Listeners::each(4, 1), &[], &[]);
    check(&none, (99, 0, 99));
}

#[test]
fn quotes_that_nobody_hears_are_not_waited_for_and_two_who_hear_owe_two_answers() {
    let quotes = quotes(130);
    let nobody = Answers::of(stretch(), &Listeners::each(3, 1), &quotes, &[]);
    check(&nobody, (75, 75, 0));
    let samples: Vec<Stamps> = quotes.iter().map(answer).collect();
    let twice = Answers::of(stretch(), &Listeners::each(4, 2), &quotes, &samples);
    check(&twice, (200, 100, 0));
}

#[test]
fn quotes_that_were_overwritten_before_they_were_read_are_found_again() {
    let quotes = quotes(130);
    let answered = |quote: &&Quoted| !quote.due.is_multiple_of(5 * TURN);
    let samples: Vec<Stamps> = quotes.iter().filter(answered).map(answer).collect();
    let seen: Vec<Quoted> =
        quotes.iter().filter(|quote| !(60..80).contains(&(quote.due / TURN))).copied().collect();
    let answers = Answers::of(stretch(), &Listeners::each(4, 1), &seen, &samples);
    assert_eq!((answers.expected, answers.lost()), (100, 20), "16 unanswered, 4 neither read nor answered");
}

#[test]
fn what_comes_after_the_stretch_was_outstanding_at_its_end() {
    let quotes = quotes(130);
    let late = |quote: &Quoted| {
        let mut stamps = answer(quote);
        stamps.taken += 20 * TURN;
        stamps
    };
    let samples: Vec<Stamps> = quotes.iter().map(late).collect();
    let answers = Answers::of(stretch(), &Listeners::each(4, 1), &quotes, &samples);
    check(&answers, (100, 0, 0));
    assert_eq!(answers.outstanding, 20);
}
