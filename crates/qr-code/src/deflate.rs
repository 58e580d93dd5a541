//! The pixels of a QR code as a deflate stream (RFC 1951) with a code table made for QR codes.
//!
//! Each row of modules (the squares of the code) is four equal rows of pixels. Each byte of pixels has one of four
//! values. For such data, a general compressor is either slow or produces an image three times as large.

use super::png::{LIGHT, MARGINS, NO_FILTER, PIXELS_PER_MODULE, QUIET_PIXELS};

/// The initial capacity, in bytes: enough for the stream of a usual Pix code.
const USUAL_BYTES: usize = 1_024;
/// The longest copy that is used, in bytes. A copy repeats earlier bytes of the stream. Deflate allows 258 bytes, but
/// that length has a separate symbol (section 3.2.5).
const LONGEST_COPY: u32 = 257;
/// The symbol of the shortest copies, of three bytes. The symbol 256 ends a block, and lower symbols are literal bytes.
const FIRST_COPY: u32 = 257;
/// The last symbol of the literal and length table.
const LAST_SYMBOL: u32 = 285;

/// Returns the deflate stream of an image: blank rows, four equal rows for each line, blank rows.
///
/// A line is a row of modules without its margins, two modules per byte. Each line has `line_bytes` bytes.
pub(super) fn compress<'a>(lines: impl Iterator<Item = &'a [u8]>, line_bytes: u32) -> Vec<u8> {
    let [before, after] = MARGINS;
    let row_bytes = before + line_bytes + after;
    let mut stream = Stream { bytes: Vec::with_capacity(USUAL_BYTES), pending: 0, count: 0 };

    // A blank row, and copies of it up to the first line.
    stream.begin_fixed_block(false);
    stream.fixed_literals();
    stream.fixed_copy(row_bytes - 2, 1);
    stream.fixed_copy((QUIET_PIXELS - 1) * row_bytes + before, row_bytes);
    stream.push(0, 7);

    // After each line, one copy from the row above writes all bytes up to the next line.
    let (copy, distance) = (Run::of_length(PIXELS_PER_MODULE * row_bytes - line_bytes), Run::of_distance(row_bytes));
    stream.begin_own_block(&copy, &distance);
    for line in lines {
        for byte in line {
            stream.own_literal(*byte);
        }
        stream.push(0b1111, 4);
        stream.push(copy.extra, copy.extra_bits);
        stream.push(0, 1);
        stream.push(distance.extra, distance.extra_bits);
    }
    stream.push(0b0111, 4);

    // The copy after the last line already wrote the left margin of the first blank row.
    stream.begin_fixed_block(true);
    stream.fixed_copy(row_bytes - before, 1);
    stream.fixed_copy((QUIET_PIXELS - 1) * row_bytes, row_bytes);
    stream.push(0, 7);
    stream.finish()
}

/// The encoding of a length or a distance: a symbol for a range, and bits for the place in the range (section 3.2.5).
struct Run {
    symbol: u32,
    extra: u32,
    extra_bits: u32,
}

impl Run {
    /// Returns the symbol for a copy of 3 to 257 bytes, counted from that of the shortest copy.
    fn of_length(bytes: u32) -> Self {
        Self::new(bytes - 3, 2)
    }

    fn of_distance(bytes: u32) -> Self {
        Self::new(bytes - 1, 1)
    }

    /// Returns the encoding of a value. After every 2 ^ `steps` ranges the size of the ranges doubles.
    fn new(value: u32, steps: u32) -> Self {
        let extra_bits = value.max(1).ilog2().saturating_sub(steps);
        Self {
            symbol: (extra_bits << steps) + (value >> extra_bits),
            extra: value & ((1 << extra_bits) - 1),
            extra_bits,
        }
    }
}

/// Bits that become bytes, the lowest first.
struct Stream {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl Stream {
    /// Writes up to 32 bits, lowest first.
    fn push(&mut self, bits: u32, count: u32) {
        self.pending |= u64::from(bits) << self.count;
        self.count += count;
        if self.count >= 32 {
            let [a, b, c, d, ..] = self.pending.to_le_bytes();
            self.bytes.extend_from_slice(&[a, b, c, d]);
            self.pending >>= 32;
            self.count -= 32;
        }
    }

