//! The form in which an API server gives a quantity back: `1000m` is `1`, `1024Ki` is `1Mi`; but it takes short numbers for
//! canonical by a few signs only, and keeps those as they were written.

use crate::written::{Form, Written};
use crate::{Quantity, Wrong};

/// The text that the server gives back for this one; nothing is finer than this power of ten.
pub fn canonical(text: &str, finest: i32) -> Result<String, Wrong> {
    let written = Written::read(text)?;
    if is_kept(&written, finest) {
        return Ok(text.to_owned());
    }
    Ok(Quantity::from(&written).rounded_up(finest).as_kubernetes_prints())
}

/// Whether the server keeps what was written.
fn is_kept(written: &Written<'_>, finest: i32) -> bool {
    if !written.is_short() {
        return false;
    }
    let digits = written.digits();
    if written.form == Form::Binary {
        let last_bits = digits.parse::<u64>().unwrap_or(0) & 7;
        return written.fraction.is_empty() && last_bits != 0;
    }
    let decimals = i32::try_from(written.fraction.len()).unwrap_or(i32::MAX);
    let scale = written.power.saturating_sub(decimals);
    scale >= finest && scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
}
