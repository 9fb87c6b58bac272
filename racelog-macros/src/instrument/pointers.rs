//! Functions and methods that access the memory that raw pointers point to.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprMethodCall, Ident, Path, Token};

use super::expr::{Rewriter, Use, address};
use super::forms;

/// Functions of modules and types, how many arguments they have, and what is called instead.
const FUNCTIONS: [(&str, &str, usize, &str); 21] = [
    ("ptr", "read", 1, "ptr_read"),
    ("ptr", "read_volatile", 1, "ptr_read"),
    ("ptr", "read_unaligned", 1, "ptr_read"),
    ("ptr", "write", 2, "ptr_write"),
    ("ptr", "write_volatile", 2, "ptr_write"),
    ("ptr", "write_unaligned", 2, "ptr_write"),
    ("ptr", "copy", 3, "ptr_copy"),
    ("ptr", "copy_nonoverlapping", 3, "ptr_copy"),
    ("ptr", "swap", 2, "ptr_swap"),
    ("ptr", "swap_nonoverlapping", 3, "ptr_swap_many"),
    ("ptr", "replace", 2, "ptr_replace"),
    ("ptr", "write_bytes", 3, "ptr_write_bytes"),
    ("ptr", "drop_in_place", 1, "ptr_drop"),
    ("slice", "from_raw_parts", 2, "slice_of"),
    ("slice", "from_raw_parts_mut", 2, "slice_of_mut"),
    ("Box", "from_raw", 1, "box_of"),
    ("Vec", "from_raw_parts", 3, "vec_of"),
    ("String", "from_raw_parts", 3, "vec_of"),
    ("alloc", "dealloc", 2, "memory_freed"),
    ("alloc", "realloc", 3, "memory_moved"),
    ("intrinsics", "copy_nonoverlapping", 3, "ptr_copy"),
];

/// Methods of raw pointers with two arguments, and what says that they are called.
const OF_MANY: [(&str, &str); 5] = [
    ("copy_to", "copying_to"),
    ("copy_to_nonoverlapping", "copying_to"),
    ("copy_from", "copying_from"),
    ("copy_from_nonoverlapping", "copying_from"),
    ("write_bytes", "writing_bytes"),
];

