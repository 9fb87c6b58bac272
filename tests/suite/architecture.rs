//! The invariants of docs/ARCHITECTURE.md: what may not depend on what.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use racelog::contract::environment::{Setting, Variable};

use crate::support::repository;

mod graph;

use graph::Graph;

/// An invariant: files below `room` use nothing but what is allowed.
struct Invariant {
    /// Its name in docs/ARCHITECTURE.md.
    name: &'static str,
    /// Files or folders of the repository.
    rooms: &'static [&'static str],
    /// Exceptions among them.
    except: &'static [&'static str],
    /// What must not be mentioned in code. A word that ends in `*` stands for all that begin so.
    forbidden: &'static [&'static str],
    /// Modules of the same crate that may be used; all, if there are none here.
    own: &'static [&'static str],
}

const INVARIANTS: [Invariant; 13] = [
    Invariant {
        name: "contract-stands-alone",
        rooms: &["racelog/src/trace", "racelog/src/contract"],
        except: &[],
        forbidden: &["predictor", "racelog_macros", "clap", "std::env", "std::process"],
        own: &["contract", "trace"],
    },
    Invariant {
        name: "names-of-variables-are-in-the-contract",
        rooms: &["racelog/src", "racelog-macros/src", "predictor/src", "examples/src"],
        // The second is for tests.
        except: &["racelog/src/contract/environment.rs", "racelog/src/child_trace.rs"],
        forbidden: &["\"RACELOG\"", "RACELOG_*"],
        own: &[],
    },
    Invariant {
        name: "recorder-is-a-leaf",
        rooms: &["racelog/src/rt"],
        except: &[],
        forbidden: &["sched", "predictor", "racelog_macros"],
        // The crate's root plugs a scheduler in by the first name; the last is of tests.
        own: &["Controller", "contract", "rt", "child_trace", "trace"],
    },
    Invariant {
        name: "judges-are-independent",
        rooms: &[
            "predictor/src/semantics",
            "predictor/src/witness",
            "predictor/src/explore.rs",
            "predictor/src/goal",
        ],
        except: &[],
        forbidden: &["z3", "batsat", "rayon"],
        own: &["explore", "goal", "semantics", "trace", "witness"],
    },
    Invariant {
        name: "encoder-and-judges-differ",
        rooms: &["predictor/src/encode", "predictor/src/solve"],
        // A window starts in the state that the observed run has reached.
        except: &["predictor/src/encode/window.rs"],
        forbidden: &["rayon"],
        own: &["encode", "goal", "index", "solve", "trace"],
    },
    Invariant {
        name: "search-and-judges-differ",
        rooms: &["predictor/src/predict"],
        // It looks for runs by stepping the machine.
        except: &["predictor/src/predict/patient_run.rs"],
        forbidden: &["z3", "batsat"],
        own: &["encode", "goal", "index", "lock_graph", "predict", "solve", "trace", "witness"],
    },
    Invariant {
        name: "detectors-stand-alone",
        rooms: &["predictor/src/order", "predictor/src/detect"],
        // These need a solver.
        except: &[
            "predictor/src/detect/paper.rs",
            "predictor/src/detect/said.rs",
            "predictor/src/detect/whole_trace",
        ],
        forbidden: &["z3", "batsat", "rayon"],
        own: &["detect", "goal", "index", "lock_graph", "order", "trace"],
    },
    Invariant {
        name: "index-says-what-was-observed",
        rooms: &["predictor/src/index"],
        except: &[],
        forbidden: &["z3", "batsat", "rayon"],
        own: &["index", "trace"],
    },
    Invariant {
        name: "lock-graph-decides-nothing",
        rooms: &["predictor/src/lock_graph"],
        except: &[],
        forbidden: &["z3", "batsat", "rayon"],
        own: &["goal", "index", "lock_graph", "trace"],
    },
    Invariant {
        name: "trace-knows-no-analysis",
        rooms: &["predictor/src/trace"],
        except: &[],
        forbidden: &["clap", "indicatif"],
        own: &["semantics", "trace"],
    },
    Invariant {
        name: "findings-are-data",
        rooms: &["predictor/src/finding"],
        except: &[],
        forbidden: &["io::Write", "annotate_snippets", "rayon"],
        own: &["finding", "goal", "index", "replay", "trace"],
    },
    Invariant {
        name: "only-the-command-line-talks",
        rooms: &["predictor/src"],
        except: &["predictor/src/cli", "predictor/src/main.rs", "predictor/src/cargo_racelog.rs"],
        forbidden: &[
            "clap",
            "indicatif",
            "std::env",
            "process::exit",
            "process::abort",
            "ExitCode",
            "println!",
            "eprintln!",
            "print!",
            "eprint!",
            "dbg!",
            "io::stdout",
            "io::stderr",
            "crate::cli",
        ],
        own: &[],
    },
    Invariant {
        name: "no-unsafe-analysis",
        rooms: &["predictor/src", "examples/src", "tests/src", "tests/suite", "tests/benches"],
        // The second names the types of unsafe functions, and calls none; the third writes
        // programs, and the fourth changes them; the others are programs that are there to be
        // recorded.
        except: &[
            "tests/suite/architecture.rs",
            "tests/suite/api",
            "tests/src/random_body.rs",
            "tests/src/crates/attributes.rs",
            "tests/src/bin/recorded.rs",
            "tests/src/bin/instrumented",
            "tests/src/bin/twins",
            "tests/benches/workloads.rs",
            "examples/src/lessons.rs",
            "examples/src/shapes",
        ],
        forbidden: &["unsafe {", "unsafe fn", "unsafe impl"],
        own: &[],
    },
];