    /// Writes a code of a table, highest bit first.
    fn push_code(&mut self, code: u32, count: u32) {
        self.push(code.reverse_bits() >> (u32::BITS - count), count);
    }

    fn finish(mut self) -> Vec<u8> {
        let rest = self.pending.to_le_bytes().into_iter().zip((0..self.count).step_by(8));
        self.bytes.extend(rest.map(|(byte, _)| byte));
        self.bytes
    }

    /// Begins a block with the fixed code table (section 3.2.6). The blank rows are in such blocks.
    fn begin_fixed_block(&mut self, last: bool) {
        self.push(u32::from(last), 1);
        self.push(1, 2);
    }

    /// Writes the beginning of the first row: the filter's number and light pixels.
    fn fixed_literals(&mut self) {
        self.push_code(0b0011_0000 + u32::from(NO_FILTER), 8);
        self.push_code(0b1_1001_0000 + u32::from(LIGHT) - 144, 9);
    }

    /// Copies `bytes` bytes in total from `distance` bytes back. The copies are as few as possible, with roughly equal
    /// lengths.
    fn fixed_copy(&mut self, bytes: u32, distance: u32) {
        let copies = bytes.div_ceil(LONGEST_COPY);
        for copy in 0..copies {
            let length = Run::of_length((copy + 1) * bytes / copies - copy * bytes / copies);
            // In the fixed table, the codes of the symbols 256 (the end of the block) to 279 have seven bits. Those of
            // the next symbols have eight bits.
            match length.symbol.checked_sub(23) {
                None => self.push_code(length.symbol + 1, 7),
                Some(symbol) => self.push_code(0b1100_0000 + symbol, 8),
            }
            self.push(length.extra, length.extra_bits);
            let distance = Run::of_distance(distance);
            self.push_code(distance.symbol, 5);
            self.push(distance.extra, distance.extra_bits);
        }
    }

    /// Begins a block with its own code table (section 3.2.7): the four bytes that occur, the end of the block, and one
    /// copy.
    ///
    /// A second, unused distance completes the code of the distances, because some decoders reject an incomplete code.
    fn begin_own_block(&mut self, copy: &Run, distance: &Run) {
        let copy = FIRST_COPY + copy.symbol;
        self.push(0, 1);
        self.push(2, 2);
        self.push(LAST_SYMBOL + 1 - FIRST_COPY, 5);
        self.push(distance.symbol + 1, 5);
        // The table is itself written in a code. These are the lengths of that code, in bits (section 3.2.7).
        // Order: 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1.
        let bits = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 3, 0, 3, 0, 3];
        self.push(14, 4);
        for bits in bits {
            self.push(bits, 3);
        }

        self.own_symbol(2); // 0x00
        self.unused_symbols(14);
        self.own_symbol(2); // 0x0f
        self.unused_symbols(138);
        self.unused_symbols(86);
        self.own_symbol(3); // 0xf0
        self.unused_symbols(14);
        self.own_symbol(2); // 0xff
        self.own_symbol(4); // the end of the block
        self.unused_symbols(copy - FIRST_COPY);
        self.own_symbol(4);
        self.unused_symbols(LAST_SYMBOL - copy + distance.symbol);
        self.own_symbol(1);
        self.own_symbol(1);
    }

    /// Adds the next symbol to the table, with a code of 1 to 4 bits.
    fn own_symbol(&mut self, bits: u32) {
        self.push_code(0b100 + bits - 1, 3);
    }

    /// Adds the next 11 to 138 symbols to the table, without codes, because they do not occur.
    fn unused_symbols(&mut self, count: u32) {
        self.push(0, 1);
        self.push(count - 11, 7);
    }

    /// Writes the byte of two modules. The codes below are reversed: their lowest bit is written first. The two other
    /// codes, in the order of writing, are 1110 for the end of the block and 1111 for the copy.
    fn own_literal(&mut self, byte: u8) {
        let (code, count) = match byte {
            0x00 => (0b00, 2),
            0x0f => (0b10, 2),
            // This byte has the longest code of the four, because it is the rarest. Finder patterns and the ends of
            // lines never contain it.
            0xf0 => (0b011, 3),
            _ => (0b01, 2),
        };
        self.push(code, count);
    }
}
