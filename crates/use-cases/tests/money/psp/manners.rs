//! The behaviors of the simulated acquirer.

/// The reaction of the acquirer to an order to return a Pix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returning {
    /// Accepts the order, which stays in process.
    Takes,
    /// Accepts the order and completes it at once.
    Completes,
    /// Accepts the order, which fails at once.
    Fails,
    /// Certainly does not accept the order, and may accept it later.
    Down,
    /// Refuses permanently.
    Refuses,
    /// Does not accept the order, and its reply is lost.
    Silent,
    /// Accepts the order, but its reply is lost.
    LosesReplies,
    /// Replies with another return.
    Garbles,
}

/// The reaction of the acquirer to a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looking {
    /// The true state.
    Tells,
    /// No reply.
    Silent,
    /// No record.
    Forgets,
}

/// The content of the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Pages with this number of rows.
    Pages(usize),
    /// No reply.
    Silent,
    /// An empty list.
    Empty,
    /// The first page again and again.
    Circles,
}
