//! The ways in which the simulated acquirer answers.

/// How it answers an order to return a Pix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returning {
    /// It takes it, and is still at work on it.
    Takes,
    /// It takes it, and has returned it at once.
    Completes,
    /// It takes it, and has found at once that it fails.
    Fails,
    /// It certainly does nothing, and may later.
    Down,
    /// It refuses for good.
    Refuses,
    /// It does nothing, and nobody can tell.
    Silent,
    /// It takes it, and nobody can tell.
    LosesReplies,
    /// It returns something else instead.
    Garbles,
}

/// How it answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looking {
    /// As things stand.
    Tells,
    /// Not at all.
    Silent,
    /// As if it had never heard of anything.
    Forgets,
}

/// How it lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// So many rows on a page.
    Pages(usize),
    /// Not at all.
    Silent,
    /// Nothing, as if nothing had ever happened.
    Empty,
    /// The first page for ever.
    Circles,
}
