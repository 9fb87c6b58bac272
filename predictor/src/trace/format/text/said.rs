//! What lines say besides: how often the thread has repeated its last load, `again=n`; and of values
//! `-> a`, `:= E`, `expect E`, `since n`, and the condition of a branch or a check.

use racelog::trace::expression::{Node, put_together, take_apart};
use racelog::trace::{Dictionary, Formula, IntType, Op, Said, Stamp, StrId, ThreadId};
use rustc_hash::FxHashMap;

use super::expression::{self, is_name};
use super::operands::Operands;
use super::reader::{Problem, TextProblem};
use crate::trace::since::UnsureReads;

/// What stands before how often the thread has repeated its last load: no expression begins so.
const AGAIN: &str = "again=";

/// The names that threads have given to values so far.
#[derive(Debug, Default)]
pub(super) struct ValueNames {
    threads: FxHashMap<ThreadId, OfThread>,
}

#[derive(Debug, Default)]
struct OfThread {
    /// How many values the thread has named.
    count: u32,
    /// Which of them, counted from 1, has each name now.
    latest: FxHashMap<Box<str>, u32>,
    /// The other way round.
    names: FxHashMap<u32, Box<str>>,
}

impl ValueNames {
    /// The thread names one more value. One without a name is called by its number.
    pub(super) fn add(&mut self, thread: ThreadId, name: Option<&str>) -> u32 {
        let of_thread = self.threads.entry(thread).or_default();
        of_thread.count += 1;
        let number = of_thread.count;
        if let Some(name) = name {
            if let Some(earlier) = of_thread.latest.insert(name.into(), number) {
                of_thread.names.remove(&earlier);
            }
            of_thread.names.insert(number, name.into());
        }
        number
    }

    /// How many values the thread has named.
    fn count(&self, thread: ThreadId) -> u32 {
        self.threads.get(&thread).map_or(0, |of_thread| of_thread.count)
    }

    /// Which of a thread's values has a name.
    fn number(&self, thread: ThreadId, name: &str) -> Option<u32> {
        let of_thread = self.threads.get(&thread)?;
        let by_number = name.strip_prefix('$').and_then(|number| number.parse().ok());
        let known = |number: &u32| (1..=of_thread.count).contains(number);
        by_number.or_else(|| of_thread.latest.get(name).copied()).filter(known)
    }

    /// What a thread's value is called.
    fn name(&self, thread: ThreadId, number: u32) -> String {
        let name = self.threads.get(&thread).and_then(|of_thread| of_thread.names.get(&number));
        name.map_or_else(|| format!("${number}"), ToString::to_string)
    }
}

