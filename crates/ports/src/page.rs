//! Pages of a list: newest first, continued after an id.

/// Which page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<I> {
    /// How many rows at most; 1 to 200.
    pub limit: u32,
    /// The last row of the page before; only older rows follow.
    pub starting_after: Option<I>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows, newest first.
    pub rows: Vec<T>,
    /// Whether older rows exist.
    pub has_more: bool,
}
