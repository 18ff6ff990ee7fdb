//! The language of claims.
//!
//! ```text
//! claim   = all { "or" all }              all    = one { "and" one }
//! one     = "not" one | sum [ ("<" | "<=" | ">" | ">=" | "==") sum ]
//! sum     = product { ("+" | "-") product }
//! product = part { ("*" | "/") part }
//! part    = number | "(" claim ")" | figure "(" group "," rate [ "," stage ] ")"
//!         | ("highest" | "lowest") "(" figure "," group ")" | "m_shaped" "(" group ")"
//! figure  = mean p50 p90 p99 p999 max     of t2o, or of the stage: md strategy order t2o t2o_intended durable; in µs
//!         | achieved lost samples disordered lateness_p99 wakeups context_switches
//! ```
//!
//! `highest` and `lowest` range over the group's rates. `m_shaped` is true when the means over the rates rise, fall,
//! rise and fall again, each time by at least a quarter.

use wire::stages::STAGES;

use super::ScenarioConfig;
use crate::t2o::record::DURABLE;

/// A parsed claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// A constant.
    Number(f64),
    /// A figure of one cell.
    Figure {
        /// `mean`, `p50`, …
        figure: String,
        /// The group.
        group: String,
        /// Quotes a second.
        rate: f64,
        /// The stage, `t2o` by default.
        stage: String,
    },
    /// The highest or lowest of a figure over a group's rates.
    Extreme {
        /// Highest, not lowest.
        highest: bool,
        /// `mean`, `p50`, …
        figure: String,
        /// The group.
        group: String,
    },
    /// Whether the curve of a group has two humps.
    MShaped {
        /// The group.
        group: String,
    },
    /// `not`.
    Not(Box<Expression>),
    /// Two expressions and their operator.
    Pair(Box<Expression>, Operator, Box<Expression>),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Plus,
    Minus,
    Times,
    Over,
}

/// Figures of one stage.
const TIMES: [&str; 6] = ["mean", "p50", "p90", "p99", "p999", "max"];
/// Figures of a cell as a whole.
const COUNTS: [&str; 7] =
    ["achieved", "lost", "samples", "disordered", "lateness_p99", "wakeups", "context_switches"];

/// A claim that cannot be parsed: the bytes of its text, and the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClaimError {
    /// First byte.
    pub(crate) start: usize,
    /// Behind the last byte.
    pub(crate) end: usize,
    /// The problem.
    pub(crate) what: String,
}

/// Parses a claim.
///
/// # Errors
/// [`ClaimError`], the first one.
pub(crate) fn read(text: &str) -> Result<Expression, ClaimError> {
    let mut reader = Reader { words: words(text)?, at: 0, end: text.len() };
    let claim = reader.either()?;
    match reader.peek() {
        None => Ok(claim),
        Some(word) => Err(word.wrong("nothing more is expected here")),
    }
}

/// Checks that the groups and rates of a claim are those of the scenario.
pub(super) fn check(claim: &Expression, config: &ScenarioConfig) -> Result<(), String> {
    let has_group = |group: &str| match config.group.iter().any(|known| known.name == group) {
        true => Ok(()),
        false => Err(format!("the scenario has no group `{group}`")),
    };
    match claim {
        Expression::Number(_) => Ok(()),
        Expression::Figure { group, rate, .. } => {
            has_group(group)?;
            let measured = config.group.iter().filter(|known| known.name == *group).any(|known| {
                known.rates.as_ref().is_none_or(|rates| rates.contains(rate))
                    && config.load.iter().any(|load| load.rate == *rate)
            });
            if measured { Ok(()) } else { Err(format!("group `{group}` is not measured at {rate}/s")) }
        }
        Expression::Extreme { group, .. } | Expression::MShaped { group } => has_group(group),
        Expression::Not(inner) => check(inner, config),
        Expression::Pair(left, _, right) => check(left, config).and_then(|()| check(right, config)),
    }
}

#[derive(Clone, Debug)]
struct Word {
    text: String,
    start: usize,
}

impl Word {
    fn wrong(&self, what: impl Into<String>) -> ClaimError {
        ClaimError { start: self.start, end: self.start + self.text.len(), what: what.into() }
    }
}

fn words(text: &str) -> Result<Vec<Word>, ClaimError> {
    let mut words = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, letter)) = rest.next() {
        let mut word = letter.to_string();
        let joins: fn(char) -> bool = match letter {
            ' ' | '\t' | '\n' => continue,
            'a'..='z' | 'A'..='Z' | '0'..='9' => |next| next.is_ascii_alphanumeric() || "_.".contains(next),
            '<' | '>' | '=' => |next| next == '=',
            '(' | ')' | ',' | '+' | '-' | '*' | '/' => |_| false,
            other => {
                let what = format!("`{other}` has no meaning in a claim");
                return Err(ClaimError { start, end: start + other.len_utf8(), what });
            }
        };
        while let Some((_, next)) = rest.next_if(|(_, next)| joins(*next)) {
            word.push(next);
        }
        words.push(Word { text: word, start });
    }
    Ok(words)
}

struct Reader {
    words: Vec<Word>,
    at: usize,
    end: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Word> {
        self.words.get(self.at)
    }

