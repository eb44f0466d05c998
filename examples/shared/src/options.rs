//! Options and their values.

use std::ffi::{OsStr, OsString};

use lexopt::prelude::*;

use crate::command::Command;

/// The value of the option that is read.
pub type NextValue<'a> = dyn FnMut() -> Result<OsString, String> + 'a;

/// Reads a command line without the program's name into `args`: calls `take(args, option, value)`
/// for every long option but `--help`, which says whether it knows it. `known` names the options.
///
/// # Errors
/// A message for the user: what `take` says, or the word that is unknown and the options.
pub fn read<A, I>(
    words: I,
    known: &str,
    mut args: A,
    mut take: impl FnMut(&mut A, &str, &mut NextValue<'_>) -> Result<bool, String>,
) -> Result<Command<A>, String>
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(word) = parser.next().map_err(|e| e.to_string())? {
        let Long(option) = word else {
            return Err(unknown(&word, known));
        };
        if option == "help" {
            return Ok(Command::Help);
        }
        // A copy, since the value is read from the parser that the option's name borrows.
        let option = option.to_owned();
        if !take(&mut args, &option, &mut || parser.value().map_err(|e| e.to_string()))? {
            return Err(unknown(&Long(&option), known));
        }
    }
    Ok(Command::Run(args))
}

fn unknown(word: &lexopt::Arg<'_>, known: &str) -> String {
    let what = match word {
        Short(c) => format!("unknown option `-{c}`"),
        Long(name) => format!("unknown option `--{name}`"),
        Value(value) => format!("unexpected argument `{}`", value.to_string_lossy()),
    };
    format!("{what}; the known options are {known}, --help")
}

/// A number.
///
/// # Errors
/// A message where it is none.
pub fn number<T: std::str::FromStr>(option: &str, value: &OsStr) -> Result<T, String> {
    value
        .to_str()
        .and_then(|v| v.parse().ok())
        .ok_or_else(|| format!("--{option} takes a number, not `{}`", value.to_string_lossy()))
}

/// A count of `least` or more.
///
/// # Errors
/// A message where it is none.
pub fn at_least(least: usize, option: &str, value: &OsStr) -> Result<usize, String> {
    match number(option, value)? {
        n if n < least => Err(format!("--{option} takes {least} or more, not {n}")),
        n => Ok(n),
    }
}

/// A finite number above 0.
///
/// # Errors
/// A message where it is none.
pub fn above_zero(option: &str, value: &OsStr) -> Result<f64, String> {
    let x: f64 = number(option, value)?;
    if x > 0.0 && x.is_finite() { Ok(x) } else { Err(format!("--{option} takes more than 0, not {x}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> Result<Command<usize>, String> {
        read(words.split_whitespace(), "--count", 0, |count, option, value| {
            match option {
                "count" => *count = at_least(2, option, &value()?)?,
                _ => return Ok(false),
            }
            Ok(true)
        })
    }

    #[test]
    fn words_are_read_or_named() {
        assert_eq!(line("--count 3"), Ok(Command::Run(3)));
        assert_eq!(line("--help --nonsense"), Ok(Command::Help));
        for (words, message) in [
            ("--cuont 3", "unknown option `--cuont`; the known options are --count, --help"),
            ("-c", "unknown option `-c`; the known options are --count, --help"),
            ("more", "unexpected argument `more`; the known options are --count, --help"),
            ("--count 1", "--count takes 2 or more, not 1"),
            ("--count x", "--count takes a number, not `x`"),
        ] {
            assert_eq!(line(words), Err(message.to_owned()));
        }
        assert!(line("--count").is_err());
    }

    #[test]
    fn rates_are_finite_and_above_zero() {
        assert_eq!(above_zero("lr", OsStr::new("0.5")), Ok(0.5));
        for value in ["0", "-1", "nan", "inf", "x"] {
            assert!(above_zero("lr", OsStr::new(value)).is_err(), "{value}");
        }
    }
}
