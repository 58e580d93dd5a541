//! Pages of a list. The newest rows come first, and each page continues after an id.

/// The requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<I> {
    /// The largest number of rows, from 1 to 200.
    pub limit: u32,
    /// The last row of the previous page. Only older rows follow.
    pub starting_after: Option<I>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows. The newest come first.
    pub rows: Vec<T>,
    /// `true` if older rows exist.
    pub has_more: bool,
}
