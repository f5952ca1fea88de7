//! Comments and dead code of TSX, JSX, TypeScript and JavaScript.

use super::Cut;
use crate::stages::compile::source_type;
use juror_types::item::Language;
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BindingPattern, ConditionalExpression, Directive, Expression, IfStatement, LogicalExpression,
    Statement, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::LogicalOperator;

/// Comments, branches that are never taken, statements after a return, and texts that nothing uses.
pub(super) fn cuts(code: &str, language: Language) -> Option<Vec<Cut>> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, source_type(language)).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return None;
    }
    let mut dead = DeadCode { code, cuts: Vec::new() };
    for comment in &parsed.program.comments {
        // A comment separates what stands on its sides.
        dead.cut(comment.span, if comment.is_line() { "" } else { " " });
    }
    dead.visit_program(&parsed.program);
    Some(dead.cuts)
}

struct DeadCode<'code> {
    code: &'code str,
    cuts: Vec<Cut>,
}

impl DeadCode<'_> {
    fn cut(&mut self, span: Span, instead: &'static str) {
        self.cuts.push(Cut { range: span.start as usize..span.end as usize, instead });
    }

    /// Whether a word stands in the code once: where it is declared.
    fn is_unused(&self, name: &str) -> bool {
        let is_word = |byte: Option<&u8>| {
            byte.is_some_and(|byte| {
                byte.is_ascii_alphanumeric() || b"_$".contains(byte) || *byte > 127
            })
        };
        let bytes = self.code.as_bytes();
        let whole = self.code.match_indices(name).filter(|(start, _)| {
            let before = start.checked_sub(1).and_then(|before| bytes.get(before));
            !is_word(before) && !is_word(bytes.get(start + name.len()))
        });
        whole.take(2).count() == 1
    }
}

impl<'a> Visit<'a> for DeadCode<'_> {
    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        match (it.operator, truth(&it.left)) {
            (LogicalOperator::And, Some(false)) => self.cut(it.right.span(), "null"),
            (LogicalOperator::Or, Some(true)) => self.cut(it.right.span(), "null"),
            _ => walk::walk_logical_expression(self, it),
        }
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        match truth(&it.test) {
            Some(true) => self.cut(it.alternate.span(), "null"),
            Some(false) => self.cut(it.consequent.span(), "null"),
            None => {}
        }
        walk::walk_conditional_expression(self, it);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        match (truth(&it.test), &it.alternate) {
            (Some(false), _) => self.cut(it.consequent.span(), "{}"),
            (Some(true), Some(alternate)) => self.cut(alternate.span(), "{}"),
            _ => {}
        }
        walk::walk_if_statement(self, it);
    }

    fn visit_directive(&mut self, it: &Directive<'a>) {
        if !it.directive.starts_with("use ") {
            self.cut(it.span, "");
        }
    }

    fn visit_statements(&mut self, it: &oxc_allocator::Vec<'a, Statement<'a>>) {
        let mut ended = false;
        for statement in it {
            let hoisted = matches!(statement, Statement::FunctionDeclaration(_));
            let is_text = matches!(statement, Statement::ExpressionStatement(expression)
                if text(&expression.expression).is_some());
            if is_text || (ended && !hoisted) {
                self.cut(statement.span(), "");
            } else {
                self.visit_statement(statement);
            }
            ended |=
                matches!(statement, Statement::ReturnStatement(_) | Statement::ThrowStatement(_));
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::BindingIdentifier(name), Some(span)) =
            (&it.id, it.init.as_ref().and_then(text))
            && self.is_unused(&name.name)
        {
            self.cut(span, "\"\"");
        }
        walk::walk_variable_declarator(self, it);
    }
}

/// Whether an expression is always true or always false, where its form alone says so. Zero and the
/// empty text are left alone: as a part of JSX, zero is rendered.
fn truth(expression: &Expression<'_>) -> Option<bool> {
    match expression {
        Expression::BooleanLiteral(literal) => Some(literal.value),
        Expression::NullLiteral(_) => Some(false),
        Expression::Identifier(name) if name.name == "undefined" => Some(false),
        Expression::ParenthesizedExpression(inner) => truth(&inner.expression),
        Expression::UnaryExpression(unary) if unary.operator.is_not() => {
            truth(&unary.argument).map(|value| !value)
        }
        _ => None,
    }
}

/// The place of a text that is nothing but a text.
fn text(expression: &Expression<'_>) -> Option<Span> {
    match expression {
        Expression::StringLiteral(literal) => Some(literal.span),
        Expression::TemplateLiteral(literal) if literal.expressions.is_empty() => {
            Some(literal.span)
        }
        Expression::ParenthesizedExpression(inner) => text(&inner.expression),
        _ => None,
    }
}
