//! `time`.

use crate::both::for_both;

for_both! {
    use std::fmt::Debug;
    use std::hash::Hash;
    use std::ops::{Add, AddAssign, Sub, SubAssign};

    use root::time::{Duration, Instant, SystemTime, SystemTimeError, UNIX_EPOCH};

    #[test]
    fn instants() {
        let _: fn() -> Instant = Instant::now;
        let _: [fn(&Instant, Instant) -> Duration; 2] =
            [Instant::duration_since, Instant::saturating_duration_since];
        let _: fn(&Instant, Instant) -> Option<Duration> = Instant::checked_duration_since;
        let _: fn(&Instant) -> Duration = Instant::elapsed;
        let _: [fn(&Instant, Duration) -> Option<Instant>; 2] =
            [Instant::checked_add, Instant::checked_sub];
        fn has_all<T>(_: T)
        where
            T: Copy + Ord + Hash + Debug + Send + Sync + Unpin + 'static,
            T: Add<Duration, Output = T> + AddAssign<Duration>,
            T: Sub<Duration, Output = T> + SubAssign<Duration> + Sub<T, Output = Duration>,
        {
        }
        has_all(Instant::now());
        // Both ways, as it is where both are the same.
        let _: fn(std::time::Instant) -> Instant = Into::into;
        let _: fn(Instant) -> std::time::Instant = Into::into;
    }

    #[test]
    fn instants_are_counted_with() {
        let second = Duration::from_secs(1);
        let now = Instant::now();
        let mut later = now + second;
        assert_eq!(later - now, second);
        assert_eq!(later.duration_since(now), second);
        assert_eq!(now.duration_since(later), Duration::ZERO);
        assert_eq!(now.checked_duration_since(later), None);
        assert_eq!(later.checked_sub(second), Some(now));
        assert_eq!(now.checked_add(second), Some(later));
        assert_eq!(now.checked_add(Duration::MAX), None);
        later += second;
        later -= second;
        assert_eq!(later - second, now);
        assert!(now < later && Instant::now() >= now && now.elapsed() < 3600 * second);
        let to_std: fn(Instant) -> std::time::Instant = Into::into;
        let from_std: fn(std::time::Instant) -> Instant = Into::into;
        assert_eq!(to_std(from_std(to_std(now))), to_std(now));
    }

    #[test]
    fn the_rest_is_std() {
        let _: fn() -> SystemTime = SystemTime::now;
        let _: std::time::SystemTime = UNIX_EPOCH;
        let _: fn(SystemTimeError) -> std::time::SystemTimeError = |error| error;
    }
}
