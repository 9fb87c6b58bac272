//! Questions about the form of an expression.

use syn::{
    AttrStyle, Attribute, BinOp, Block, Expr, ExprMethodCall, Ident, Pat, Path, Stmt, Type, UnOp,
};

/// Operations of racelog's types that run no code of the program.
const OPERATIONS: [&str; 22] = [
    "get",
    "set",
    "load",
    "store",
    "swap",
    "compare_exchange",
    "compare_exchange_weak",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_nand",
    "fetch_or",
    "fetch_xor",
    "fetch_max",
    "fetch_min",
    "lock",
    "try_lock",
    "read",
    "write",
    "try_read",
    "try_write",
    "fetch_not",
];

const PRIMITIVES: [&str; 17] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32",
    "f64", "bool", "char", "str",
];

/// Without the parentheses around it.
pub(super) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Group(inner) => bare(&inner.expr),
        other => other,
    }
}

/// Whether a method call may be one of an operation of racelog's.
pub(super) fn is_operation(call: &ExprMethodCall) -> bool {
    call.turbofish.is_none()
        && OPERATIONS.iter().any(|name| call.method == name)
        && is_simple(&call.receiver)
}

/// Whether an expression is a place that can be named again without doing anything again: a
/// variable or an item, fields and elements of it, and what it points to.
pub(super) fn is_simple(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Path(_) => true,
        Expr::Field(field) => is_simple(&field.base),
        Expr::Index(index) => is_simple(&index.expr) && is_simple_index(&index.index),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)) && is_simple(&unary.expr),
        _ => false,
    }
}

fn is_simple_index(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(_) => true,
        Expr::Path(_) | Expr::Field(_) => is_simple(expr),
        Expr::Cast(cast) => is_simple_index(&cast.expr),
        Expr::Binary(binary) => {
            !is_assignment(&binary.op)
                && is_simple_index(&binary.left)
                && is_simple_index(&binary.right)
        }
        _ => false,
    }
}

/// Whether to evaluate an expression takes no calls: nothing happens on the way that others could
/// notice.
pub(super) fn is_trivial(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_) => true,
        Expr::Field(field) => is_trivial(&field.base),
        Expr::Reference(reference) => is_trivial(&reference.expr),
        Expr::Cast(cast) => is_trivial(&cast.expr),
        Expr::Unary(unary) => is_trivial(&unary.expr),
        Expr::Binary(binary) => is_trivial(&binary.left) && is_trivial(&binary.right),
        Expr::Tuple(tuple) => tuple.elems.iter().all(is_trivial),
        _ => false,
    }
}

/// A place that belongs to an item, as far as one can see, with only fields and elements around it:
/// the item.
pub(super) fn item_of(expr: &Expr) -> Option<&Path> {
    match bare(expr) {
        Expr::Path(path) if path.qself.is_none() => Some(&path.path),
        Expr::Field(field) => item_of(&field.base),
        Expr::Index(index) if is_simple_index(&index.index) => item_of(&index.expr),
        _ => None,
    }
}

/// The place, reached through another pointer.
pub(super) fn with_pointer(place: &Expr, pointer: &Ident) -> Expr {
    let mut place = place.clone();
    let mut at = &mut place;
    loop {
        at = match at {
            Expr::Paren(inner) => &mut inner.expr,
            Expr::Group(inner) => &mut inner.expr,
            Expr::Field(field) => &mut field.base,
            Expr::Index(index) => &mut index.expr,
            Expr::Unary(unary) => {
                *unary.expr = syn::parse_quote!(#pointer);
                return place;
            }
            _ => return place,
        };
    }
}

/// A method call without arguments, on a simple place, that yields a pointer and does nothing else.
pub(super) fn is_pure_pointer(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::MethodCall(call) => {
            let pure = ["get", "as_ptr", "as_mut_ptr", "cast", "cast_mut", "cast_const"];
            call.args.is_empty()
                && pure.iter().any(|name| call.method == name)
                && (is_simple(&call.receiver) || is_pure_pointer(&call.receiver))
        }
        _ => false,
    }
}