impl Operands<'_> {
    /// All that is said of an event after its operands.
    pub(super) fn said(&mut self, thread: ThreadId, op: &mut Op) -> Result<Vec<Said>, Problem> {
        let mut said = Vec::new();
        if let Some(times) = self.peek().and_then(|word| word.strip_prefix(AGAIN)?.parse().ok()) {
            self.skip();
            said.push(Said::Again(times));
        }
        if op.decides() && !matches!(self.peek(), None | Some("@" | "since" | "as")) {
            said.push(Said::Is(self.formula(thread, false)?));
        }
        let mut named = false;
        loop {
            let fits = match self.peek() {
                Some("->") => !named && op.takes_input(),
                Some(":=") => op.writes() || matches!(op, Op::Send { .. }),
                Some("expect") => matches!(op, Op::Cas { .. } | Op::CasFail { .. }),
                Some("since") => !said.is_empty(),
                Some("as") => matches!(op, Op::Check { text: None, .. }),
                _ => return Ok(said),
            };
            let kind = |said: &Said| std::mem::discriminant(said);
            let (column, word) = (self.column(), self.skip());
            if !fits {
                return Err((column, self.superfluous_word(word)));
            }
            let more = match word {
                "->" => {
                    named = true;
                    Said::Found(self.found(thread)?)
                }
                ":=" => Said::Is(self.formula(thread, named)?),
                "expect" => Said::Expects(self.formula(thread, named)?),
                "since" => match self.event_before()? {
                    Some(stamp) => Said::Since(stamp),
                    None => continue,
                },
                _ => {
                    if let Op::Check { text, .. } = op {
                        *text = Some(self.text()?);
                    }
                    continue;
                }
            };
            if said.iter().any(|known| kind(known) == kind(&more)) {
                return Err((column, self.superfluous_word(word)));
            }
            said.push(more);
        }
    }

    fn found(&mut self, thread: ThreadId) -> Result<Option<StrId>, Problem> {
        let column = self.column();
        let word = self.required_word("a name")?;
        let unfit = |word: &str| {
            let what = "name of a value: a letter or `_`, and more of these, digits or dots";
            (column, TextProblem::Unfit { word: word.into(), what })
        };
        if !is_name(word) {
            return Err(unfit(word));
        }
        let names = &mut self.parser().values;
        if let Some(number) = word.strip_prefix('$') {
            if number.parse() != Ok(names.count(thread) + 1) {
                return Err(unfit(word));
            }
            names.add(thread, None);
            return Ok(None);
        }
        names.add(thread, Some(word));
        let name = self.parser().ids.dictionary.string(word);
        name.map(Some).map_err(|error| (column, error.into()))
    }

    /// The expression that follows. What the event itself finds has been named if `named`.
    fn formula(&mut self, thread: ThreadId, named: bool) -> Result<Formula, Problem> {
        let (column, text) = (self.column(), self.rest());
        let names = &self.parser().values;
        let now = names.count(thread) + u32::from(!named);
        let back = |name: &str| Some(now - names.number(thread, name)?);
        let (nodes, end) = expression::parse(text, back)
            .map_err(|(at, wanted)| (column + at, TextProblem::Expression { wanted }))?;
        let too_many = (column, TextProblem::LongExpression);
        let (shape, operands) = take_apart(&nodes).ok_or_else(|| too_many.clone())?;
        let shape = self.parser().ids.dictionary.shape(&shape);
        let shape = shape.map_err(|error| (column, error.into()))?;
        self.skip_bytes(end);
        Formula::new(shape, &operands).ok_or(too_many)
    }

    /// An event, by its number, that comes before this one; none if it is 0.
    fn event_before(&mut self) -> Result<Option<Stamp>, Problem> {
        let column = self.column();
        let word = self.required_word("the number of an event")?;
        let what = "number of an event before this one";
        let unfit = (column, TextProblem::Unfit { word: word.into(), what });
        match word.parse() {
            Ok(0) => Ok(None),
            Ok(number) => self.parser().stamp_of(number).map(Some).ok_or(unfit),
            Err(_) => Err(unfit),
        }
    }
}

/// Says all of an event that stands between its operands and its location.
pub(super) fn print(
    dictionary: &Dictionary,
    names: &mut ValueNames,
    reads: &UnsureReads,
    (thread, op): (ThreadId, &Op),
    said: &[Said],
) -> String {
    let mut text = String::new();
    let mut named = false;
    for said in said {
        if let Said::Again(times) = said {
            text += &format!(" {AGAIN}{times}");
        }
    }
    for said in said {
        if let Said::Found(name) = said {
            named = true;
            let name = name.and_then(|id| dictionary.get_string(id)).filter(|name| is_name(name));
            let number = names.add(thread, name);
            text += &format!(" -> {}", names.name(thread, number));
        }
    }
    let now = names.count(thread) + u32::from(!named);
    let name = |back: u32| names.name(thread, now.saturating_sub(back));
    let formula = |formula: &Formula| {
        let shape = dictionary.get_shape(formula.shape);
        let nodes = shape.and_then(|shape| put_together(shape, formula.operands()));
        nodes.map_or_else(|| "?".to_owned(), |nodes| expression::print(&nodes, name))
    };
    for said in said {
        if let Said::Expects(expected) = said {
            text += &format!(" expect {}", formula(expected));
        }
    }
    for said in said {
        if let Said::Is(value) = said {
            let sign = if op.decides() { " " } else { " := " };
            text += &format!("{sign}{}", formula(value));
        }
    }
    let since = said.iter().find_map(|said| match said {
        Said::Since(stamp) => reads.up_to(*stamp),
        _ => None,
    });
    put_end(dictionary, op, since, &mut text);
    text
}

/// Says the number of an event, and the text of a check.
pub(in crate::trace) fn put_end(
    dictionary: &Dictionary,
    op: &Op,
    since: Option<u64>,
    out: &mut String,
) {
    let check = match op {
        Op::Check { text: Some(id), .. } => dictionary.get_string(*id),
        _ => None,
    };
    let first = check.and_then(|text| text.split(' ').next());
    // It would be taken for a part of the expression.
    let is_type = first.is_some_and(|word| IntType::parse(word).is_some());
    if since.is_some() || (is_type && !out.is_empty()) {
        *out += &format!(" since {}", since.unwrap_or(0));
    }
    if let Some(text) = check {
        *out += &format!(" as {text}");
    }
}

/// An expression, whose names are known.
pub(in crate::trace) fn print_expression(
    nodes: &[Node],
    name: impl FnMut(u32) -> String,
) -> String {
    expression::print(nodes, name)
}
