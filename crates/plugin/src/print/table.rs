//! Columns that stand under each other, whatever their colour.

use super::NOTHING;
use super::paint::{Paint, Tone, tame};

/// Between two columns.
const GAP: usize = 3;

/// A text in a table, with what it means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A text in a tone; one line of it.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        let text = tame(&text.into()).replace('\n', " ");
        Self { text: if text.is_empty() { NOTHING.to_owned() } else { text }, tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Tone::Plain)
    }
}

/// A cell from what may be absent.
pub fn maybe(value: Option<impl ToString>) -> Cell {
    Cell::from(value.map_or_else(|| NOTHING.to_owned(), |value| value.to_string()))
}

/// Rows under a heading.
#[derive(Clone, Debug, Default)]
pub struct Table {
    indent: usize,
    heading: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|word| Cell::new(*word, Tone::Heading)).collect();
        Self { indent: 0, heading, rows: Vec::new() }
    }

    /// Without a heading.
    pub fn bare() -> Self {
        Self::default()
    }

    /// Moved to the right.
    #[must_use]
    pub fn indented(mut self, by: usize) -> Self {
        self.indent = by;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The whole, a line for each row; no blanks at the end of a line.
    pub fn text(&self, paint: Paint) -> String {
        let lines: Vec<&Vec<Cell>> =
            std::iter::once(&self.heading).filter(|row| !row.is_empty()).chain(&self.rows).collect();
        let columns = lines.iter().map(|row| row.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|at| {
                lines.iter().filter_map(|row| row.get(at)).map(|c| c.text.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in lines {
            text.push_str(&" ".repeat(self.indent));
            for (at, cell) in row.iter().enumerate() {
                text.push_str(&paint.text(cell.tone, &cell.text));
                if at + 1 < row.len() {
                    let width = widths.get(at).copied().unwrap_or(0) + GAP;
                    text.push_str(&" ".repeat(width.saturating_sub(cell.text.chars().count())));
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut table = Table::new(&["NAME", "ROLE"]);
        table.row(vec!["orders-a-0".into(), "primary".into()]);
        table.row(vec!["x".into(), Cell::new("", Tone::Plain)]);
        assert_eq!(
            table.text(Paint::new(false)),
            "NAME         ROLE\norders-a-0   primary\nx            -\n"
        );
    }

    #[test]
    fn colour_does_not_move_columns() {
        let mut table = Table::bare().indented(2);
        table.row(vec![Cell::new("ok", Tone::Good), "a".into()]);
        table.row(vec!["long".into(), "b".into()]);
        assert_eq!(table.text(Paint::new(true)), "  \u{1b}[32mok\u{1b}[0m     a\n  long   b\n");
    }

    #[test]
    fn a_cell_is_one_line() {
        let mut table = Table::bare();
        table.row(vec!["two\nlines".into()]);
        assert_eq!(table.text(Paint::new(false)), "two lines\n");
    }
}
