//! Where values come from, in a loaded trace: what events say besides what they did.

use racelog::trace::expression::{Node, evaluate, is_true, put_together};
use racelog::trace::{
    ChannelId, Dictionary, Event, Formula, Said, Shape, Stamp, StrId, ThreadId, Value,
};
use rustc_hash::FxHashMap;

use super::since::UnsureReads;
use super::{EventId, Op, ValueId, Values};

/// What an event says of values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// What the event found in the observed run, if expressions may speak of it.
    pub found: Option<ValueId>,
    /// What people call that.
    pub name: Option<StrId>,
    /// Which of the values that the thread has named it is, from 1.
    pub number: u32,
    /// What the event leaves or sends, or decides by.
    pub is: Option<Expression>,
    /// What a compare-exchange expects to find.
    pub expects: Option<Expression>,
    /// The expressions hold only if what the thread has read up to this place, this one included,
    /// was what it was.
    pub since: Option<u32>,
}

/// A computation over what a thread has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression {
    /// The computation; a read is a place in the list of reads.
    nodes: Box<[Node]>,
    reads: Box<[EventId]>,
}

impl Expression {
    /// A computation over what these events have found; a read is a place in their list.
    pub(crate) fn new(nodes: Vec<Node>, reads: Vec<EventId>) -> Self {
        Self { nodes: nodes.into(), reads: reads.into() }
    }

    /// The events of whose values it is made, each once.
    pub fn reads(&self) -> &[EventId] {
        &self.reads
    }

    /// The computation; a read is a place in the list of [`reads`](Self::reads).
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What it computes if the events have found these values. There is no result where there is
    /// none in the program, or where a value is unknown.
    pub fn compute(&self, mut found: impl FnMut(EventId) -> Option<Value>) -> Option<Value> {
        evaluate(&self.nodes, |place| found(*self.reads.get(place as usize)?))
    }
}

/// Why what is said of an event is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unsound {
    /// The event finds nothing that is known, or nothing at all.
    FindsNothing,
    /// An expression speaks of a value that the thread has not named.
    NotNamed,
    /// An expression is said of an event that has no use for it.
    NoUse,
    /// An expression has another value than the event, or none.
    Differs { computed: Option<Value>, observed: Option<Value> },
}

impl Unsound {
    /// Says it.
    pub(super) fn describe(&self, dictionary: &Dictionary) -> String {
        let say = |value: &Option<Value>| match value {
            None | Some(Value::Opaque) => "nothing that is known".to_owned(),
            Some(Value::Nat(number)) => number.to_string(),
            Some(Value::Neg(number)) => number.to_string(),
            Some(Value::Symbol(id)) => dictionary.get_string(*id).unwrap_or("?").to_owned(),
        };
        match self {
            Self::FindsNothing => {
                "what it finds is not known, so it cannot have a name: leave out `->`".to_owned()
            }
            Self::NotNamed => {
                "its expression speaks of a value that the thread has not named".to_owned()
            }
            Self::NoUse => "an expression says nothing of such an event".to_owned(),
            Self::Differs { computed, observed } => format!(
                "its expression gives {} where the trace has {}: a trace must come out as it was \
                 observed",
                say(computed),
                say(observed)
            ),
        }
    }
}

/// Gathers what events say of values, in the trace's order.
#[derive(Debug, Default)]
pub(super) struct DataLoader {
    pub(super) data: FxHashMap<EventId, Data>,
    /// What is said of each thread's next event, by the thread's number in the file.
    said: FxHashMap<ThreadId, Vec<Said>>,
    /// The events of each thread whose values are named.
    named: FxHashMap<ThreadId, Vec<EventId>>,
    reads: FxHashMap<ThreadId, UnsureReads>,
    /// What messages say.
    contents: FxHashMap<(ChannelId, ValueId), ValueId>,
}

impl DataLoader {
    pub(super) fn say(&mut self, thread: ThreadId, said: Said) {
        // How often a load was repeated changes nothing: wherever one is, the others can be.
        if matches!(said, Said::Again(_)) {
            return;
        }
        self.said.entry(thread).or_default().push(said);
    }

    /// Takes an event; `position` is its place in its thread.
    #[inline]
    pub(super) fn event(
        &mut self,
        shapes: &[Shape],
        values: &mut Values,
        event: &Event,
        op: &Op,
        (id, position): (EventId, u32),
    ) -> Result<(), Unsound> {
        // Of nearly all events nothing is said.
        let said = match self.said.is_empty() {
            true => None,
            false => self.said.remove(&event.thread),
        };
        if let Some(said) = said {
            let data = self.take(shapes, values, event.thread, op, id, &said)?;
            self.data.insert(id, data);
        }
        if event.recorded || !self.reads.is_empty() {
            self.note_reads(event, op, id, position);
        }
        Ok(())
    }

