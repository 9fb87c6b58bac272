//! Why a finding is one.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Place;

/// Why a finding is one. In a report it has a `kind`, its data, and a `text` that says the same for
/// readers that do not know the kind.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// Nothing orders the parts in the observed run.
    Unordered,
    /// This detector finds no order between them.
    NoOrderFound {
        /// Which.
        detector: String,
    },
    /// They are ordered in the observed run, and in another execution they are not.
    Reordered {
        /// The locks that order them in the observed run, as the trace calls them.
        locks: Vec<String>,
    },
    /// Atomic accesses order them, but their orderings are too weak for that to count.
    OrderingTooWeak {
        /// Which.
        accesses: Vec<WeakAccess>,
    },
    /// Each part waits for what only another of them can give.
    Circle,
    /// The same, where writers that wait keep readers out.
    CircleOfWaitingWriters,
    /// They take what they wait for in orders that make a circle, and no order that all executions
    /// share keeps them apart.
    LockOrder,
    /// No thread can go on, and none is left that could end the waiting of the parts.
    NobodyLeft,
    /// As before, and a notification of the parts came too early or went elsewhere.
    LostNotification,
    /// All receivers can be gone.
    NoReceiver,
    /// A condition does not hold with what its thread has found.
    ConditionFails {
        /// The condition, and what its names stand for then.
        condition: String,
        /// The locks that the thread holds exclusively: its panic poisons them.
        locks: Vec<String>,
    },
    /// The accesses cannot be put in series.
    NotInSeries,
    /// The same of accesses that belong together by what the trace says.
    BelongTogether,
    /// The same of accesses that may belong together.
    MayBelongTogether,
    /// The recorded run itself was given up while its threads waited.
    Hang,
    /// A run that was directed to the parts had their threads stand there at once.
    Met {
        /// The locks that order them in the recorded run, as the trace calls them.
        locks: Vec<String>,
    },
    /// It happened in a run under control.
    UnderControl,
    /// A reason that a later version of racelog knows.
    Other {
        /// Its name.
        kind: String,
        /// What the report says of it.
        text: String,
    },
}

/// What is taken for granted where threads wait for what any thread could do.
const ASSUMED: &str = "; that takes for granted that no unrecorded thread, signal or timer ends \
                       their waiting, and that none wakes up for no reason";

/// An atomic access whose ordering is too weak.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WeakAccess {
    /// Its number.
    pub event: u64,
    /// Its ordering.
    pub ordering: String,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The operation, as the text format calls it; nothing in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The weakest ordering that would do, if all of these have theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

impl Reason {
    /// The accesses whose orderings are too weak.
    pub fn too_weak(&self) -> &[WeakAccess] {
        match self {
            Self::OrderingTooWeak { accesses } => accesses,
            Self::Unordered
            | Self::NoOrderFound { .. }
            | Self::Reordered { .. }
            | Self::Circle
            | Self::CircleOfWaitingWriters
            | Self::LockOrder
            | Self::NobodyLeft
            | Self::LostNotification
            | Self::NoReceiver
            | Self::ConditionFails { .. }
            | Self::NotInSeries
            | Self::BelongTogether
            | Self::MayBelongTogether
            | Self::Hang
            | Self::Met { .. }
            | Self::UnderControl
            | Self::Other { .. } => &[],
        }
    }

    /// The reason in words. `name` says what the objects of the trace are called.
    pub fn words<'a>(&'a self, name: impl Fn(&'a str) -> &'a str) -> String {
        match self {
            Self::Unordered => "nothing orders these two in the observed run".to_owned(),
            Self::NoOrderFound { detector } => {
                format!("`{detector}` finds no order between these two")
            }
            Self::Reordered { locks } if locks.is_empty() => {
                "can be reordered: nothing that orders these two in the observed run has to"
                    .to_owned()
            }
            Self::Reordered { locks } => {
                let locks: Vec<String> =
                    locks.iter().map(|lock| format!("`{}`", name(lock))).collect();
                format!("can be reordered: {} can be taken in another order", locks.join(", "))
            }
            Self::OrderingTooWeak { accesses } => {
                let words = accesses.iter().map(|weak| match &weak.place {
                    Some(place) => format!("{} at {place} (event {})", weak.ordering, weak.event),
                    None => format!("{} at event {}", weak.ordering, weak.event),
                });
                format!("ordering too weak: {}", words.collect::<Vec<_>>().join(", "))
            }
            Self::Circle => {
                "each of them waits for what only another of them can give, so none of \
                             them can ever go on"
                    .to_owned()
            }
            Self::CircleOfWaitingWriters => {
                "each of them waits for another of them, if waiting writers keep readers out, as \
                 std's do on Linux"
                    .to_owned()
            }
            Self::LockOrder => {
                "the orders in which these are taken make a circle; whether all of them \
                                can stand there at once is not proven"
                    .to_owned()
            }
            Self::NobodyLeft => format!("no recorded thread can go on{ASSUMED}"),
            Self::LostNotification => {
                format!(
                    "the notification is over before it could help, and no recorded thread can go \
                     on{ASSUMED}"
                )
            }
            Self::NoReceiver => {
                "all receivers of the channel can be dropped before this message is sent".to_owned()
            }
            Self::ConditionFails { condition, locks } => {
                let locks: Vec<String> =
                    locks.iter().map(|lock| format!("`{}`", name(lock))).collect();
                let poisons = match locks.is_empty() {
                    true => String::new(),
                    false => format!("; while holding {}: poisons it", locks.join(", ")),
                };
                format!("with what is read then, this does not hold: {condition}{poisons}")
            }
            Self::NotInSeries => {
                "the access of another thread can come between the two of the region, and no \
                 order of one after the other has the same effect"
                    .to_owned()
            }
            Self::BelongTogether => {
                "the access of another thread can come between two that belong together, and no \
                 order of one after the other has the same effect"
                    .to_owned()
            }
            Self::MayBelongTogether => {
                "the access of another thread can come between a read and a write that may go by \
                 it; nothing in the trace shows that it does"
                    .to_owned()
            }
            Self::Hang => {
                "the recorded run did not come to its end: it stood still here".to_owned()
            }
            Self::Met { locks } if locks.is_empty() => {
                "a run under control had both threads stand there at once: in the recorded run they \
                 are in order by chance"
                    .to_owned()
            }
            Self::Met { locks } => {
                let locks: Vec<String> =
                    locks.iter().map(|lock| format!("`{}`", name(lock))).collect();
                format!(
                    "a run under control had both threads stand there at once: in the recorded run \
                     {} puts them in order by chance",
                    locks.join(", ")
                )
            }
            Self::UnderControl => {
                "it happened in a run under control; other runs do not have it".to_owned()
            }
            Self::Other { text, .. } => text.clone(),
        }
    }

