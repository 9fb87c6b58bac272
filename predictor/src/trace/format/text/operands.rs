//! The operations of the text format, and their operands.

use racelog::trace::{
    BarrierId, ChannelId, CondvarId, Definition, Dictionary, Item, LocId, Location, LockId,
    MemoryOrdering, Op, Patience, StrId, ThreadId, Value, VarId, Woken,
};

use super::fields::Fields;
use super::reader::{Parser, Problem, TextProblem};

/// All keywords.
pub(super) const OPERATIONS: [&str; 47] = [
    "begin",
    "end",
    "fork",
    "join",
    "read",
    "write",
    "load",
    "store",
    "rmw",
    "cas",
    "cas_fail",
    "exclusive",
    "fence",
    "branch",
    "acquire",
    "release",
    "racquire",
    "rrelease",
    "acquire_fail",
    "racquire_fail",
    "wait",
    "wake",
    "wake_timeout",
    "notify_one",
    "notify_all",
    "park",
    "park_timeout",
    "unpark",
    "send",
    "recv",
    "recv_empty",
    "recv_closed",
    "close",
    "rclose",
    "send_closed",
    "send_full",
    "once_begin",
    "once_end",
    "once_wait",
    "request",
    "arrive",
    "leave",
    "assert",
    "check",
    "check_panic",
    "atomic_begin",
    "atomic_end",
];

/// The operands of one operation, and its location.
pub(super) struct Operands<'a> {
    parser: &'a mut Parser,
    fields: Fields<'a>,
    operation: &'a str,
}

impl<'a> Operands<'a> {
    pub(super) fn new(parser: &'a mut Parser, fields: Fields<'a>, operation: &'a str) -> Self {
        Self { parser, fields, operation }
    }

    pub(super) fn init(mut self) -> Result<Item, Problem> {
        let column = self.fields.column();
        let variable = self.fields.clone().next().unwrap_or_default();
        let var = self.var()?;
        if !self.parser.initialised.insert(var) {
            return Err((column, TextProblem::InitTwice { variable: variable.into() }));
        }
        let value = self.value()?;
        match self.fields.next() {
            None => Ok(Item::Init { var, value }),
            Some(word) => Err(self.superfluous(word)),
        }
    }

    /// The rest of `channel NAME MESSAGES`.
    pub(super) fn capacity(mut self) -> Result<(), Problem> {
        let column = self.fields.column();
        let channel = self.channel()?;
        let messages = self.required("a number of messages", |_, word| {
            let unfit = TextProblem::Unfit { word: word.into(), what: "number of messages" };
            word.parse().ok().filter(|messages| *messages > 0).ok_or(unfit)
        })?;
        self.declare(column, Definition::Capacity { channel, messages })
    }

    /// The rest of `fair LOCK`.
    pub(super) fn fair(mut self) -> Result<(), Problem> {
        let column = self.fields.column();
        let lock = self.lock()?;
        self.declare(column, Definition::Fair { lock })
    }

    fn declare(mut self, column: usize, definition: Definition) -> Result<(), Problem> {
        if let Some(word) = self.fields.next() {
            return Err(self.superfluous(word));
        }
        let defined = self.parser.ids.dictionary.define(definition);
        defined.map_err(|error| (column, error.into()))
    }

    /// How long the thread would have waited, said after the operands.
    pub(super) fn patience(&mut self, op: &Op) -> Patience {
        let mut ahead = self.fields.clone();
        let patience = match ahead.next() {
            Some("try") if op.has_patience() => Patience::Try,
            Some("timed") if op.has_patience() => Patience::Timed,
            _ => return Patience::Forever,
        };
        self.fields = ahead;
        patience
    }

