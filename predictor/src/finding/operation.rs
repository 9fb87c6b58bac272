//! What an event does, in the words of the text format.

use serde::{Deserialize, Serialize};

use crate::trace::{EventId, Printer};

/// What an event does, without its thread and place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Operation {
    /// The operation, as the text format calls it.
    pub operation: String,
    /// What it is done to, as the trace calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Values, orderings and other objects, as the text format has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operands: Option<String>,
}

impl Operation {
    /// What an event of a trace does.
    pub fn of(printer: &mut Printer<'_>, event: EventId) -> Self {
        Self::of_words(&printer.operation(event))
    }

    /// What these words of the text format say. Names in a trace have no blanks.
    pub(crate) fn of_words(words: &str) -> Self {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (operation, rest) = words.split_once(' ').unwrap_or((words, ""));
        let (object, operands) = match operation {
            // What these have is no object.
            "fence" | "assert" => ("", rest),
            _ => rest.split_once(' ').unwrap_or((rest, "")),
        };
        Self { operation: operation.to_owned(), object: some(object), operands: some(operands) }
    }

    /// The first of its operands.
    pub fn first_operand(&self) -> Option<&str> {
        self.operands.as_deref().and_then(|operands| operands.split(' ').next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_places() {
        let words = |text: &str| {
            let Operation { operation, object, operands } = Operation::of_words(text);
            [operation, object.unwrap_or_default(), operands.unwrap_or_default()]
        };
        assert_eq!(words("begin"), ["begin", "", ""]);
        assert_eq!(words("acquire l1"), ["acquire", "l1", ""]);
        assert_eq!(words("rmw x 1 2 relaxed"), ["rmw", "x", "1 2 relaxed"]);
        assert_eq!(words("assert all is well"), ["assert", "", "all is well"]);
        assert_eq!(Operation::of_words("rmw x 1 2").first_operand(), Some("1"));
    }
}