/// Every use of something that the invariant does not allow.
fn violations(invariant: &Invariant, source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        let code = line.split_once("//").map_or(line, |(code, _)| code);
        for word in invariant.forbidden {
            if mentions(code, word) {
                found.push(format!("line {number} uses `{word}`"));
            }
        }
        for (at, _) in code.match_indices("crate::") {
            let rest = &code[at + "crate::".len()..];
            let modules =
                rest.strip_prefix('{').map_or(rest, |list| list.split('}').next().unwrap());
            let several = rest.starts_with('{');
            for module in modules.split(',').take(if several { usize::MAX } else { 1 }) {
                let name: String = module
                    .trim()
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                if !invariant.own.is_empty() && !invariant.own.contains(&&*name) {
                    found.push(format!("line {number} uses `crate::{name}`"));
                }
            }
        }
    }
    found
}

/// Whether `word` stands in `code` and is not a part of a longer word.
fn mentions(code: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let (word, is_start) = word.strip_suffix('*').map_or((word, false), |start| (start, true));
    code.match_indices(word).any(|(at, _)| {
        !code[..at].ends_with(of_word)
            && (is_start || !code[at + word.len()..].starts_with(of_word))
    })
}

fn rust_files(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            rust_files(&entry.unwrap().path(), files);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        files.push(path.to_owned());
    }
}

