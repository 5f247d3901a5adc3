//! Waiting for a condition, with a bound: what tests use in place of sleeping and hoping.

use std::thread;
use std::time::{Duration, Instant};

/// Between two questions.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// Asks until the answer is `Ok` or the deadline passes; then the last answer is the error. It asks at least once.
pub fn eventually<T, E>(deadline: Instant, mut ask: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    loop {
        match ask() {
            Err(_) if Instant::now() < deadline => thread::sleep(POLL_EVERY),
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_at_the_first_yes() {
        let mut answers = [Err("not yet"), Ok(1), Ok(2)].into_iter();
        let deadline = Instant::now() + Duration::from_secs(60);
        assert_eq!(eventually(deadline, || answers.next().unwrap()), Ok(1));
    }

    #[test]
    fn after_the_deadline_the_last_answer_is_the_error() {
        let mut asked = 0;
        let answer = eventually(Instant::now(), || {
            asked += 1;
            Err::<(), _>(asked)
        });
        assert_eq!(answer, Err(1));
    }
}
