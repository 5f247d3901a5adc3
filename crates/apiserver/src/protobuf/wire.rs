//! The bytes of a message: fields with numbers, one after the other.

use super::Fault;

/// A number has at most ten bytes of seven bits.
const MAX_NUMBER_BYTES: usize = 10;

/// The highest number of a field.
const MAX_FIELD: u64 = (1 << 29) - 1;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content<'a> {
    Number(u64),
    Eight([u8; 8]),
    Four,
    Bytes(&'a [u8]),
}

/// The fields of a message, in the order of its bytes. Nothing follows an error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field; none at the end.
    fn field(&mut self) -> Result<Option<(u32, Content<'a>)>, Fault> {
        // Groups are a form that nothing here has: what is in them is passed over.
        let mut groups: Vec<u64> = Vec::new();
        while !self.rest.is_empty() {
            let tag = self.number()?;
            let number = tag >> 3;
            let field = u32::try_from(number)
                .ok()
                .filter(|_| (1..=MAX_FIELD).contains(&number))
                .ok_or(Fault::Tag { tag })?;
            let content = match tag & 7 {
                0 => Content::Number(self.number()?),
                1 => Content::Eight(self.bytes(8)?.try_into().map_err(|_| Fault::End)?),
                2 => {
                    let length = usize::try_from(self.number()?).map_err(|_| Fault::End)?;
                    Content::Bytes(self.bytes(length)?)
                }
                3 => {
                    groups.push(number);
                    continue;
                }
                4 if groups.pop() == Some(number) => continue,
                4 => return Err(Fault::Group),
                5 => {
                    self.bytes(4)?;
                    Content::Four
                }
                _ => return Err(Fault::Tag { tag }),
            };
            if groups.is_empty() {
                return Ok(Some((field, content)));
            }
        }
        if groups.is_empty() { Ok(None) } else { Err(Fault::End) }
    }

    /// A number alone, as lists of numbers have them one after the other.
    pub(super) fn number(&mut self) -> Result<u64, Fault> {
        let mut number = 0;
        for index in 0..MAX_NUMBER_BYTES {
            let [byte] = *self.bytes(1)? else { return Err(Fault::End) };
            // As Go: what is above 64 bits is lost.
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault::Overflow)
    }

    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Fault::End)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Content<'a>), Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        field.transpose()
    }
}

/// Bytes as text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(u32, Content<'_>)>, Fault> {
        Fields::of(bytes).collect()
    }

    #[test]
    fn fields_have_numbers_and_contents() {
        let bytes = b"\x08\x96\x01\x12\x02hi\x19\x00\x00\x00\x00\x00\x00\xf0\x3f\x25\x01\x02\x03\x04";
        let eight = Content::Eight(1.0_f64.to_le_bytes());
        assert_eq!(
            all(bytes).unwrap(),
            [(1, Content::Number(150)), (2, Content::Bytes(b"hi")), (3, eight), (4, Content::Four)]
        );
    }

    #[test]
    fn a_negative_number_has_ten_bytes() {
        let bytes = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(all(bytes).unwrap(), [(1, Content::Number(u64::MAX))]);
        assert_eq!(all(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), Err(Fault::Overflow));
    }

    #[test]
    fn groups_are_passed_over() {
        assert_eq!(all(b"\x0b\x10\x01\x13\x14\x0c\x18\x07").unwrap(), [(3, Content::Number(7))]);
        assert_eq!(all(b"\x0b\x10\x01"), Err(Fault::End));
        assert_eq!(all(b"\x0b\x14"), Err(Fault::Group));
        assert_eq!(all(b"\x0c"), Err(Fault::Group));
    }

    #[test]
    fn what_is_no_field_is_refused() {
        assert_eq!(all(b"\x00\x00"), Err(Fault::Tag { tag: 0 }));
        assert_eq!(all(b"\x0e"), Err(Fault::Tag { tag: 14 }));
        for cut in [&b"\x08"[..], b"\x08\x80", b"\x12\x05hi", b"\x19\x00", b"\x25\x00"] {
            assert_eq!(all(cut), Err(Fault::End), "{cut:?}");
        }
        assert_eq!(all(b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), Err(Fault::End));
    }
}
