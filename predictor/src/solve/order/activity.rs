//! Which propositions conflicts have been about lately.

/// How active each proposition is.
#[derive(Debug)]
pub(super) struct Activity {
    of: Vec<f64>,
    increment: f64,
}

const DECAY: f64 = 0.95;
const LARGEST: f64 = 1e100;

impl Default for Activity {
    fn default() -> Self {
        Self { of: Vec::new(), increment: 1.0 }
    }
}

impl Activity {
    /// Adds a proposition.
    pub(super) fn grow(&mut self) {
        self.of.push(0.0);
    }

    pub(super) fn of(&self, proposition: usize) -> f64 {
        self.of[proposition]
    }

    pub(super) fn bump(&mut self, proposition: usize) {
        self.of[proposition] += self.increment;
        if self.of[proposition] > LARGEST {
            for activity in &mut self.of {
                *activity /= LARGEST;
            }
            self.increment /= LARGEST;
        }
    }

    /// What was bumped before counts less than what is bumped from now on.
    pub(super) fn decay(&mut self) {
        self.increment /= DECAY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_count_most() {
        let mut activity = Activity::default();
        (0..3).for_each(|_| activity.grow());
        activity.bump(0);
        activity.decay();
        activity.bump(1);
        assert!(activity.of(1) > activity.of(0) && activity.of(0) > activity.of(2));
        (0..10_000).for_each(|_| {
            activity.bump(2);
            activity.decay();
        });
        assert!(activity.of(2).is_finite() && activity.of(2) > activity.of(1));
    }
}
