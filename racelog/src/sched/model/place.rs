//! Places in the source, beside those that the recorder knows.

use std::panic::Location;

use crate::contract::place::SourcePlace;
use crate::rt::CallSite;

/// The place that the recorder knows as this, if it is known.
pub(in crate::sched) fn place_of(here: Option<CallSite>) -> Option<SourcePlace> {
    here?.location().map(place_at)
}

/// The place that the compiler knows as this.
pub(in crate::sched) fn place_at(here: &Location<'_>) -> SourcePlace {
    SourcePlace::new(here.file(), here.line()).column(here.column())
}

/// Whether a place means the one that the recorder knows as this.
pub(in crate::sched) fn is_at(place: &SourcePlace, here: Option<CallSite>) -> bool {
    let here = here.and_then(CallSite::location);
    here.is_some_and(|here| place.means(here.file(), here.line(), here.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_matched() {
        let here = Location::caller();
        let place = SourcePlace::new("model/place.rs", here.line());
        let site = Some(CallSite::source(here));
        assert!(is_at(&place, site));
        assert!(is_at(&place_at(here), site));
        assert!(!is_at(&place.clone().column(here.column() + 1), site));
        assert!(!is_at(&place, None));
    }
}