    /// The operation with its operands; `None` if there is no such operation.
    pub(super) fn op(&mut self) -> Result<Option<Op>, Problem> {
        Ok(Some(match self.operation {
            "begin" => Op::Begin,
            "end" => Op::End,
            "fork" => Op::Fork(self.thread()?),
            "join" => Op::Join(self.thread()?),
            "read" => Op::Read { var: self.var()?, value: self.value()? },
            "write" => Op::Write { var: self.var()?, value: self.value()? },
            "load" => {
                Op::Load { var: self.var()?, value: self.value()?, ordering: self.ordering()? }
            }
            "store" => {
                Op::Store { var: self.var()?, value: self.value()?, ordering: self.ordering()? }
            }
            "rmw" => Op::Rmw {
                var: self.var()?,
                old: self.value()?,
                new: self.value()?,
                ordering: self.ordering()?,
            },
            "cas" => Op::Cas {
                var: self.var()?,
                old: self.value()?,
                new: self.value()?,
                ordering: self.ordering()?,
            },
            "cas_fail" => {
                Op::CasFail { var: self.var()?, seen: self.value()?, ordering: self.ordering()? }
            }
            "exclusive" => Op::Exclusive { var: self.var()?, value: self.value()? },
            "fence" => Op::Fence(self.ordering()?),
            "branch" => Op::Branch,
            "acquire" => Op::Acquire(self.lock()?),
            "release" => Op::Release(self.lock()?),
            "racquire" => Op::ReadAcquire(self.lock()?),
            "rrelease" => Op::ReadRelease(self.lock()?),
            "acquire_fail" => Op::AcquireFail(self.lock()?),
            "racquire_fail" => Op::ReadAcquireFail(self.lock()?),
            "wait" => Op::Wait { condvar: self.condvar()?, lock: self.lock()? },
            "wake" => Op::Wake { condvar: self.condvar()?, lock: self.lock()? },
            "wake_timeout" => Op::WakeTimeout { condvar: self.condvar()?, lock: self.lock()? },
            "notify_one" => Op::NotifyOne { condvar: self.condvar()?, woken: self.woken()? },
            "notify_all" => Op::NotifyAll(self.condvar()?),
            "park" => Op::Park,
            "park_timeout" => Op::ParkTimeout,
            "unpark" => Op::Unpark(self.thread()?),
            "send" => Op::Send { channel: self.channel()?, message: self.message()? },
            "recv" => Op::Recv { channel: self.channel()?, message: self.message()? },
            "recv_empty" => Op::RecvEmpty(self.channel()?),
            "recv_closed" => Op::RecvClosed(self.channel()?),
            "close" => Op::Close(self.channel()?),
            "rclose" => Op::ReceiverClose(self.channel()?),
            "send_full" => Op::SendFull(self.channel()?),
            "send_closed" => Op::SendClosed { channel: self.channel()?, message: self.message()? },
            "once_begin" => Op::OnceBegin(self.lock()?),
            "once_end" => Op::OnceEnd(self.lock()?),
            "once_wait" => Op::OnceWait(self.lock()?),
            "arrive" => Op::Arrive { barrier: self.barrier()?, generation: self.generation()? },
            "leave" => Op::Leave { barrier: self.barrier()?, generation: self.generation()? },
            "assert" => Op::Assert(self.text()?),
            // Its text comes after its condition.
            "check" => Op::Check { text: None, by_language: false },
            "check_panic" => Op::Check { text: None, by_language: true },
            "atomic_begin" => Op::AtomicBegin(match self.peek() {
                None | Some("@") => None,
                Some(_) => Some(self.text()?),
            }),
            "atomic_end" => Op::AtomicEnd,
            _ => return Ok(None),
        }))
    }

    /// The location after the operands, if there is one, and then the end of the line.
    pub(super) fn location(&mut self) -> Result<Option<LocId>, Problem> {
        match self.fields.next() {
            None => return Ok(None),
            Some("@") => {}
            Some(word) => return Err(self.superfluous(word)),
        }
        let column = self.fields.column();
        let located = self.parser.ids.location(self.fields.rest(), parse_location);
        located.map(Some).map_err(|problem| (column, problem))
    }

    fn superfluous(&self, word: &str) -> Problem {
        let column = self.fields.end_column() - word.len();
        let operation = format!("`{}`", self.operation);
        (column, TextProblem::Superfluous { operation, word: word.into() })
    }

    pub(super) fn superfluous_word(&self, word: &str) -> TextProblem {
        TextProblem::Superfluous { operation: format!("`{}`", self.operation), word: word.into() }
    }

    pub(super) fn parser(&mut self) -> &mut Parser {
        self.parser
    }

    /// The column of the next word.
    pub(super) fn column(&self) -> usize {
        self.fields.column()
    }