impl Rewriter<'_> {
    /// What is called instead of a function that accesses what its arguments point to.
    pub(super) fn pointer_function(&self, path: &Path, arguments: usize) -> Option<&'static str> {
        let mut segments = path.segments.iter().rev();
        let (last, module) = (segments.next()?, segments.next());
        let imported = match module {
            Some(_) => None,
            None => Some(self.names.imported(&last.ident)?),
        };
        let (module, name) = match (&imported, module) {
            (Some((module, name)), _) => (module.clone(), name.clone()),
            (None, module) => (module?.ident.to_string(), last.ident.to_string()),
        };
        let found = FUNCTIONS
            .iter()
            .find(|function| (function.0, function.1, function.2) == (&*module, &*name, arguments));
        found.map(|function| function.3)
    }

    /// What is called if a function that is named so is std's, of which nothing says so here: it may
    /// be imported where this function stands, or its module by another name. Those of a name that
    /// other functions often have, whose arguments may be of any type, are left alone.
    pub(super) fn possible_pointer_function(
        &self,
        path: &Path,
        arguments: usize,
    ) -> Option<&'static str> {
        let mut modules = path.segments.iter();
        let name = modules.next_back()?;
        let is_module = |part: &syn::PathSegment| {
            part.arguments.is_none() && !part.ident.to_string().starts_with(char::is_uppercase)
        };
        if self.names.is_variable(path) || !modules.all(is_module) {
            return None;
        }
        let name = name.ident.to_string();
        let functions = FUNCTIONS.iter().filter(|function| {
            matches!(function.0, "ptr" | "slice" | "alloc")
                && !matches!(function.1, "read" | "write")
        });
        let mut named =
            functions.filter(|function| (function.1, function.2) == (&*name, arguments));
        named.next().map(|function| function.3)
    }

    /// Calls a function by a method of ours, which knows whether it is std's.
    pub(super) fn call_possibly_ours(
        &mut self,
        name: &str,
        func: &Expr,
        args: &mut Punctuated<Expr, Token![,]>,
        span: Span,
    ) -> TokenStream {
        self.values(&mut *args, Use::Value);
        if let Some(last) = args.last_mut() {
            self.emit.after(last, span);
        }
        let mixed = Span::mixed_site();
        let types: Vec<TokenStream> = args.iter().map(|_| quote_spanned!(mixed=> _)).collect();
        self.push_seen(name, args);
        // A cast would know the types only after the method is chosen.
        let pointer = quote_spanned! {mixed=> #func, |named| {
            let function: unsafe fn(#(#types),*) -> _ = named;
            function
        }};
        let callee = self.emit.wrap("Callee::of", &pointer);
        let arguments = args.to_token_stream();
        self.emit.method(&callee, name, span, arguments)
    }

    /// Calls a function of ours, with the one that was called as its first argument.
    pub(super) fn call_ours(
        &mut self,
        name: &str,
        func: &mut Expr,
        args: &mut Punctuated<Expr, Token![,]>,
        span: Span,
    ) {
        self.values(&mut *args, Use::Value);
        // Where the access is depends on what was read.
        if let Some(last) = args.last_mut() {
            self.emit.after(last, span);
        }
        let mixed = Span::mixed_site();
        let (krate, function) = (self.emit.krate(), Ident::new(name, mixed));
        let path = quote_spanned!(mixed=> #krate::__private::#function);
        // The place of a call is where its path starts, unless a macro has made it.
        let path = path.into_iter().map(|mut token| {
            token.set_span(span);
            token
        });
        let mut called = Expr::Verbatim(path.collect());
        std::mem::swap(func, &mut called);
        args.insert(0, called);
        self.push_seen(name, args);
    }

    /// What to record of slices of a type is asked where the type is known.
    fn push_seen(&self, name: &str, args: &mut Punctuated<Expr, Token![,]>) {
        if matches!(name, "slice_of" | "slice_of_mut") {
            let mixed = Span::mixed_site();
            let seen = self.emit.seen(&quote_spanned!(mixed=> || place), None);
            args.push(Expr::Verbatim(quote_spanned!(mixed=> |place| #seen)));
        }
    }

    /// What says that a reference is made from a pointer, by `as_ref` or `as_mut`, if that may be
    /// so.
    pub(super) fn reference_method(&self, call: &ExprMethodCall) -> Option<TokenStream> {
        let mutable = call.method == "as_mut";
        let named = (call.method == "as_ref" || mutable) && call.args.is_empty();
        let receiver = &call.receiver;
        if !named
            || !self.in_unsafe
            || !forms::is_simple(receiver)
            || forms::is_constant(receiver, false)
        {
            return None;
        }
        let (mixed, place) = (Span::mixed_site(), call.method.span());
        let target = quote_spanned!(mixed=> || target);
        let seen =
            if mutable { self.emit.seen_mutable(&target) } else { self.emit.seen(&target, None) };
        let probe = self.emit.wrap("PointerProbe::of", &address(receiver));
        let arguments = quote_spanned!(mixed=> &raw const #receiver, |target| #seen);
        Some(self.emit.method(&probe, "referring", place, arguments))
    }

    /// A method of raw pointers that reads or writes; `None` if it is none.
    pub(super) fn pointer_method(&mut self, call: &mut ExprMethodCall) -> Option<TokenStream> {
        let name = call.method.to_string();
        let count = call.args.len();
        let reads = matches!(&*name, "read" | "read_volatile" | "read_unaligned") && count == 0;
        let many = OF_MANY.iter().find(|(method, _)| *method == name).filter(|_| count == 2);
        let said = match &*name {
            "write" | "write_volatile" | "write_unaligned" if count == 1 => "writing_it",
            "replace" if count == 1 => "replacing_it",
            "swap" if count == 1 => "swapping_it",
            "drop_in_place" if count == 0 => "dropping_it",
            _ if reads => "reading_it",
            _ => many?.1,
        };
        // Locks have a method of the first name.
        if reads && forms::is_operation(call) {
            return None;
        }
        let receiver = call.receiver.clone();
        let simple = forms::is_simple(&receiver);
        if simple && forms::is_constant(&receiver, false) {
            // It has no address.
            return None;
        }
        let place = call.method.span();
        let armed = if simple {
            self.receiver(call);
            self.armed.take()
        } else {
            self.expr(&mut call.receiver, Use::Value);
            self.emit.after(&mut call.receiver, place);
            None
        };
        self.values(&mut call.args, Use::Value);
        if !self.names.is_clean(&receiver) {
            if let Some(last) = call.args.last_mut() {
                self.emit.after(last, place);
            }
        }
        self.fire(armed, &mut call.args);
        if many.is_some() {
            return Some(self.call_of_many(call, simple.then_some(&*receiver), said));
        }
        let probe = self.emit.wrap("PointerProbe::of", &address(&receiver));
        let pointer = quote_spanned!(place=> &raw const #receiver);
        match (call.args.first_mut(), simple) {
            (Some(value), true) => {
                let arguments = quote_spanned!(place=> #value, #pointer);
                *value = Expr::Verbatim(self.emit.method(&probe, said, place, arguments));
            }
            (None, true) => {
                let next = self.emit.method(&probe, said, place, pointer);
                return Some(self.emit.method(&next, "done", place, call.to_token_stream()));
            }
            (Some(value), false) => {
                let value = value.clone();
                let tokens = self.write_far(&call.receiver, &call.method, &value, said);
                return Some(self.emit.hook("made", place, tokens));
            }
            (None, false) if reads => {
                let pointer = self.emit.wrap("Pointer", &call.receiver.to_token_stream());
                let target = quote_spanned!(Span::mixed_site()=> |pointer| &raw const *pointer);
                let begun = self.emit.method(&pointer, "reading", place, target);
                *call.receiver = Expr::Verbatim(begun);
            }
            (None, false) => {
                let mixed = Span::mixed_site();
                let probe = self
                    .emit
                    .wrap("PointerProbe::of", &quote_spanned!(mixed=> || &raw const pointer));
                let pointer = quote_spanned!(mixed=> &raw const pointer);
                let next = self.emit.method(&probe, said, place, pointer);
                let (receiver, method) = (&call.receiver, &call.method);
                return Some(quote_spanned! {mixed=>
                    match #receiver { pointer => #next.done(pointer.#method()) }
                });
            }
        }
        Some(self.emit.hook("made", place, call.to_token_stream()))
    }

    /// A method that accesses many places: pointer and arguments are evaluated first.
    fn call_of_many(
        &self,
        call: &ExprMethodCall,
        variable: Option<&Expr>,
        said: &str,
    ) -> TokenStream {
        let (mixed, place) = (Span::mixed_site(), call.method.span());
        let (receiver, method) = (&call.receiver, &call.method);
        let [first, second] = [0, 1].map(|at| &call.args[at]);
        let named =
            variable.map_or_else(|| quote_spanned!(mixed=> pointer), ToTokens::to_token_stream);
        let probe =
            self.emit.wrap("PointerProbe::of", &quote_spanned!(mixed=> || &raw const #named));
        let arguments = quote_spanned!(mixed=> &raw const #named, &first, &second);
        let begun = self.emit.method(&probe, said, place, arguments);
        if variable.is_some() {
            // It stays where it is, for it may be no pointer.
            return quote_spanned! {mixed=>
                match (#first, #second) {
                    (first, second) => {
                        #begun;
                        #receiver.#method(first, second)
                    }
                }
            };
        }
        quote_spanned! {mixed=>
            match (#receiver, #first, #second) {
                #[allow(unused_mut)]
                (mut pointer, first, second) => {
                    #begun;
                    pointer.#method(first, second)
                }
            }
        }
    }

    /// A method that writes through a pointer that is the value of an expression: this is evaluated
    /// first, then what is written, and the access comes after both.
    fn write_far(
        &self,
        receiver: &Expr,
        method: &syn::Ident,
        value: &Expr,
        said: &str,
    ) -> TokenStream {
        let mixed = Span::mixed_site();
        let probe =
            self.emit.wrap("PointerProbe::of", &quote_spanned!(mixed=> || &raw const pointer));
        let arguments = quote_spanned!(mixed=> value, &raw const pointer);
        let begun = self.emit.method(&probe, said, method.span(), arguments);
        quote_spanned! {mixed=>
            match (#receiver, #value) {
                #[allow(unused_mut)]
                (mut pointer, value) => pointer.#method(#begun),
            }
        }
    }
}
