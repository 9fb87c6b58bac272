//! What a thread writes to its chunks: events, and initial values.

use crate::rt::store::chunks::{Cursor, Entry};
use crate::trace::binary::code::{self, code_of, with_patience};
use crate::trace::binary::event::{Coder, LONGEST};
use crate::trace::binary::kept::kept_code;
use crate::trace::binary::primitive::Out;
use crate::trace::binary::said::LONGEST as LONGEST_SAID;
use crate::trace::{LocId, Op, Patience, Said, Stamp, Value, VarId};

/// An event.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) stamp: u64,
    pub(super) op: Op,
    pub(super) location: Option<LocId>,
    pub(super) recorded: bool,
    pub(super) patience: Patience,
    /// Where it is kept, if it is a plain access that is.
    pub(super) slot: Option<usize>,
}

impl Entry for Step {
    fn stamp(&self) -> u64 {
        self.stamp
    }

    #[inline(always)]
    fn code(&self) -> u8 {
        match self.slot {
            Some(_) => kept_code(matches!(self.op, Op::Write { .. })),
            None => with_patience(code_of(&self.op), self.patience),
        }
    }

    #[inline(always)]
    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor) {
        let Self { op, location, recorded, .. } = *self;
        let stamp = Stamp::new(self.stamp);
        match self.slot {
            Some(slot) => coder.encode_kept_rest(stamp, slot, &op, location, recorded, out),
            None => coder.encode_rest(stamp, &op, location, recorded, out),
        }
    }
}

/// An event of which something is said.
#[derive(Clone, Copy)]
pub(super) struct SaidStep<'a> {
    pub(super) step: Step,
    pub(super) said: &'a [Said],
}

impl Entry for SaidStep<'_> {
    fn stamp(&self) -> u64 {
        self.step.stamp
    }

    fn code(&self) -> u8 {
        code::SAID
    }

    fn longest(&self) -> usize {
        LONGEST + LONGEST_SAID
    }

    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor) {
        coder.encode_said_rest(self.said, out);
        out.put(self.step.code());
        self.step.encode_rest(coder, out);
    }
}

/// What a thread is about to do, and waits for.
#[derive(Clone, Copy)]
pub(super) struct Request(pub(super) Step);

impl Entry for Request {
    fn stamp(&self) -> u64 {
        self.0.stamp
    }

    fn code(&self) -> u8 {
        code::REQUEST
    }

    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor) {
        out.put(self.0.code());
        self.0.encode_rest(coder, out);
    }
}

/// An initial value.
#[derive(Clone, Copy)]
pub(super) struct Init {
    pub(super) stamp: u64,
    pub(super) var: VarId,
    pub(super) value: Value,
}

impl Entry for Init {
    fn stamp(&self) -> u64 {
        self.stamp
    }

    fn code(&self) -> u8 {
        code::INIT
    }

    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor) {
        coder.encode_init_rest(Stamp::new(self.stamp), self.var, self.value, out);
    }
}
