//! A table that is drawn over and over on a terminal, and the keys that are pressed meanwhile.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use terminal_size::{Height, Width, terminal_size};

/// The terminal's second screen, for as long as this lives; what stood on the first comes back afterwards.
pub(crate) struct Screen {
    /// Keys come as they are pressed, without Enter and without being shown.
    has_keys: bool,
}

/// What is pressed, as far as anybody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// `q`, Esc, Ctrl-C.
    Quit,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
    Letter(char),
    /// The terminal has another size.
    Resized,
}

impl Screen {
    pub(crate) fn enter() -> io::Result<Screen> {
        let has_keys = io::stdin().is_terminal() && enable_raw_mode().is_ok();
        let screen = Screen { has_keys };
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

    /// The next key, if one is pressed within this time.
    pub(crate) fn key(&self, within: Duration) -> io::Result<Option<Key>> {
        if !self.has_keys {
            std::thread::sleep(within);
            return Ok(None);
        }
        match event::poll(within) {
            Ok(false) => Ok(None),
            Ok(true) => Ok(match event::read()? {
                Event::Key(key) => meant(key),
                Event::Resize(..) => Some(Key::Resized),
                _ => None,
            }),
            // A signal, which somebody else looks at.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone; there is nobody left to tell.
        if self.has_keys {
            let _ = disable_raw_mode();
        }
        let mut out = io::stdout().lock();
        let _ = write!(out, "\x1b[?25h\x1b[?1049l").and_then(|()| out.flush());
    }
}

fn meant(key: KeyEvent) -> Option<Key> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c' | 'd') if is_control => Key::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Tab | KeyCode::BackTab => Key::Tab,
        KeyCode::Char(letter) if !is_control => Key::Letter(letter),
        _ => return None,
    })
}

/// The text as lines that end at the terminal's edge, each clearing what stood behind it.
fn fitted(text: &str, columns: usize, lines: usize) -> String {
    let shown =
        text.lines().take(lines).map(|line| line.chars().take(columns).collect::<String>() + "\x1b[K");
    shown.collect::<Vec<_>>().join("\r\n") + "\x1b[J"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_or_too_wide_is_cut() {
        assert_eq!(fitted("µabc\nd\ne\n", 2, 2), "µa\x1b[K\r\nd\x1b[K\x1b[J");
    }

    #[test]
    fn control_c_is_a_key_while_keys_come_as_they_are_pressed() {
        let key = |code, modifiers| meant(KeyEvent::new(code, modifiers));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Quit));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::NONE), Some(Key::Letter('c')));
        assert_eq!(key(KeyCode::Char('q'), KeyModifiers::NONE), Some(Key::Quit));
        assert_eq!(key(KeyCode::F(1), KeyModifiers::NONE), None);
    }
}