    fn kind(&self) -> &str {
        match self {
            Self::Unordered => "unordered",
            Self::NoOrderFound { .. } => "no-order-found",
            Self::Reordered { .. } => "reordered",
            Self::OrderingTooWeak { .. } => "ordering-too-weak",
            Self::Circle => "circle",
            Self::CircleOfWaitingWriters => "circle-of-waiting-writers",
            Self::LockOrder => "lock-order",
            Self::NobodyLeft => "nobody-left",
            Self::LostNotification => "lost-notification",
            Self::NoReceiver => "no-receiver",
            Self::ConditionFails { .. } => "condition-fails",
            Self::NotInSeries => "not-in-series",
            Self::BelongTogether => "belong-together",
            Self::MayBelongTogether => "may-belong-together",
            Self::Hang => "hang",
            Self::Met { .. } => "met",
            Self::UnderControl => "under-control",
            Self::Other { kind, .. } => kind,
        }
    }
}

/// A reason as reports have it.
#[derive(Default, Serialize, Deserialize)]
struct Written {
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detector: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    too_weak: Vec<WeakAccess>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = Written {
            kind: self.kind().to_owned(),
            text: self.words(|name| name),
            ..Written::default()
        };
        match self {
            Self::NoOrderFound { detector } => written.detector = Some(detector.clone()),
            Self::Reordered { locks } => written.locks.clone_from(locks),
            Self::ConditionFails { condition, locks } => {
                written.condition = Some(condition.clone());
                written.locks.clone_from(locks);
            }
            Self::Met { locks } => written.locks.clone_from(locks),
            Self::OrderingTooWeak { accesses } => written.too_weak.clone_from(accesses),
            Self::Unordered
            | Self::Circle
            | Self::CircleOfWaitingWriters
            | Self::LockOrder
            | Self::NobodyLeft
            | Self::LostNotification
            | Self::NoReceiver
            | Self::NotInSeries
            | Self::BelongTogether
            | Self::MayBelongTogether
            | Self::Hang
            | Self::UnderControl
            | Self::Other { .. } => {}
        }
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { kind, text, detector, locks, too_weak, condition } =
            Written::deserialize(deserializer)?;
        Ok(match (kind.as_str(), detector) {
            ("unordered", _) => Self::Unordered,
            ("no-order-found", Some(detector)) => Self::NoOrderFound { detector },
            ("reordered", _) => Self::Reordered { locks },
            ("ordering-too-weak", _) => Self::OrderingTooWeak { accesses: too_weak },
            ("circle", _) => Self::Circle,
            ("circle-of-waiting-writers", _) => Self::CircleOfWaitingWriters,
            ("lock-order", _) => Self::LockOrder,
            ("nobody-left", _) => Self::NobodyLeft,
            ("lost-notification", _) => Self::LostNotification,
            ("no-receiver", _) => Self::NoReceiver,
            ("condition-fails", _) => {
                Self::ConditionFails { condition: condition.unwrap_or_default(), locks }
            }
            ("not-in-series", _) => Self::NotInSeries,
            ("belong-together", _) => Self::BelongTogether,
            ("may-belong-together", _) => Self::MayBelongTogether,
            ("hang", _) => Self::Hang,
            ("met", _) => Self::Met { locks },
            ("under-control", _) => Self::UnderControl,
            _ => Self::Other { kind, text },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_come_back_and_later_ones_keep_their_words() {
        let locks = vec!["l1".to_owned(), "l2".to_owned()];
        let place = "a.rs:1:2".parse().ok();
        let weak = WeakAccess {
            event: 7,
            ordering: "Relaxed".to_owned(),
            place,
            operation: None,
            needs: None,
        };
        let other = Reason::Other { kind: "spiral".to_owned(), text: "a waits for b".to_owned() };
        for reason in [
            Reason::Unordered,
            Reason::NoOrderFound { detector: "quick".to_owned() },
            Reason::Met { locks: locks.clone() },
            Reason::UnderControl,
            Reason::Reordered { locks },
            Reason::OrderingTooWeak { accesses: vec![weak] },
            Reason::Circle,
            Reason::CircleOfWaitingWriters,
            Reason::LockOrder,
            Reason::NobodyLeft,
            Reason::LostNotification,
            Reason::NoReceiver,
            Reason::ConditionFails { condition: "a == 1".to_owned(), locks: vec!["l".to_owned()] },
            Reason::NotInSeries,
            Reason::BelongTogether,
            Reason::MayBelongTogether,
            Reason::Hang,
            other.clone(),
        ] {
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(serde_json::from_str::<Reason>(&json).unwrap(), reason, "{json}");
        }
        assert_eq!(other.words(|name| name), "a waits for b");
    }
}