#[test]
fn the_invariants_hold() {
    let mut broken = Vec::new();
    for invariant in INVARIANTS {
        let mut files = Vec::new();
        for room in invariant.rooms {
            let path = repository().join(room);
            assert!(path.exists(), "{}: there is no {room}", invariant.name);
            rust_files(&path, &mut files);
        }
        files.retain(|file| {
            !invariant.except.iter().any(|except| file.starts_with(repository().join(except)))
        });
        assert!(!files.is_empty(), "{}", invariant.name);
        for file in files {
            for violation in violations(&invariant, &fs::read_to_string(&file).unwrap()) {
                broken.push(format!("{}: {}: {violation}", invariant.name, file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Modules whose files, and whose folders, use each other in one direction.
const LAYERED: [(&str, &str); 2] =
    [("recorder-has-layers", "rt"), ("scheduler-has-layers", "sched")];

#[test]
fn recorder_and_scheduler_have_no_cycles() {
    for (name, room) in LAYERED {
        let graph = Graph::of(&repository().join("racelog/src"), room);
        assert!(graph.len() > 20, "{name}: files are missing");
        assert_eq!(graph.cycle(), None, "{name}: files");
        assert_eq!(graph.folders().cycle(), None, "{name}: folders");
    }
}

/// The invariant that only the runner of child processes starts any.
const ONE_RUNNER: &str = "one-runner-of-programs";

/// The calls in a source by which a program is started.
fn starts(source: &str) -> Vec<&'static str> {
    // Other types have methods of these names.
    if !mentions(source, "Command") {
        return Vec::new();
    }
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: Vec<&str> = code.collect();
    let called = |call: &&str| code.iter().any(|line| line.contains(call));
    [".spawn()", ".status()", ".output()"].into_iter().filter(called).collect()
}

#[test]
fn programs_are_started_by_one_runner() {
    let mut files = Vec::new();
    for room in ["predictor/src", "examples/src/evaluate"] {
        rust_files(&repository().join(room), &mut files);
    }
    let runner = repository().join("predictor/src/child");
    assert!(files.iter().any(|file| {
        file.starts_with(&runner) && !starts(&fs::read_to_string(file).unwrap()).is_empty()
    }));
    files.retain(|file| !file.starts_with(&runner));
    for file in files {
        let starts = starts(&fs::read_to_string(&file).unwrap());
        assert!(starts.is_empty(), "{ONE_RUNNER}: {} calls {starts:?}", file.display());
    }
}

#[test]
fn the_invariants_are_documented() {
    let docs = fs::read_to_string(repository().join("docs/ARCHITECTURE.md")).unwrap();
    let names = INVARIANTS.iter().map(|invariant| invariant.name);
    for name in names.chain(LAYERED.map(|(name, _)| name)).chain([ONE_RUNNER]) {
        assert!(docs.contains(&format!("`{name}`")), "{name}");
    }
}

/// The test map of CONTRIBUTING.md has a row for every module, and names all suites and no others.
#[test]
fn the_test_map_has_every_module_and_every_suite() {
    let docs = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let (_, map) = docs.split_once("| module | suites |\n").expect("there is a test map");
    let (mut modules, mut named) = (BTreeSet::new(), BTreeSet::new());
    for row in map.lines().skip(1).take_while(|line| line.starts_with('|')) {
        let (module, suites) = row[1..].split_once('|').expect("a row has two cells");
        // The first one has its folder, which is that of the others as well.
        let mut folder = Path::new("");
        for word in module.split('`').skip(1).step_by(2) {
            if let Some((parent, _)) = word.rsplit_once('/') {
                folder = Path::new(parent);
            }
            modules.insert(folder.join(word.rsplit('/').next().unwrap_or(word)));
        }
        let words = suites.split('`').skip(1).step_by(2).filter(|word| !word.contains(' '));
        named.extend(words.map(str::to_owned));
    }
    let main = fs::read_to_string(repository().join("tests/suite/main.rs")).unwrap();
    let suites = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let suites: BTreeSet<String> =
        suites.filter(|suite| *suite != "support").map(str::to_owned).collect();
    assert_eq!(named, suites, "the suites that CONTRIBUTING.md names, and those that there are");
    for room in ["racelog/src", "predictor/src"].map(Path::new) {
        for entry in fs::read_dir(repository().join(room)).unwrap() {
            let name = entry.unwrap().file_name();
            let is_root =
                ["lib.rs", "main.rs", "cargo_racelog.rs"].iter().any(|root| name == *root);
            let module = room.join(name);
            let shown = module.display();
            assert!(is_root || modules.contains(&module), "CONTRIBUTING.md: no row for `{shown}`");
        }
    }
}

#[test]
fn a_broken_invariant_is_noticed() {
    let [contract, variables, recorder, judges, ..] = &INVARIANTS;
    let source =
        "// crate::rt\nuse crate::trace::Op;\nuse crate::{trace, rt};\nuse crate::rt::x;\n";
    assert_eq!(
        violations(contract, source),
        ["line 3 uses `crate::rt`", "line 4 uses `crate::rt`"]
    );
    assert_eq!(
        violations(variables, "env::var(\"RACELOG_X\");\n// RACELOG_X\nlet MY_RACELOG_X = 1;"),
        ["line 1 uses `RACELOG_*`"]
    );
    assert_eq!(
        violations(recorder, "use crate::rt::base;\ncrate::Controller::f();\ncrate::sched::f();"),
        ["line 3 uses `sched`", "line 3 uses `crate::sched`"]
    );
    assert_eq!(
        violations(judges, "use z3::Solver;\nuse crate::encode::Order;\nlet z3x = 1;"),
        ["line 1 uses `z3`", "line 2 uses `crate::encode`"]
    );
}

#[test]
fn all_variables_of_the_environment_are_documented() {
    let guide = fs::read_to_string(repository().join("docs/USER_GUIDE.md")).unwrap();
    let names =
        Variable::ALL.map(Variable::name).into_iter().chain(Setting::ALL.map(Setting::name));
    for name in names {
        // `RACELOG=1`, or the name alone.
        let is_there =
            [format!("`{name}`"), format!("`{name}=")].iter().any(|it| guide.contains(it));
        assert!(is_there, "{name}");
    }
}

#[test]
fn the_workspace_has_exactly_its_members() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let members = r#"members = ["racelog", "racelog-macros", "predictor", "examples", "tests"]"#;
    assert!(manifest.contains(members));
}

#[test]
fn what_programs_link_does_not_depend_on_the_analyser() {
    for member in ["racelog", "racelog-macros"] {
        let manifest = fs::read_to_string(repository().join(member).join("Cargo.toml")).unwrap();
        let depends = manifest.lines().any(|line| line.starts_with("predictor"));
        assert!(!depends, "{member}");
    }
}
