//! How a report writes some parts of an outcome: as it did before they were types of the contract.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{OtherValue, ThreadValues};
use crate::contract::operation::Operation;

/// An access with another value: its thread stands beside each of the values.
#[derive(Serialize, Deserialize)]
struct Said<O> {
    step: u64,
    access: O,
    predicted: ThreadValues,
    found: ThreadValues,
}

impl<P: Serialize> Serialize for OtherValue<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { step, access, predicted, found } = self;
        let [predicted, found] = [predicted, found]
            .map(|values| ThreadValues { thread: access.thread.clone(), values: values.clone() });
        Said { step: *step, access, predicted, found }.serialize(serializer)
    }
}

impl<'de, P: Deserialize<'de>> Deserialize<'de> for OtherValue<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let said: Said<Operation<P>> = Said::deserialize(deserializer)?;
        let Said { step, access, predicted, found } = said;
        Ok(Self { step, access, predicted: predicted.values, found: found.values })
    }
}

/// A thread that may be none of the run's, as a word.
pub(super) mod thread_or_none {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::contract::operation::NONE;

    pub(in super::super) fn serialize<S: Serializer>(
        thread: &Option<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(thread.as_deref().unwrap_or(NONE))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        Ok(Some(String::deserialize(deserializer)?).filter(|thread| thread != NONE))
    }
}
