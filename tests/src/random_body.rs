//! Random function bodies, to be compiled with `#[racelog::instrument]` and without.
//!
//! They read and write a few shared cells and decide by what they find: by nested control flow, `?`,
//! early returns, breaks with labels, match guards, let-else, closures, indices, raw pointers. In
//! every alternative of a decision they call `Decided(n)`. Its name is that of a constructor, so the
//! expansion puts no branch before it: whatever it finds to be owed was forgotten where the decision
//! was made. After a loop that is so, too; after an `if` or a `match` it is not, for what was read in
//! an alternative decides nothing. Every loop has fuel, so all bodies end.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Makes bodies.
#[derive(Debug)]
pub struct Bodies {
    random: ChaCha8Rng,
    /// Numbers decisions, variables and labels.
    next: u32,
    /// Variables in scope.
    variables: Vec<String>,
    /// Labels of the loops around.
    labels: Vec<String>,
    /// Whether `?` and `return` are those of the function.
    in_function: bool,
    /// Whether the lock is held: it cannot be taken twice.
    in_lock: bool,
}

impl Bodies {
    /// The same seed makes the same bodies.
    pub fn new(seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            next: 0,
            variables: Vec::new(),
            labels: Vec::new(),
            in_function: true,
            in_lock: false,
        }
    }

    /// A function of this name.
    pub fn function(&mut self, name: &str) -> String {
        self.variables = vec!["input".to_owned()];
        let block = self.block(2) + &self.block(2);
        let value = self.value(2);
        format!("pub fn {name}(input: u32) -> Result<u32, u32> {{\n{block}Ok({value})\n}}\n")
    }

    fn pick(&mut self, choices: u32) -> u32 {
        self.random.random_range(0..choices)
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// An alternative of a decision.
    fn decided(&mut self) -> String {
        self.next += 1;
        format!("Decided({});\n", self.next)
    }

    /// Statements with a scope of their own.
    fn block(&mut self, depth: u32) -> String {
        let known = self.variables.len();
        let mut text = String::new();
        for _ in 0..=self.pick(3) {
            text += &self.statement(depth);
        }
        self.variables.truncate(known);
        text
    }

    /// A block that is an alternative of a decision.
    fn alternative(&mut self, depth: u32) -> String {
        self.decided() + &self.block(depth - 1)
    }

    fn statement(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.simple_statement();
        }
        match self.pick(14) {
            0 | 1 => {
                let condition = self.condition(2);
                let (yes, no) = (self.alternative(depth), self.alternative(depth));
                format!("if {condition} {{\n{yes}}} else {{\n{no}}}\n")
            }
            2 => self.if_let(depth),
            3 => {
                let fuel = self.fresh("fuel");
                let condition = self.condition(1);
                let body = self.in_loop(None, |bodies| bodies.alternative(depth));
                let after = self.decided();
                format!(
                    "let mut {fuel} = 3u32;\nwhile {fuel} > 0 && {condition} {{\n{fuel} -= 1;\n\
                     {body}}}\n{after}"
                )
            }
            4 => {
                let (fuel, label) = (self.fresh("fuel"), self.fresh("'label"));
                let body = self.in_loop(Some(&label), |bodies| bodies.block(depth - 1));
                let after = self.decided();
                format!(
                    "let mut {fuel} = 3u32;\n{label}: loop {{\nif {fuel} == 0 {{ break; }}\n\
                     {fuel} -= 1;\n{body}}}\n{after}"
                )
            }
            5 => {
                let (name, label) = (self.fresh("each"), self.fresh("'label"));
                let count = self.value(1);
                let known = self.variables.len();
                self.variables.push(name.clone());
                let body = self.in_loop(Some(&label), |bodies| bodies.alternative(depth));
                self.variables.truncate(known);
                let after = self.decided();
                format!("{label}: for {name} in 0..({count} % 3) {{\n{body}}}\n{after}")
            }
            6 => {
                let (fuel, name) = (self.fresh("fuel"), self.fresh("left"));
                let start = self.value(1);
                let body = self.in_loop(None, |bodies| bodies.alternative(depth));
                let after = self.decided();
                format!(
                    "let mut {fuel} = {start} % 3;\n\
                     while let Some({name}) = {fuel}.checked_sub(1) {{\n{fuel} = {name};\n{body}}}\n\
                     {after}"
                )
            }
            7 | 8 => self.match_statement(depth),
            9 => {
                let name = self.fresh("closure");
                let (labels, outer) = (std::mem::take(&mut self.labels), self.in_function);
                self.in_function = false;
                let known = self.variables.len();
                self.variables.push("argument".to_owned());
                let body = self.block(depth - 1);
                let value = self.value(1);
                self.variables.truncate(known);
                (self.labels, self.in_function) = (labels, outer);
                let (argument, result) = (self.value(1), self.fresh("v"));
                self.variables.push(result.clone());
                format!(
                    "let {name} = |argument: u32| -> u32 {{\n{body}{value}\n}};\n\
                     let {result} = {name}({argument});\n"
                )
            }
            10 if !self.in_lock => {
                self.in_lock = true;
                let inner = self.block(depth - 1);
                self.in_lock = false;
                format!("{{\nlet _guard = LOCK.lock().unwrap();\n{inner}}}\n")
            }
            _ => self.simple_statement(),
        }
    }

    fn if_let(&mut self, depth: u32) -> String {
        let (name, value) = (self.fresh("some"), self.value(1));
        let chain = if self.pick(2) == 0 {
            let (decided, condition) = (self.decided(), self.condition(1));
            format!("&& {{ {decided} {condition} }}")
        } else {
            String::new()
        };
        let known = self.variables.len();
        self.variables.push(name.clone());
        let yes = self.alternative(depth);
        self.variables.truncate(known);
        let otherwise = if self.pick(2) == 0 {
            format!("else {{\n{}}}", self.alternative(depth))
        } else {
            String::new()
        };
        format!("if let Some({name}) = ({value}).checked_sub(1) {chain} {{\n{yes}}} {otherwise}\n")
    }

    fn match_statement(&mut self, depth: u32) -> String {
        let value = self.value(2);
        let mut text = format!("match {value} % 4 {{\n");
        let _ = writeln!(text, "0 => {{\n{}}}", self.alternative(depth));
        if self.pick(2) == 0 {
            let name = self.fresh("bound");
            let known = self.variables.len();
            self.variables.push(name.clone());
            let (decided, guard) = (self.decided(), self.condition(1));
            let body = self.alternative(depth);
            self.variables.truncate(known);
            let _ = writeln!(text, "{name} if {{ {decided} {guard} }} => {{\n{body}}}");
        }
        let _ = writeln!(text, "1 | 2 => {{\n{}}}", self.alternative(depth));
        let _ = writeln!(text, "_ => {{\n{}}}\n}}", self.alternative(depth));
        text
    }

    /// Something in a loop, which can be left.
    fn in_loop(&mut self, label: Option<&str>, make: impl FnOnce(&mut Self) -> String) -> String {
        let known = self.labels.len();
        self.labels.extend(label.map(str::to_owned));
        let text = make(self);
        self.labels.truncate(known);
        text
    }

    fn simple_statement(&mut self) -> String {
        match self.pick(11) {
            0..=2 => {
                let (value, name) = (self.value(2), self.fresh("v"));
                self.variables.push(name.clone());
                format!("let {name} = {value};\n")
            }
            3 => format!("{}.set({});\n", self.cell(), self.value(2)),
            4 => format!("ATOMIC.store({}, Ordering::SeqCst);\n", self.value(1)),
            5 => {
                let (value, after) = (self.value(1), self.decided());
                format!("unsafe {{ *pointer() = {value} }};\n{after}")
            }
            6 => format!("log({});\n", self.value(2)),
            7 if self.in_function => {
                let (value, name) = (self.value(1), self.fresh("v"));
                let after = self.decided();
                self.variables.push(name.clone());
                format!("let {name} = small({value})?;\n{after}")
            }
            8 => {
                let (value, name) = (self.value(1), self.fresh("v"));
                let (inside, after) = (self.decided(), self.decided());
                let exit = self.exit();
                self.variables.push(name.clone());
                format!(
                    "let Some({name}) = ({value}).checked_sub(1) else {{\n{inside}{exit}\n}};\n{after}"
                )
            }
            9 => {
                let (condition, inside, exit) = (self.condition(1), self.decided(), self.exit());
                let after = self.decided();
                format!("if {condition} {{\n{inside}{exit}\n}}\n{after}")
            }
            _ => {
                let (value, name) = (self.value(1), self.fresh("v"));
                self.variables.push(name.clone());
                format!("let {name} = TABLE[({value} % 3) as usize];\n")
            }
        }
    }

    /// A way out: of a loop, if there is one that can be named, or of the function or the closure.
    fn exit(&mut self) -> String {
        if !self.labels.is_empty() && self.pick(3) > 0 {
            let index = self.pick(self.labels.len() as u32) as usize;
            let label = self.labels[index].clone();
            let word = if self.pick(2) == 0 { "break" } else { "continue" };
            return format!("{word} {label};");
        }
        let value = self.value(1);
        if self.in_function { format!("return Ok({value});") } else { format!("return {value};") }
    }

    fn cell(&mut self) -> String {
        format!("CELL{}", self.pick(3))
    }

    fn value(&mut self, depth: u32) -> String {
        let choices = if depth == 0 { 4 } else { 11 };
        match self.pick(choices) {
            0 => self.pick(5).to_string() + "u32",
            1 => {
                let index = self.pick(self.variables.len() as u32) as usize;
                self.variables[index].clone()
            }
            2 => format!("{}.get()", self.cell()),
            3 => "ATOMIC.load(Ordering::SeqCst)".to_owned(),
            4 => format!("({}).wrapping_add({})", self.value(depth - 1), self.value(depth - 1)),
            5 => format!("({} ^ {})", self.value(depth - 1), self.value(depth - 1)),
            6 => {
                let condition = self.condition(depth - 1);
                let (yes, no) = (self.decided(), self.decided());
                let (left, right) = (self.value(depth - 1), self.value(depth - 1));
                format!("(if {condition} {{ {yes} {left} }} else {{ {no} {right} }})")
            }
            7 => "unsafe { *pointer() }".to_owned(),
            8 => format!("twice({})", self.value(depth - 1)),
            9 => format!("ATOMIC.fetch_add({}, Ordering::SeqCst)", self.value(depth - 1)),
            _ => {
                let (inner, name) = (self.value(depth - 1), self.fresh("t"));
                format!("{{ let {name} = {inner}; {name} }}")
            }
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let choices = if depth == 0 { 2 } else { 5 };
        match self.pick(choices) {
            0 => format!("({}) == ({})", self.value(1), self.value(1)),
            1 => format!("({}) % 2 == 0", self.value(1)),
            2 => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("(({left}) && {{ {} {right} }})", self.decided())
            }
            3 => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("(({left}) || {{ {} {right} }})", self.decided())
            }
            _ => format!("!({})", self.condition(depth - 1)),
        }
    }
}