    /// All that is left of the line.
    pub(super) fn rest(&self) -> &'a str {
        self.fields.rest()
    }

    /// The next word.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.fields.clone().next()
    }

    /// Takes the next word, which has been looked at.
    pub(super) fn skip(&mut self) -> &'a str {
        self.fields.next().unwrap_or_default()
    }

    /// Takes so many bytes of what is left.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.fields.skip_bytes(count);
    }

    /// The next word, which has to be there.
    pub(super) fn required_word(&mut self, operand: &'static str) -> Result<&'a str, Problem> {
        self.required(operand, |_, word| Ok::<_, TextProblem>(word))
    }

    /// The next operand, if there is one; a location is none, nor is what is said of values.
    fn optional(&mut self) -> Option<&'a str> {
        let word = self.peek().filter(|word| !matches!(*word, "->" | ":=" | "expect"))?;
        self.word().filter(|taken| *taken == word)
    }

    /// The next word, if it is not that a location follows.
    fn word(&mut self) -> Option<&'a str> {
        let mut ahead = self.fields.clone();
        let word = ahead.next().filter(|word| *word != "@")?;
        self.fields = ahead;
        Some(word)
    }

    /// The next operand, turned into something by `make`.
    fn required<T, E: Into<TextProblem>>(
        &mut self,
        operand: &'static str,
        make: impl FnOnce(&mut Parser, &'a str) -> Result<T, E>,
    ) -> Result<T, Problem> {
        let column = self.fields.column();
        let Some(word) = self.optional() else {
            let operation = format!("`{}`", self.operation);
            return Err((column, TextProblem::Missing { operation, operand }));
        };
        make(self.parser, word).map_err(|error| (column, error.into()))
    }

    fn thread(&mut self) -> Result<ThreadId, Problem> {
        self.required("a thread", |parser, word| parser.ids.thread(word))
    }

    fn var(&mut self) -> Result<VarId, Problem> {
        self.required("a variable", |parser, word| parser.ids.var(word))
    }

    fn lock(&mut self) -> Result<LockId, Problem> {
        self.required("a lock", |parser, word| parser.ids.lock(word))
    }

    fn condvar(&mut self) -> Result<CondvarId, Problem> {
        self.required("a condvar", |parser, word| parser.ids.condvar(word))
    }

    fn channel(&mut self) -> Result<ChannelId, Problem> {
        self.required("a channel", |parser, word| parser.ids.channel(word))
    }

    fn barrier(&mut self) -> Result<BarrierId, Problem> {
        self.required("a barrier", |parser, word| parser.ids.barrier(word))
    }

    fn value(&mut self) -> Result<Value, Problem> {
        self.required("a value", parse_value)
    }

    fn message(&mut self) -> Result<Value, Problem> {
        self.required("a message", |parser, word| {
            let message = parse_value(parser, word)?;
            parser.ids.dictionary.check_message(message)?;
            Ok::<_, TextProblem>(message)
        })
    }

    fn generation(&mut self) -> Result<u64, Problem> {
        self.required("a generation", |_, word| {
            let unfit = TextProblem::Unfit { word: word.into(), what: "generation number" };
            word.parse().map_err(|_| unfit)
        })
    }

    fn ordering(&mut self) -> Result<Option<MemoryOrdering>, Problem> {
        let column = self.fields.column();
        let Some(word) = self.optional() else { return Ok(None) };
        Ok(Some(match word {
            "relaxed" => MemoryOrdering::Relaxed,
            "acquire" => MemoryOrdering::Acquire,
            "release" => MemoryOrdering::Release,
            "acqrel" => MemoryOrdering::AcqRel,
            "seqcst" => MemoryOrdering::SeqCst,
            _ => {
                let what = "memory ordering (relaxed, acquire, release, acqrel, seqcst)";
                return Err((column, TextProblem::Unfit { word: word.into(), what }));
            }
        }))
    }

    fn woken(&mut self) -> Result<Woken, Problem> {
        let column = self.fields.column();
        match self.optional() {
            None => Ok(Woken::Unknown),
            Some("-") => Ok(Woken::Nobody),
            Some(word) => {
                let thread = self.parser.ids.thread(word);
                thread.map(Woken::Thread).map_err(|error| (column, error.into()))
            }
        }
    }

    /// All words up to the location.
    pub(super) fn text(&mut self) -> Result<StrId, Problem> {
        let column = self.fields.column();
        let Some(mut text) = self.word().map(str::to_owned) else {
            let operation = format!("`{}`", self.operation);
            return Err((column, TextProblem::Missing { operation, operand: "a text" }));
        };
        while let Some(word) = self.word() {
            text.push(' ');
            text.push_str(word);
        }
        self.parser.ids.dictionary.string(&text).map_err(|error| (column, error.into()))
    }
}

fn parse_value(parser: &mut Parser, word: &str) -> Result<Value, TextProblem> {
    if word == "_" {
        return Ok(Value::Opaque);
    }
    if let Some(number) = Value::parse_number(word) {
        return Ok(number);
    }
    let symbol = Value::Symbol(parser.ids.dictionary.string(word)?);
    parser.ids.dictionary.check_value(symbol)?;
    Ok(symbol)
}

pub(super) fn parse_location(
    dictionary: &mut Dictionary,
    text: &str,
) -> Result<Location, TextProblem> {
    let unfit = || TextProblem::Location { word: text.into() };
    let (before, last) = text.rsplit_once(':').ok_or_else(unfit)?;
    if let Some(pc) = last.strip_prefix("0x") {
        let pc = u64::from_str_radix(pc, 16).map_err(|_| unfit())?;
        return Ok(Location::Code { module: dictionary.string(before)?, pc });
    }
    let last = last.parse::<u32>().map_err(|_| unfit())?;
    let with_column =
        before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line, column) = match with_column {
        Some((file, line)) => (file, line, Some(last)),
        None => (before, last, None),
    };
    Ok(Location::Source { file: dictionary.string(file)?, line, column })
}
