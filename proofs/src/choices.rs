//! The choices of the runs of a test, enumerated so that every run is made once.

/// Makes every possible run, and returns their number.
///
/// # Errors
///
/// The error of the first run that fails.
pub fn every_run(mut run: impl FnMut(&mut Choices) -> Result<(), String>) -> Result<u64, String> {
    let mut choices = Choices::default();
    let mut runs = 0;
    loop {
        run(&mut choices).map_err(|broken| format!("{broken}\nafter {runs} runs"))?;
        runs += 1;
        if !choices.advance() {
            return Ok(runs);
        }
    }
}

/// The choices that one run makes.
#[derive(Debug, Default)]
pub struct Choices {
    /// For each choice of the run, the chosen option and the number of options.
    made: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    /// Chooses one of `options` options. Up to the first new choice, a run makes the same choices as the run before it.
    ///
    /// # Panics
    ///
    /// If a repeated run differs from the last one.
    pub fn of(&mut self, options: usize) -> usize {
        if self.at == self.made.len() {
            self.made.push((0, options));
        }
        let (chosen, known) = self.made[self.at];
        assert_eq!(known, options, "a repeated run has other choices");
        self.at += 1;
        chosen
    }

    /// Prepares the choices of the next run. Returns false after the last run.
    fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, options)) = self.made.pop() {
            if chosen + 1 < options {
                self.made.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}