/// The variable or item that a place belongs to, and whether the way there goes through a pointer
/// that is no variable itself.
pub(super) fn root(expr: &Expr) -> Option<(&Path, bool)> {
    match bare(expr) {
        Expr::Path(path) => Some((&path.path, false)),
        Expr::Field(field) => root(&field.base),
        Expr::Index(index) => root(&index.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
            let (path, far) = root(&unary.expr)?;
            Some((path, far || !matches!(bare(&unary.expr), Expr::Path(_))))
        }
        Expr::MethodCall(call) if is_pure_pointer(expr) => root(&call.receiver),
        _ => None,
    }
}

/// The pointer that a place is reached through: the innermost `*`, with only fields and simple
/// elements around it.
pub(super) fn pointer(expr: &Expr) -> Option<&Expr> {
    match bare(expr) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => Some(&unary.expr),
        Expr::Field(field) => pointer(&field.base),
        Expr::Index(index) if is_simple_index(&index.index) => pointer(&index.expr),
        _ => None,
    }
}

/// Taking a lock by an operation of racelog's, with `unwrap` or `expect` or without: the call.
pub(super) fn taken_lock(expr: &Expr) -> Option<&ExprMethodCall> {
    let Expr::MethodCall(call) = bare(expr) else { return None };
    if is_unwrap(call) {
        let Expr::MethodCall(inner) = bare(&call.receiver) else { return None };
        return is_lock(inner).then_some(inner);
    }
    is_lock(call).then_some(call)
}

fn is_lock(call: &ExprMethodCall) -> bool {
    let locks = ["lock", "read", "write"];
    call.args.is_empty() && locks.iter().any(|name| call.method == name) && is_operation(call)
}

/// `.unwrap()`, or `.expect(…)` with a literal.
pub(super) fn is_unwrap(call: &ExprMethodCall) -> bool {
    call.method == "unwrap" && call.args.is_empty()
        || call.method == "expect" && matches!(call.args.first(), Some(Expr::Lit(_)))
}

/// A call with this path makes a value of a struct or a variant: so says the case of its name.
pub(super) fn is_constructor(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        let name = name.trim_start_matches("r#");
        name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
    })
}

/// A path that may be a `static mut`.
pub(super) fn may_be_static(path: &Path) -> bool {
    let count = path.segments.len();
    path.segments.iter().enumerate().all(|(index, segment)| {
        let name = segment.ident.to_string();
        segment.arguments.is_none()
            && !PRIMITIVES.contains(&&*name)
            && if index + 1 == count {
                is_screaming(&name)
            } else {
                !name.starts_with(char::is_uppercase)
            }
    })
}

fn is_screaming(name: &str) -> bool {
    name.len() > 1
        && name.contains(char::is_uppercase)
        && name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_')
}

/// Something that the compiler may evaluate: it must stay as it is, for a reference to it may live
/// for ever. Where there is unsafe code, what looks like a constant may be a `static mut`.
pub(super) fn is_constant(expr: &Expr, in_unsafe: bool) -> bool {
    let is_constant = |expr: &Expr| is_constant(expr, in_unsafe);
    match bare(expr) {
        Expr::Lit(_) | Expr::Const(_) => true,
        Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            path.qself.is_some()
                || is_screaming(&name) && !(in_unsafe && may_be_static(&path.path))
                || is_constructor(&path.path)
        }),
        Expr::Unary(unary) => !matches!(unary.op, UnOp::Deref(_)) && is_constant(&unary.expr),
        Expr::Binary(binary) => {
            !is_assignment(&binary.op) && is_constant(&binary.left) && is_constant(&binary.right)
        }
        Expr::Cast(cast) => is_constant(&cast.expr),
        Expr::Tuple(tuple) => tuple.elems.iter().all(is_constant),
        Expr::Array(array) => array.elems.iter().all(is_constant),
        Expr::Repeat(repeat) => is_constant(&repeat.expr),
        Expr::Reference(reference) => {
            reference.mutability.is_none() && is_constant(&reference.expr)
        }
        _ => false,
    }
}

/// Whether an operator assigns.
pub(super) fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Whether an operator compares: it then takes its operands by reference.
pub(super) fn is_comparison(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
    )
}

