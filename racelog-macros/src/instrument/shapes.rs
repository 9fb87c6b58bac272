//! The shapes of expressions whose values are followed, by their form alone.
//!
//! What is followed and what is not is decided here, for the survey of a function's variables and
//! for the rewriting alike: both go by [`shape`].

use syn::{BinOp, Block, Expr, ExprMethodCall, Ident, Lit, Path, Stmt, Type, UnOp};

use super::forms;

/// An expression whose value is followed, if its parts are.
pub(super) enum Shape<'e> {
    /// An integer, a character or a truth value of the text.
    Literal,
    /// A constant by its path.
    Constant,
    /// A variable, or an item with the name of one.
    Variable(&'e Ident),
    /// A read, or an update that says what it has found, by an operation of ours.
    Operation(&'e ExprMethodCall),
    /// What a guard or a pointer leads to.
    Deref(&'e Expr),
    /// `-` or `!`.
    Unary(&'e Expr),
    Binary(&'e Expr, &'e Expr),
    /// `&&` or `||`.
    Logic(&'e Expr, &'e Expr),
    /// `as` an integer or a character.
    Cast(&'e Expr),
    /// A method of words that takes them by value.
    Method(&'e ExprMethodCall),
    /// The value of a block.
    Block(&'e Block),
    /// The value of one of two blocks.
    If(&'e Expr, &'e Block, &'e Expr),
    /// What a call returns: a branch comes before it if anything was read.
    Result,
}

/// Operations of ours that read, and how many arguments they have.
const READS: [(&str, usize); 2] = [("get", 0), ("load", 1)];

/// Operations of ours that leave their first argument.
const WRITES: [(&str, usize); 3] = [("set", 1), ("store", 2), ("swap", 2)];

/// Operations of ours that leave what they make of what they find and of their first argument.
const UPDATES: [(&str, &str); 5] = [
    ("fetch_add", "Add"),
    ("fetch_sub", "Sub"),
    ("fetch_and", "BitAnd"),
    ("fetch_or", "BitOr"),
    ("fetch_xor", "BitXor"),
];

/// Methods of words that are computed with, and how many arguments they have. All are inherent
/// methods that take a word by value, or `Option`'s that only look.
const METHODS: [(&str, usize); 5] =
    [("wrapping_add", 1), ("wrapping_sub", 1), ("wrapping_mul", 1), ("is_some", 0), ("is_none", 0)];

/// The shape of an expression, if it is one of these.
pub(super) fn shape(expr: &Expr) -> Option<Shape<'_>> {
    Some(match expr {
        Expr::Paren(inner) if inner.attrs.is_empty() => return shape(&inner.expr),
        Expr::Group(inner) => return shape(&inner.expr),
        Expr::Lit(lit) if lit.attrs.is_empty() && is_followed_literal(&lit.lit) => Shape::Literal,
        Expr::Path(path) if path.attrs.is_empty() => match path.path.get_ident() {
            Some(name) if path.qself.is_none() && is_variable_name(name) => Shape::Variable(name),
            _ if is_constant_path(&path.path) => Shape::Constant,
            _ => return None,
        },
        Expr::MethodCall(call) if call.attrs.is_empty() => {
            if is_read(call) || update_of(call).is_some() {
                Shape::Operation(call)
            } else if is_method(call) {
                Shape::Method(call)
            } else if forms::is_operation(call) || forms::is_unwrap(call) {
                return None;
            } else {
                Shape::Result
            }
        }
        Expr::Call(call) if call.attrs.is_empty() => Shape::Result,
        Expr::Unary(unary) if unary.attrs.is_empty() => match unary.op {
            UnOp::Deref(_) if is_followed_pointer(&unary.expr) => Shape::Deref(&unary.expr),
            UnOp::Neg(_) | UnOp::Not(_) => Shape::Unary(&unary.expr),
            _ => return None,
        },
        Expr::Binary(binary) if binary.attrs.is_empty() => match binary.op {
            BinOp::And(_) | BinOp::Or(_) => Shape::Logic(&binary.left, &binary.right),
            op if forms::is_assignment(&op) => return None,
            _ => Shape::Binary(&binary.left, &binary.right),
        },
        Expr::Cast(cast) if cast.attrs.is_empty() && is_word_type(&cast.ty) => {
            Shape::Cast(&cast.expr)
        }
        Expr::Block(block) if block.attrs.is_empty() && block.label.is_none() => {
            Shape::Block(&block.block)
        }
        Expr::If(decision) if decision.attrs.is_empty() && !forms::has_let(&decision.cond) => {
            let (_, otherwise) = decision.else_branch.as_ref()?;
            Shape::If(&decision.cond, &decision.then_branch, otherwise)
        }
        _ => return None,
    })
}

/// The value of a block, if it has one.
pub(super) fn tail(block: &Block) -> Option<&Expr> {
    match block.stmts.last() {
        Some(Stmt::Expr(tail, None)) => Some(tail),
        _ => None,
    }
}

/// Whether the value of an expression is followed.
pub(super) fn is_followed(expr: &Expr) -> bool {
    let Some(shape) = shape(expr) else { return false };
    match shape {
        Shape::Literal | Shape::Constant | Shape::Variable(_) | Shape::Deref(_) | Shape::Result => {
            true
        }
        Shape::Operation(call) => {
            update_of(call).is_none_or(|_| call.args.first().is_some_and(is_followed))
        }
        Shape::Unary(operand) | Shape::Cast(operand) => is_followed(operand),
        Shape::Binary(left, right) | Shape::Logic(left, right) => {
            is_followed(left) && is_followed(right)
        }
        Shape::Method(call) => is_followed(&call.receiver) && call.args.iter().all(is_followed),
        Shape::Block(block) => tail(block).is_some_and(is_followed),
        // The condition is one that is gone by, whatever it is.
        Shape::If(_, then, otherwise) => {
            tail(then).is_some_and(is_followed) && is_followed(otherwise)
        }
    }
}

/// Whether it is the value of something that is read, or of a variable with this property.
pub(super) fn comes_from(expr: &Expr, variable: &dyn Fn(&Ident) -> bool) -> bool {
    let from = |expr: &Expr| comes_from(expr, variable);
    match shape(expr) {
        Some(Shape::Variable(name)) => variable(name),
        Some(Shape::Operation(_) | Shape::Deref(_)) => true,
        Some(Shape::Unary(operand) | Shape::Cast(operand)) => from(operand),
        Some(Shape::Binary(left, right) | Shape::Logic(left, right)) => from(left) || from(right),
        Some(Shape::Method(call)) => from(&call.receiver) || call.args.iter().any(from),
        Some(Shape::Block(block)) => tail(block).is_some_and(from),
        Some(Shape::If(condition, then, otherwise)) => {
            from(condition) || tail(then).is_some_and(from) || from(otherwise)
        }
        Some(Shape::Literal | Shape::Constant | Shape::Result) | None => false,
    }
}

fn is_followed_literal(lit: &Lit) -> bool {
    match lit {
        Lit::Int(int) => {
            int.base10_parse::<u128>().is_ok() && !matches!(int.suffix(), "f32" | "f64")
        }
        Lit::Bool(_) | Lit::Char(_) | Lit::Byte(_) => true,
        _ => false,
    }
}

/// A name that looks like one of a variable, and not of a constant or a unit struct.
pub(super) fn is_variable_name(name: &Ident) -> bool {
    let name = name.to_string();
    name != "self" && !name.trim_start_matches("r#").starts_with(char::is_uppercase)
}

/// Constants: their names say so.
fn is_constant_path(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        let is_screaming = name.len() > 1 && !name.contains(char::is_lowercase);
        last.arguments.is_none() && (is_screaming || name == "None")
    })
}

fn is_word_type(ty: &Type) -> bool {
    const WORDS: [&str; 13] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
        "char",
    ];
    let Type::Path(path) = ty else { return false };
    path.qself.is_none()
        && path.path.get_ident().is_some_and(|name| WORDS.iter().any(|word| name == word))
}

fn is_followed_pointer(pointer: &Expr) -> bool {
    forms::is_simple(pointer) || forms::taken_lock(pointer).is_some()
}

/// A read by an operation of ours.
pub(super) fn is_read(call: &ExprMethodCall) -> bool {
    forms::is_operation(call)
        && READS.iter().any(|(name, count)| call.method == name && call.args.len() == *count)
}

/// Whether an operation of ours leaves its first argument.
pub(super) fn is_write(call: &ExprMethodCall) -> bool {
    forms::is_operation(call)
        && WRITES.iter().any(|(name, count)| call.method == name && call.args.len() == *count)
}

/// Whether an operation has a value, if it is one of ours.
pub(super) fn has_value(call: &ExprMethodCall) -> bool {
    !is_write(call) || call.method == "swap"
}

/// The operator, if an operation of ours leaves what that makes of what it finds and of its first
/// argument.
pub(super) fn update_of(call: &ExprMethodCall) -> Option<&'static str> {
    let update = UPDATES.iter().find(|(name, _)| call.method == name)?;
    (forms::is_operation(call) && call.args.len() == 2).then_some(update.1)
}

pub(super) fn is_method(call: &ExprMethodCall) -> bool {
    call.turbofish.is_none()
        && METHODS.iter().any(|(name, count)| call.method == name && call.args.len() == *count)
        // What is not in a variable may be reached through a guard that makes events.
        && matches!(shape(&call.receiver), Some(Shape::Variable(_) | Shape::Operation(_) | Shape::Binary(..) | Shape::Cast(_) | Shape::Method(_)))
}

/// The operator of an expression, as traces call it.
pub(super) fn operator(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) | BinOp::AddAssign(_) => "Add",
        BinOp::Sub(_) | BinOp::SubAssign(_) => "Sub",
        BinOp::Mul(_) | BinOp::MulAssign(_) => "Mul",
        BinOp::Div(_) | BinOp::DivAssign(_) => "Div",
        BinOp::Rem(_) | BinOp::RemAssign(_) => "Rem",
        BinOp::BitXor(_) | BinOp::BitXorAssign(_) => "BitXor",
        BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => "BitAnd",
        BinOp::BitOr(_) | BinOp::BitOrAssign(_) => "BitOr",
        BinOp::Shl(_) | BinOp::ShlAssign(_) => "Shl",
        BinOp::Shr(_) | BinOp::ShrAssign(_) => "Shr",
        BinOp::Eq(_) => "Eq",
        BinOp::Ne(_) => "Ne",
        BinOp::Lt(_) => "Lt",
        BinOp::Le(_) => "Le",
        BinOp::Gt(_) => "Gt",
        BinOp::Ge(_) => "Ge",
        _ => return None,
    })
}