    fn next(&mut self, wanted: &str) -> Result<Word, ClaimError> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word.ok_or_else(|| ClaimError {
            start: self.end,
            end: self.end,
            what: format!("the claim ends where {wanted} is expected"),
        })
    }

    fn expect(&mut self, wanted: &str) -> Result<(), ClaimError> {
        let word = self.next(&format!("`{wanted}`"))?;
        if word.text == wanted { Ok(()) } else { Err(word.wrong(format!("`{wanted}` is expected here"))) }
    }

    fn chain(
        &mut self,
        joints: &[(&str, Operator)],
        part: fn(&mut Reader) -> Result<Expression, ClaimError>,
    ) -> Result<Expression, ClaimError> {
        let mut left = part(self)?;
        while let Some(operator) = self.joint(joints) {
            left = Expression::Pair(Box::new(left), operator, Box::new(part(self)?));
        }
        Ok(left)
    }

    fn joint(&mut self, joints: &[(&str, Operator)]) -> Option<Operator> {
        let word = self.peek()?;
        let (_, operator) = joints.iter().find(|(text, _)| *text == word.text)?;
        self.at += 1;
        Some(*operator)
    }

    fn either(&mut self) -> Result<Expression, ClaimError> {
        self.chain(&[("or", Operator::Or)], Reader::all)
    }

    fn all(&mut self) -> Result<Expression, ClaimError> {
        self.chain(&[("and", Operator::And)], Reader::one)
    }

    fn one(&mut self) -> Result<Expression, ClaimError> {
        if self.peek().is_some_and(|word| word.text == "not") {
            self.at += 1;
            return Ok(Expression::Not(Box::new(self.one()?)));
        }
        let left = self.sum()?;
        let joints = [
            ("<", Operator::Less),
            ("<=", Operator::LessOrEqual),
            (">", Operator::Greater),
            (">=", Operator::GreaterOrEqual),
            ("==", Operator::Equal),
        ];
        match self.joint(&joints) {
            Some(operator) => Ok(Expression::Pair(Box::new(left), operator, Box::new(self.sum()?))),
            None => Ok(left),
        }
    }

    fn sum(&mut self) -> Result<Expression, ClaimError> {
        self.chain(&[("+", Operator::Plus), ("-", Operator::Minus)], Reader::product)
    }

    fn product(&mut self) -> Result<Expression, ClaimError> {
        self.chain(&[("*", Operator::Times), ("/", Operator::Over)], Reader::part)
    }

    fn part(&mut self) -> Result<Expression, ClaimError> {
        let word = self.next("a number or a figure")?;
        if let Ok(number) = word.text.parse() {
            return Ok(Expression::Number(number));
        }
        match word.text.as_str() {
            "(" => {
                let inner = self.either()?;
                self.expect(")")?;
                Ok(inner)
            }
            "highest" | "lowest" => {
                self.expect("(")?;
                let figure = self.next("a figure")?;
                if !TIMES.contains(&figure.text.as_str()) {
                    return Err(figure.wrong(format!("one of {} is expected here", TIMES.join(", "))));
                }
                self.expect(",")?;
                let group = self.next("a group")?.text;
                self.expect(")")?;
                Ok(Expression::Extreme { highest: word.text == "highest", figure: figure.text, group })
            }
            "m_shaped" => {
                self.expect("(")?;
                let group = self.next("a group")?.text;
                self.expect(")")?;
                Ok(Expression::MShaped { group })
            }
            figure if TIMES.contains(&figure) || COUNTS.contains(&figure) => self.figure(word.text),
            _ => Err(word.wrong(format!(
                "no such figure: there are {}, {}, highest, lowest, m_shaped",
                TIMES.join(", "),
                COUNTS.join(", ")
            ))),
        }
    }

    /// `(group, rate)` or `(group, rate, stage)`.
    fn figure(&mut self, figure: String) -> Result<Expression, ClaimError> {
        self.expect("(")?;
        let group = self.next("a group")?.text;
        self.expect(",")?;
        let word = self.next("a rate")?;
        let rate = word.text.parse().map_err(|_| word.wrong("a rate is expected here: 80"))?;
        let mut stage = "t2o".to_owned();
        if self.peek().is_some_and(|word| word.text == ",") {
            self.at += 1;
            let word = self.next("a stage")?;
            if word.text != DURABLE && !STAGES.contains(&word.text.as_str()) {
                return Err(word.wrong(format!("no such stage: there are {}, {DURABLE}", STAGES.join(", "))));
            }
            stage = word.text;
        }
        self.expect(")")?;
        Ok(Expression::Figure { figure, group, rate, stage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_by_the_usual_rules() {
        let claim = read("mean(A, 80) >= 5 * mean(D, 0.333, md) + 1 and not m_shaped(A)").unwrap();
        let Expression::Pair(left, Operator::And, right) = claim else { panic!() };
        assert_eq!(*right, Expression::Not(Box::new(Expression::MShaped { group: "A".to_owned() })));
        let Expression::Pair(_, Operator::GreaterOrEqual, sum) = *left else { panic!() };
        let Expression::Pair(product, Operator::Plus, one) = *sum else { panic!() };
        assert_eq!(*one, Expression::Number(1.0));
        let Expression::Pair(_, Operator::Times, figure) = *product else { panic!() };
        let Expression::Figure { rate, stage, .. } = *figure else { panic!() };
        assert_eq!((rate, stage.as_str()), (0.333, "md"));
        assert!(read("(p50(F, 80) < 1 or p99(F, 80) < 2)").is_ok());
        assert!(read("highest(mean, D) / lowest(mean, D) <= 3").is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_shown() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!((error("p51(A, 80) < 1").start, error("p51(A, 80) < 1").end), (0, 3));
        assert!(error("p50(A, 80").what.contains("`)`"));
        assert!(error("p50(A, x) < 1").what.contains("a rate"));
        assert!(error("p50(A, 80, mid) < 1").what.contains("no such stage"));
        assert!(error("p50(A, 80) ! 1").what.contains("`!`"));
        assert!(error("1 2").what.contains("nothing more"));
        assert!(error("").what.contains("the claim ends"));
    }
}
