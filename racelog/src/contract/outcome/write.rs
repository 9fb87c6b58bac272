//! Writes outcomes.

use std::fmt::{self, Display};

use super::super::operation::{NONE, write_place};
use super::{
    Aftermath, Deviation, Divergence, EarlyStep, HEAD, NamedThread, OtherValue, Reached,
    RunOutcome, Standing, ThreadPlace, ThreadState, ThreadValues,
};

impl Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        if let Some(program) = &self.program {
            writeln!(f, "program {}", OneLine(program))?;
        }
        for NamedThread { thread, name } in &self.threads {
            writeln!(f, "thread {thread} {}", OneLine(name))?;
        }
        for thread in &self.foreign {
            writeln!(f, "foreign {thread}")?;
        }
        reached(&self.reached, f)?;
        for ThreadValues { thread, values } in &self.values {
            writeln!(f, "value {thread} {values}")?;
        }
        for [first, second] in &self.real_races {
            writeln!(f, "real {first} {second}")?;
        }
        writeln!(f, "steps {}", self.steps)?;
        for stranger in &self.strangers {
            writeln!(f, "stranger {}", OneLine(stranger))?;
        }
        writeln!(f, "then {}", AftermathText(&self.then))?;
        if let Some(panicked) = &self.panicked {
            writeln!(f, "panicked {panicked}")?;
        }
        self.waits.iter().try_for_each(|wait| standing("wait", wait, f))?;
        self.lost.iter().try_for_each(|lost| writeln!(f, "lost {lost}"))
    }
}

fn reached(reached: &Reached, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match reached {
        Reached::Confirmed => writeln!(f, "result confirmed"),
        Reached::Ran => writeln!(f, "result ran"),
        Reached::Unreached { step, expected } => {
            writeln!(f, "result unreached\nat {step}\nexpected {expected}")
        }
        Reached::Diverged(divergence) => diverged(divergence, f),
    }
}

fn diverged(divergence: &Divergence, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Divergence { step, expected, why, early, differs } = divergence;
    let word = match why {
        Deviation::Other(_) => "other",
        Deviation::Ended => "ended",
        Deviation::Absent(_) => "absent",
        Deviation::Blocked(_) => "blocked",
        Deviation::GoesOn => "goes_on",
        Deviation::Apart => "apart",
    };
    writeln!(f, "result diverged\nat {step}\nwhy {word}\nexpected {expected}")?;
    match why {
        Deviation::Other(found) => writeln!(f, "found {found}")?,
        Deviation::Absent(Some(stands)) | Deviation::Blocked(stands) => {
            standing("stands", stands, f)?;
        }
        Deviation::Ended | Deviation::Absent(None) | Deviation::GoesOn | Deviation::Apart => {}
    }
    if let Some(EarlyStep { step, operation }) = early {
        writeln!(f, "early {step} {operation}")?;
    }
    if let Some(OtherValue { step, access, predicted, found }) = differs {
        writeln!(f, "differs {step} {access}\npredicted {predicted}\ninstead {found}")?;
    }
    Ok(())
}

/// Where a thread stands, and the lines that belong to it.
fn standing(word: &str, standing: &Standing, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Standing { thread, state, action, place, object: _, joins, holders, writers } = standing;
    let state = match state {
        ThreadState::Ready => "ready",
        ThreadState::Outside => "outside",
        ThreadState::Ended => "ended",
    };
    write!(f, "{word} {thread} {state} {action}")?;
    write_place(place.as_ref(), f)?;
    writeln!(f)?;
    if let Some(joined) = joins {
        writeln!(f, "joins {joined}")?;
    }
    holders.iter().try_for_each(|holder| writeln!(f, "holds {holder}"))?;
    writers.iter().try_for_each(|writer| writeln!(f, "first {writer}"))
}

impl Display for ThreadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.thread.as_deref().unwrap_or(NONE))?;
        write_place(self.place.as_ref(), f)
    }
}

/// What followed, as an outcome says it.
struct AftermathText<'a>(&'a Aftermath);

impl Display for AftermathText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Aftermath::Nothing => f.write_str("nothing"),
            Aftermath::Panic(message) => write!(f, "panic {}", OneLine(message)),
            Aftermath::Check(label) => write!(f, "check {}", OneLine(label)),
            Aftermath::Deadlock => f.write_str("deadlock"),
            Aftermath::Livelock => f.write_str("livelock"),
            Aftermath::Stuck => f.write_str("stuck"),
            Aftermath::Killed(signal) => write!(f, "killed {signal}"),
            Aftermath::Unended => f.write_str("unended"),
        }
    }
}

/// A text with blanks instead of line breaks.
struct OneLine<'a>(&'a str);

impl Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace(['\n', '\r'], " "))
    }
}