/// Whether there is a `let` in a condition.
pub(super) fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        _ => false,
    }
}

/// Whether an argument is a closure, or looks like the name of a function: it reads nothing.
pub(super) fn is_function(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Closure(_) => true,
        Expr::Path(path) => path.qself.is_some() || path.path.segments.len() > 1,
        _ => false,
    }
}

/// The block, if a closure is the value of one. Nothing can be put around it then, for the
/// closure's types come from the call that it is an argument of.
pub(super) fn closure_block(expr: &mut Expr) -> Option<&mut Block> {
    let block = match expr {
        Expr::Paren(paren) => return closure_block(&mut paren.expr),
        Expr::Block(block) => &mut block.block,
        Expr::Unsafe(block) => &mut block.block,
        _ => return None,
    };
    let is_closure = match block.stmts.last_mut() {
        Some(Stmt::Expr(Expr::Closure(_), None)) => true,
        Some(Stmt::Expr(tail, None)) => closure_block(tail).is_some(),
        _ => false,
    };
    is_closure.then_some(block)
}

/// Whether the type of a pointer is left to what the place behind it is used for: nothing but that
/// use knows it.
pub(super) fn is_inferred_pointer(pointer: &Expr) -> bool {
    match bare(pointer) {
        Expr::Cast(cast) => match &*cast.ty {
            Type::Ptr(pointer) => matches!(*pointer.elem, Type::Infer(_)),
            Type::Infer(_) => true,
            _ => false,
        },
        Expr::MethodCall(call) if call.method == "cast" => call.turbofish.is_none(),
        Expr::MethodCall(call) if is_pure_pointer(pointer) => is_inferred_pointer(&call.receiver),
        _ => false,
    }
}

/// The variables that a pattern binds.
pub(super) fn bindings(pattern: &Pat) -> Vec<Ident> {
    struct Bindings(Vec<Ident>);

    impl<'ast> syn::visit::Visit<'ast> for Bindings {
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            let name = pattern.ident.to_string();
            // Others are constants.
            if !name.starts_with(char::is_uppercase) && !self.0.contains(&pattern.ident) {
                self.0.push(pattern.ident.clone());
            }
            syn::visit::visit_pat_ident(self, pattern);
        }

        fn visit_expr(&mut self, _: &'ast Expr) {}
    }

    let mut bindings = Bindings(Vec::new());
    syn::visit::Visit::visit_pat(&mut bindings, pattern);
    bindings.0
}

/// Whether the pattern looks only at words: then what it is matched with can be copied.
pub(super) fn is_of_words(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(_) | Pat::Range(_) | Pat::Wild(_) => true,
        Pat::Or(or) => or.cases.iter().all(is_of_words),
        Pat::Paren(paren) => is_of_words(&paren.pat),
        _ => false,
    }
}

/// The attributes of an expression, if it is of a kind that has any.
fn attributes(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    macro_rules! attributes_of {
        ($($Kind:ident)*) => {
            match expr {
                $(Expr::$Kind(inner) => Some(&mut inner.attrs),)*
                _ => None,
            }
        };
    }
    attributes_of! {
        Array Assign Async Await Binary Block Break Call Cast Closure Const Continue Field ForLoop
        Group If Index Infer Let Lit Loop Macro Match MethodCall Paren Path Range RawAddr Reference
        Repeat Return Struct Try TryBlock Tuple Unary Unsafe While Yield
    }
}

/// Takes the attributes off an expression that stand before it. Those within it stay.
pub(super) fn take_attributes(expr: &mut Expr) -> Vec<Attribute> {
    let Some(attributes) = attributes(expr) else { return Vec::new() };
    let is_outer = |attribute: &Attribute| matches!(attribute.style, AttrStyle::Outer);
    let (outer, inner) = std::mem::take(attributes).into_iter().partition(is_outer);
    *attributes = inner;
    outer
}

/// Those attributes that say whether something is there at all.
pub(super) fn conditions(attributes: &[Attribute]) -> Vec<Attribute> {
    let kept = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    kept.cloned().collect()
}