    fn note_reads(&mut self, event: &Event, op: &Op, id: EventId, position: u32) {
        let reads = self.reads.entry(event.thread).or_default();
        let data = self.data.get(&id);
        let decides_anyhow = match op {
            Op::Branch | Op::Check { .. } => data.is_none_or(|data| data.is.is_none()),
            Op::Cas { .. } | Op::CasFail { .. } => data.is_none_or(|data| data.expects.is_none()),
            _ => false,
        };
        let guarded = op.implies_branch() && !event.recorded;
        if decides_anyhow || guarded {
            reads.clear();
        }
        if op.takes_input() && !guarded {
            reads.add(event.stamp, position.into());
        }
    }

    fn take(
        &mut self,
        shapes: &[Shape],
        values: &mut Values,
        thread: ThreadId,
        op: &Op,
        id: EventId,
        said: &[Said],
    ) -> Result<Data, Unsound> {
        let mut data = Data::default();
        for said in said {
            if let Said::Found(name) = said {
                let found = match *op {
                    Op::Recv { channel, message } => {
                        self.contents.get(&(channel, message)).copied()
                    }
                    _ => op.found().copied(),
                };
                let is_known = |id: &ValueId| values.get(*id) != Value::Opaque;
                data.found = Some(found.filter(is_known).ok_or(Unsound::FindsNothing)?);
                data.name = *name;
                let named = self.named.entry(thread).or_default();
                named.push(id);
                data.number = named.len() as u32;
            }
        }
        // What the event itself finds counts as the last.
        let own = usize::from(data.found.is_none());
        for said in said {
            match said {
                Said::Found(_) | Said::Again(_) => {}
                Said::Since(stamp) => data.since = self.since(thread, *stamp),
                Said::Is(formula) => {
                    data.is = Some(self.expression(shapes, thread, own, formula)?);
                }
                Said::Expects(formula) => {
                    data.expects = Some(self.expression(shapes, thread, own, formula)?);
                }
            }
        }
        self.data.insert(id, data.clone());
        self.check(values, op, &data)?;
        Ok(data)
    }

    fn since(&self, thread: ThreadId, stamp: Stamp) -> Option<u32> {
        let reads = self.reads.get(&thread)?;
        reads.up_to(stamp).and_then(|position| u32::try_from(position).ok())
    }

    fn expression(
        &self,
        shapes: &[Shape],
        thread: ThreadId,
        own: usize,
        formula: &Formula,
    ) -> Result<Expression, Unsound> {
        let named = self.named.get(&thread).map_or(&[][..], Vec::as_slice);
        let shape = shapes.get(formula.shape.index()).ok_or(Unsound::NotNamed)?;
        let mut nodes = put_together(shape, formula.operands()).ok_or(Unsound::NotNamed)?;
        let mut reads: Vec<EventId> = Vec::new();
        for node in &mut nodes {
            let Node::Read(back) = node else { continue };
            let place = (named.len() + own).checked_sub(1 + *back as usize);
            let read = *place.and_then(|place| named.get(place)).ok_or(Unsound::NotNamed)?;
            let known = reads.iter().position(|known| *known == read);
            *back = known.unwrap_or_else(|| {
                reads.push(read);
                reads.len() - 1
            }) as u32;
        }
        Ok(Expression::new(nodes, reads))
    }

    /// Whether expressions come out as it was observed.
    fn check(&mut self, values: &mut Values, op: &Op, data: &Data) -> Result<(), Unsound> {
        let compute = |expression: &Expression| {
            expression.compute(|read| Some(values.get(self.data.get(&read)?.found?)))
        };
        let same = |computed: Option<Value>, observed: ValueId| {
            let observed = values.get(observed);
            let observed = Some(observed).filter(|observed| *observed != Value::Opaque);
            let fits = computed.is_some() && computed == observed;
            if fits { Ok(()) } else { Err(Unsound::Differs { computed, observed }) }
        };
        if let Some(expects) = &data.expects {
            let computed = compute(expects);
            match op {
                Op::Cas { old, .. } => same(computed, *old)?,
                Op::CasFail { seen, .. } => {
                    let observed = Some(values.get(*seen));
                    if computed.is_none() || computed == observed {
                        return Err(Unsound::Differs { computed, observed });
                    }
                }
                _ => return Err(Unsound::NoUse),
            }
        }
        let Some(is) = &data.is else { return Ok(()) };
        let computed = compute(is);
        match *op {
            Op::Branch | Op::Check { .. } => {
                let holds = computed.is_some_and(is_true);
                let observed = Some(Value::Nat(1));
                if holds { Ok(()) } else { Err(Unsound::Differs { computed, observed }) }
            }
            Op::Send { channel, message } => {
                let content = computed.ok_or(Unsound::Differs { computed, observed: None })?;
                self.contents.insert((channel, message), values.concrete(content));
                Ok(())
            }
            _ => match op.left() {
                Some(left) if !op.is_exclusive() => same(computed, *left),
                _ => Err(Unsound::NoUse),
            },
        }
    }
}
