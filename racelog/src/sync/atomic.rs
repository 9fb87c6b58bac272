//! Mirrors of [`std::sync::atomic`].
