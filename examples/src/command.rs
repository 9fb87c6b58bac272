//! The command line of the one binary that runs all programs:
//! `example NAME [--size small|large|WORK|THREADSxWORK]`.

use std::process::ExitCode;

use crate::program::{Program, Size};
use crate::programs;

/// The exit code of a command line that is not understood.
const USAGE: u8 = 2;

/// What can be said on the command line.
const FORMS: &str = "usage: example NAME [--size small|large|WORK|THREADSxWORK]
       example --list";

/// How sizes are written.
pub(crate) const SIZES: &str =
    "write `small`, `large`, or numbers above 0, such as `100` or `4x100`";

/// Names that differ from a word in no more places are suggested instead of it.
const NEAR: usize = 3;

/// What the command line asks for.
#[derive(Debug)]
enum Asked {
    /// The names of all programs.
    List,
    /// To run a program.
    Run(&'static Program, Size),
}

/// Runs a program as the arguments say.
pub fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match asked(&arguments) {
        Ok(Asked::List) => programs().for_each(|program| println!("{}", program.name)),
        Ok(Asked::Run(program, size)) => (program.run)(&size),
        Err(problem) => {
            eprintln!("error: {problem}\n{FORMS}");
            return ExitCode::from(USAGE);
        }
    }
    ExitCode::SUCCESS
}

fn asked(arguments: &[String]) -> Result<Asked, String> {
    match arguments {
        [] => Err("no program is named: `--list` prints the names".to_owned()),
        [list] if list == "--list" => Ok(Asked::List),
        [name, rest @ ..] => {
            let program = named(name)?;
            Ok(Asked::Run(program, size(program, rest)?))
        }
    }
}

/// The program of a name; else what is wrong with the name.
pub(crate) fn named(name: &str) -> Result<&'static Program, String> {
    if let Some(program) = programs().find(|program| program.name == name) {
        return Ok(program);
    }
    let distance = |known: &str| strsim::damerau_levenshtein(known, name);
    let near = programs().map(|program| program.name).min_by_key(|known| distance(known));
    Err(match near.filter(|known| distance(known) <= NEAR) {
        Some(near) => format!("no program is called `{name}`: is it `{near}`?"),
        None => format!("no program is called `{name}`: `example --list` prints the names"),
    })
}

/// The size that is asked for; the small one, if nothing is said.
fn size(program: &Program, arguments: &[String]) -> Result<Size, String> {
    let word = match arguments {
        [] => return Ok(program.small),
        [option] if option == "--size" => return Err("`--size` needs a size after it".to_owned()),
        [option] => option.strip_prefix("--size=").ok_or_else(|| unknown(option))?,
        [option, word] if option == "--size" => word,
        [option, _, rest @ ..] => {
            let odd = rest.first().filter(|_| option == "--size").unwrap_or(option);
            return Err(unknown(odd));
        }
    };
    parse(program, word).ok_or_else(|| format!("`{word}` is no size: {SIZES}"))
}

fn unknown(argument: &str) -> String {
    format!("`{argument}` is not understood: after the name only `--size` is")
}

/// The size that a word stands for.
pub(crate) fn parse(program: &Program, word: &str) -> Option<Size> {
    let number = |word: &str| word.parse().ok().filter(|&number: &usize| number > 0);
    match (word, word.split_once('x')) {
        ("small", _) => Some(program.small),
        ("large", _) => Some(program.large),
        (_, Some((threads, work))) => Some(Size::new(number(threads)?, number(work)?)),
        (work, None) => Some(Size { work: number(work)?, ..program.small }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::critical::PROGRAM;

    fn size_of(line: &str) -> Result<Size, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        size(&PROGRAM, &words)
    }

    #[test]
    fn sizes_are_words_or_numbers() {
        assert_eq!(size_of(""), Ok(PROGRAM.small));
        assert_eq!(size_of("--size small"), Ok(PROGRAM.small));
        assert_eq!(size_of("--size=large"), Ok(PROGRAM.large));
        assert_eq!(size_of("--size 7"), Ok(Size { work: 7, ..PROGRAM.small }));
        assert_eq!(size_of("--size 3x8"), Ok(Size::new(3, 8)));
    }

    #[test]
    fn programs_are_known_by_their_names() {
        for program in programs() {
            assert!(std::ptr::eq(named(program.name).unwrap(), program), "{}", program.name);
        }
        let problem = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            asked(&words).unwrap_err()
        };
        let near = "no program is called `airlien_fixed`: is it `airline_fixed`?";
        assert_eq!(problem(&["airlien_fixed"]), near);
        let none = "no program is called `nothing-like-it`: `example --list` prints the names";
        assert_eq!(problem(&["nothing-like-it", "--size", "small"]), none);
        assert_eq!(problem(&[]), "no program is named: `--list` prints the names");
        assert!(problem(&["airline", "--sise"]).contains("`--sise` is not understood"));
        assert!(matches!(asked(&["--list".to_owned()]), Ok(Asked::List)));
    }

    #[test]
    fn mistakes_are_told() {
        for (line, part) in [
            ("--size", "`--size` needs a size"),
            ("--sise 3", "`--sise` is not understood"),
            ("3", "`3` is not understood"),
            ("--size 3 4", "`4` is not understood"),
            ("--size huge", "`huge` is no size"),
            ("--size 0", "`0` is no size"),
            ("--size 2x", "`2x` is no size"),
            ("--size -1", "`-1` is no size"),
        ] {
            let problem = size_of(line).unwrap_err();
            assert!(problem.contains(part), "{line}: {problem}");
        }
    }
}
