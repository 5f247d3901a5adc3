//! Markdown tables, as far as the rules read them.

/// A row of a table: its line, counted from 1, and its cells.
pub(super) struct Row<'a> {
    pub(super) line: usize,
    pub(super) cells: Vec<&'a str>,
}

/// Every row of every table in a page, headers included.
pub(super) fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    text.lines().enumerate().filter_map(|(i, line)| {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        Some(Row { line: i + 1, cells: inner.split('|').map(str::trim).collect() })
    })
}

/// What stands in backticks.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_their_lines() {
        let text = "text\n\n| a | b |\n|---|---|\n| `c`, `d` | |\n";
        let rows: Vec<_> = rows(text).map(|row| (row.line, row.cells)).collect();
        assert_eq!(rows, [(3, vec!["a", "b"]), (4, vec!["---", "---"]), (5, vec!["`c`, `d`", ""])]);
        assert_eq!(quoted("`c`, `d`").collect::<Vec<_>>(), ["c", "d"]);
    }
}
