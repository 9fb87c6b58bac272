//! A validator of JSON Schema, draft 7, for as much of it as the schemas in `tests/schemas` use. A
//! schema that uses more is refused, so that nothing passes because it was not looked at.

use serde_json::{Map, Value};

/// What is wrong with a value by a schema, each with where it is.
pub(super) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut violations = Vec::new();
    Validator { root: schema }.check(schema, value, "", &mut violations);
    violations
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, violations: &mut Vec<String>) {
        let Some(schema) = schema.as_object() else {
            if *schema == Value::Bool(false) {
                violations.push(format!("{at}: it must not be there"));
            }
            return;
        };
        for (keyword, rule) in schema {
            if let Some(problem) = self.keyword(schema, keyword, rule, value, at, violations) {
                violations.push(format!("{at}: {problem}"));
            }
        }
    }

    fn keyword(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
        at: &str,
        violations: &mut Vec<String>,
    ) -> Option<String> {
        let wrong = |is_right: bool| {
            (!is_right).then(|| format!("`{keyword}` asks for {rule}, not {value}"))
        };
        let number = |value: &Value| value.as_f64().expect("a number");
        match (keyword, value) {
            ("$schema" | "$id" | "title" | "description" | "default" | "definitions", _) => None,
            ("$ref", _) => {
                let path =
                    rule.as_str().and_then(|path| path.strip_prefix('#')).expect("a local path");
                let target = self.root.pointer(path).expect("it leads somewhere");
                self.check(target, value, at, violations);
                None
            }
            ("type", _) => wrong(is_of_type(rule.as_str().expect("one type"), value)),
            ("enum", _) => wrong(rule.as_array().expect("a list").contains(value)),
            ("anyOf" | "oneOf", _) => {
                let fits = |schema: &&Value| {
                    let mut inner = Vec::new();
                    self.check(schema, value, at, &mut inner);
                    inner.is_empty()
                };
                let fitting = rule.as_array().expect("a list").iter().filter(fits).count();
                wrong(fitting == 1 || (keyword == "anyOf" && fitting > 1))
            }
            ("minimum", Value::Number(_)) => wrong(number(value) >= number(rule)),
            ("maximum", Value::Number(_)) => wrong(number(value) <= number(rule)),
            ("pattern", Value::String(_)) => {
                panic!("{at}: patterns are not checked, so use no field that has one: {rule}")
            }
            ("format", Value::String(text)) => {
                wrong(has_format(rule.as_str().expect("a name"), text))
            }
            ("minItems", Value::Array(items)) => wrong(items.len() as f64 >= number(rule)),
            ("uniqueItems", Value::Array(items)) => {
                let unique = (1..items.len()).all(|at| !items[..at].contains(&items[at]));
                wrong(*rule == Value::Bool(false) || unique)
            }
            ("items", Value::Array(items)) => {
                for (number, item) in items.iter().enumerate() {
                    self.check(rule, item, &format!("{at}/{number}"), violations);
                }
                None
            }
            ("required", Value::Object(fields)) => {
                let names = rule.as_array().expect("a list").iter().filter_map(Value::as_str);
                wrong(names.into_iter().all(|name| fields.contains_key(name)))
            }
            ("properties", Value::Object(fields)) => {
                for (name, value) in fields {
                    if let Some(schema) = rule.get(name) {
                        self.check(schema, value, &format!("{at}/{name}"), violations);
                    }
                }
                None
            }
            ("additionalProperties", Value::Object(fields)) => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (name, value) in fields {
                    if known.is_none_or(|known| !known.contains_key(name)) {
                        self.check(rule, value, &format!("{at}/{name}"), violations);
                    }
                }
                None
            }
            // They say nothing about values of other types.
            (
                "minimum"
                | "maximum"
                | "pattern"
                | "format"
                | "minItems"
                | "uniqueItems"
                | "items"
                | "required"
                | "properties"
                | "additionalProperties",
                _,
            ) => None,
            _ => panic!("{at}: this validator does not know `{keyword}`"),
        }
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => panic!("no such type: {name}"),
    }
}

/// By RFC 3986, but for the finer points.
fn has_format(name: &str, text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    let mut escapes = text.split('%').skip(1);
    let escaped = escapes
        .all(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()));
    let is_reference = text.chars().all(allowed) && escaped;
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    let scheme = first.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    match name {
        "uri" => is_reference && has_scheme,
        "uri-reference" => is_reference && (has_scheme || scheme.is_none()),
        _ => panic!("this validator does not know the format `{name}`"),
    }
}

mod tests {
    use serde_json::{Value, json};

    use super::violations;

    /// What is right passes, what is wrong does not.
    fn check(schema: &Value, right: &[Value], wrong: &[Value]) {
        for value in right {
            assert_eq!(violations(schema, value), [""; 0], "{schema}");
        }
        for value in wrong {
            assert!(!violations(schema, value).is_empty(), "{schema} {value}");
        }
    }

    #[test]
    fn every_keyword_is_looked_at() {
        let number = json!({ "type": "integer", "minimum": 1, "maximum": 3 });
        check(&number, &[json!(1), json!(3)], &[json!(0), json!(4), json!(1.5), json!("1")]);
        check(&json!({ "enum": ["a", "b"] }), &[json!("a")], &[json!("c"), json!(1)]);
        let list = json!({ "items": { "type": "string" }, "minItems": 1, "uniqueItems": true });
        check(&list, &[json!(["a"]), json!(5)], &[json!([]), json!([1]), json!(["a", "a"])]);
        let object = json!({ "properties": { "a": { "type": "string" } }, "required": ["a"],
            "additionalProperties": false });
        check(
            &object,
            &[json!({ "a": "" })],
            &[json!({}), json!({ "a": 1 }), json!({ "a": "", "b": 1 })],
        );
        let others = json!({ "additionalProperties": { "$ref": "#/definitions/n" },
            "definitions": { "n": { "type": "number" } } });
        check(&others, &[json!({ "x": 1.5 })], &[json!({ "x": "y" })]);
        let one = json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] });
        check(&one, &[json!(1.5)], &[json!(1), json!("")]);
        let any = json!({ "anyOf": [{ "type": "integer" }, { "type": "number" }] });
        check(&any, &[json!(1.5), json!(1)], &[json!("")]);
        let uri = json!({ "format": "uri" });
        check(&uri, &[json!("file:///a%20b")], &[json!("a"), json!("file:///a b"), json!("x:%2")]);
        let reference = json!({ "format": "uri-reference" });
        check(
            &reference,
            &[json!("src/a.rs"), json!("../a")],
            &[json!("a b"), json!("ü"), json!("1:2")],
        );
        check(&json!(false), &[], &[json!(1)]);
        check(&json!({ "type": "boolean" }), &[json!(true)], &[json!([])]);
    }
}
