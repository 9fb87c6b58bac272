//! The command line that all programs share: `NAME [--size small|large|WORK|THREADSxWORK]`.

use std::process::ExitCode;

use crate::program::{Program, Size};

/// The exit code of a command line that is not understood.
const USAGE: u8 = 2;

/// Runs a program as its arguments say.
pub fn main(program: &Program) -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match size(program, &arguments) {
        Ok(size) => {
            (program.run)(&size);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            let name = program.name;
            eprintln!("{name}: {problem}\nusage: {name} [--size small|large|WORK|THREADSxWORK]");
            ExitCode::from(USAGE)
        }
    }
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
    parse(program, word).ok_or_else(|| {
        format!(
            "`{word}` is no size: write `small`, `large`, or numbers above 0, such as `100` or \
             `4x100`"
        )
    })
}

fn unknown(argument: &str) -> String {
    format!("`{argument}` is not understood: only `--size` is")
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
