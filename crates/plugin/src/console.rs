//! Where the program speaks: results on stdout, all else on stderr; and the question before what can lose data.

use std::cell::RefCell;
use std::io::{self, BufRead, IsTerminal, Write};

use crate::error::Failure;
use crate::print::paint::Paint;

/// The word that confirms. Longer than a key pressed by mistake.
const YES: &str = "yes";

/// The two outputs, and whether a person sits there.
pub struct Console {
    out: RefCell<Box<dyn Write>>,
    err: RefCell<Box<dyn Write>>,
    /// The answers of a person; none where nobody sits at a terminal.
    person: Option<RefCell<Box<dyn BufRead>>>,
    /// How results are coloured.
    pub paint: Paint,
}

impl Console {
    /// The one of this process: coloured on a terminal only, and not where `NO_COLOR` is set.
    pub fn of_this_process() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = io::stdout().is_terminal() && !no_color && !dumb;
        let asks = io::stdin().is_terminal() && io::stderr().is_terminal();
        let person = asks.then(|| RefCell::new(Box::new(io::stdin().lock()) as Box<dyn BufRead>));
        Self {
            out: RefCell::new(Box::new(io::stdout())),
            err: RefCell::new(Box::new(io::stderr())),
            person,
            paint: Paint::new(colour),
        }
    }

    /// One that writes elsewhere, with the answers a person gives, for tests.
    pub fn to(out: Box<dyn Write>, err: Box<dyn Write>, answers: Option<&'static str>) -> Self {
        let person = answers.map(|text| RefCell::new(Box::new(text.as_bytes()) as Box<dyn BufRead>));
        Self { out: RefCell::new(out), err: RefCell::new(err), person, paint: Paint::new(false) }
    }

    /// A line of the result. Who does not listen any more (`| head`) is not told so.
    pub fn say(&self, line: &str) {
        let mut out = self.out.borrow_mut();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }

    /// The result as a text that ends with a line end already.
    pub fn show(&self, text: &str) {
        let mut out = self.out.borrow_mut();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// A line beside the result.
    pub fn note(&self, line: &str) {
        let mut err = self.err.borrow_mut();
        let _ = writeln!(err, "{line}").and_then(|()| err.flush());
    }

    /// What went wrong.
    pub fn complain(&self, message: &str) {
        self.note(&format!("error: {message}"));
    }

    /// Says what can be lost and asks; only the whole word lets it pass. `given` is `--yes`.
    pub fn confirm(&self, losses: &[String], given: bool) -> Result<(), Failure> {
        for line in losses {
            self.note(line);
        }
        if given {
            return Ok(());
        }
        let Some(person) = &self.person else {
            return Err(Failure::No(
                "not done: nobody can be asked, as this is not a terminal; add --yes if this is what you want"
                    .to_owned(),
            ));
        };
        {
            let mut err = self.err.borrow_mut();
            let _ = write!(err, "Go on? Type {YES}: ").and_then(|()| err.flush());
        }
        let mut answer = String::new();
        let read = person.borrow_mut().read_line(&mut answer);
        if read.is_ok() && answer.trim() == YES {
            return Ok(());
        }
        Err(Failure::No("not done: it was not confirmed".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: Option<&'static str>, given: bool) -> Result<(), Failure> {
        let console = Console::to(Box::new(io::sink()), Box::new(io::sink()), answers);
        console.confirm(&["orders-a-2 is given up".to_owned()], given)
    }

    #[test]
    fn only_the_whole_word_or_the_flag_lets_it_pass() {
        assert!(asked(Some("yes\n"), false).is_ok());
        assert!(asked(Some(" yes \n"), false).is_ok());
        assert!(asked(None, true).is_ok());
        for answer in ["y\n", "\n", "", "no\n", "yesterday\n"] {
            assert!(matches!(asked(Some(answer), false), Err(Failure::No(_))), "{answer:?}");
        }
    }

    #[test]
    fn without_a_terminal_and_without_the_flag_nothing_is_done() {
        let Err(Failure::No(why)) = asked(None, false) else { panic!("it passed") };
        assert!(why.contains("--yes"), "{why}");
    }
}
