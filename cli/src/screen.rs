//! A table that is drawn over and over on a terminal.

use std::io::{self, Write};

use terminal_size::{Height, Width, terminal_size};

/// The terminal's second screen, for as long as this lives; what stood on the first comes back afterwards.
pub(crate) struct Screen;

impl Screen {
    pub(crate) fn enter() -> io::Result<Screen> {
        let screen = Screen;
        write!(io::stdout(), "\x1b[?1049h\x1b[?25l")?;
        Ok(screen)
    }

    /// Columns and lines.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (Width(columns), Height(lines)) = terminal_size().unwrap_or((Width(80), Height(24)));
        (columns.into(), lines.into())
    }

    /// Draws from the upper left corner over what is there; what is too long is cut.
    pub(crate) fn draw(&self, text: &str) -> io::Result<()> {
        let (columns, lines) = self.size();
        let mut out = io::stdout().lock();
        write!(out, "\x1b[H{}", fitted(text, columns, lines))?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone; there is nobody left to tell.
        let mut out = io::stdout().lock();
        let _ = write!(out, "\x1b[?25h\x1b[?1049l").and_then(|()| out.flush());
    }
}

/// The text as lines that end at the terminal's edge, each clearing what stood behind it.
fn fitted(text: &str, columns: usize, lines: usize) -> String {
    let shown =
        text.lines().take(lines).map(|line| line.chars().take(columns).collect::<String>() + "\x1b[K");
    shown.collect::<Vec<_>>().join("\r\n") + "\x1b[J"
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn what_is_too_long_or_too_wide_is_cut() {
        assert_eq!(fitted("µabc\nd\ne\n", 2, 2), "µa\x1b[K\r\nd\x1b[K\x1b[J");
    }
}
