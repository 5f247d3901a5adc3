//! CRC-32 (the one of zip and Ethernet), eight bytes at a time.

const POLYNOMIAL: u32 = 0xEDB8_8320;
const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        // Below 256, so nothing is cut.
        #[allow(clippy::cast_possible_truncation)]
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { (rest >> 1) ^ POLYNOMIAL } else { rest >> 1 };
            bit += 1;
        }
        tables[0][byte] = rest;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum of these parts, one after the other.
pub(super) fn checksum(parts: &[&[u8]]) -> u32 {
    !parts.iter().fold(!0, |sum, part| add(sum, part))
}

fn add(mut sum: u32, bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        let word = u64::from_le_bytes(*eight) ^ u64::from(sum);
        sum = word
            .to_le_bytes()
            .iter()
            .zip(TABLES.iter().rev())
            .fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)]);
    }
    rest.iter().fold(sum, |sum, byte| (sum >> 8) ^ TABLES[0][((sum ^ u32::from(*byte)) & 0xFF) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_that_everybody_knows() {
        assert_eq!(checksum(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(checksum(&[b"The quick brown fox jumps over the lazy dog"]), 0x414F_A339);
        assert_eq!(checksum(&[]), 0);
    }

    #[test]
    fn where_it_is_cut_makes_no_difference() {
        let text: Vec<u8> = (0..=255).collect();
        for cut in 0..text.len() {
            assert_eq!(checksum(&[&text[..cut], &text[cut..]]), checksum(&[&text]));
        }
    }
}
