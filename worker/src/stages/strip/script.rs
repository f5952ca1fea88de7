//! Comments and dead code of TSX, JSX, TypeScript and JavaScript.

use super::{
    Cut, HIDDEN,
    hidden_jsx::{is_never_shown, is_style_sheet, may_show_others, styles_others},
};
use crate::stages::compile::source_type;
use juror_types::item::Language;
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    BindingPattern, ConditionalExpression, Directive, Expression, IdentifierReference, IfStatement,
    ImportDeclaration, JSXElement, LogicalExpression, Statement, TaggedTemplateExpression,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::LogicalOperator;
use std::collections::HashSet;

/// Comments, branches that are never taken, statements after a return, elements that are never
/// shown, and unused texts; unused texts stay in a script of a page, since other scripts share its
/// names.
pub(super) fn cuts(code: &str, language: Language) -> Option<Vec<Cut>> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, source_type(language)).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return None;
    }
    let mut dead = DeadCode::default();
    for comment in &parsed.program.comments {
        // A comment separates the tokens on its sides.
        dead.cut(comment.span, if comment.is_line() { "" } else { " " });
    }
    dead.visit_program(&parsed.program);
    if !dead.shows_others && !styles_others(code) {
        let hidden = std::mem::take(&mut dead.hidden);
        hidden.into_iter().for_each(|span| dead.cut(span, HIDDEN));
    }
    if language != Language::Html {
        let DeadCode { texts, used, .. } = &mut dead;
        let unused = std::mem::take(texts).into_iter().filter(|(name, _)| !used.contains(name));
        unused.collect::<Vec<_>>().into_iter().for_each(|(_, span)| dead.cut(span, "\"\""));
    }
    Some(dead.cuts)
}

/// Findings of a walk through the code that can run.
#[derive(Default)]
struct DeadCode {
    cuts: Vec<Cut>,
    /// Texts with the name that they are declared under.
    texts: Vec<(String, Span)>,
    /// Every name that is used.
    used: HashSet<String>,
    /// Elements that are hidden for good, unless something shows them.
    hidden: Vec<Span>,
    /// True if a style sheet, or code that reaches elements by the document, may show them.
    shows_others: bool,
}

impl DeadCode {
    fn cut(&mut self, span: Span, instead: &'static str) {
        self.cuts.push(Cut { range: span.start as usize..span.end as usize, instead });
    }
}

impl<'a> Visit<'a> for DeadCode {
    fn visit_logical_expression(&mut self, logical: &LogicalExpression<'a>) {
        match (logical.operator, constant_truth(&logical.left)) {
            (LogicalOperator::And, Some(false)) => self.cut(logical.right.span(), "null"),
            (LogicalOperator::Or, Some(true)) => self.cut(logical.right.span(), "null"),
            _ => walk::walk_logical_expression(self, logical),
        }
    }

    fn visit_conditional_expression(&mut self, conditional: &ConditionalExpression<'a>) {
        let (live, dead) = match constant_truth(&conditional.test) {
            None => return walk::walk_conditional_expression(self, conditional),
            Some(true) => (&conditional.consequent, &conditional.alternate),
            Some(false) => (&conditional.alternate, &conditional.consequent),
        };
        self.cut(dead.span(), "null");
        self.visit_expression(live);
    }

    fn visit_if_statement(&mut self, statement: &IfStatement<'a>) {
        let (live, dead) = match (constant_truth(&statement.test), &statement.alternate) {
            (Some(false), alternate) => (alternate.as_ref(), Some(&statement.consequent)),
            (Some(true), alternate) => (Some(&statement.consequent), alternate.as_ref()),
            (None, _) => return walk::walk_if_statement(self, statement),
        };
        if let Some(dead) = dead {
            self.cut(dead.span(), "{}");
        }
        if let Some(live) = live {
            self.visit_statement(live);
        }
    }

    fn visit_jsx_element(&mut self, element: &JSXElement<'a>) {
        if is_never_shown(element) {
            self.hidden.push(element.span);
        }
        self.shows_others |= may_show_others(element);
        walk::walk_jsx_element(self, element);
    }

    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        self.shows_others |= is_style_sheet(&import.source.value);
        walk::walk_import_declaration(self, import);
    }

    /// Detects style libraries (`styled.div`, `css`).
    fn visit_tagged_template_expression(&mut self, template: &TaggedTemplateExpression<'a>) {
        self.shows_others = true;
        walk::walk_tagged_template_expression(self, template);
    }

    fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) {
        self.shows_others |=
            matches!(identifier.name.as_str(), "document" | "window" | "globalThis");
        self.used.insert(identifier.name.to_string());
    }

    fn visit_directive(&mut self, directive: &Directive<'a>) {
        if !directive.directive.starts_with("use ") {
            self.cut(directive.span, "");
        }
    }

    fn visit_statements(&mut self, statements: &oxc_allocator::Vec<'a, Statement<'a>>) {
        let mut ended = false;
        for statement in statements {
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

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        let text = declarator.init.as_ref().and_then(text);
        if let (BindingPattern::BindingIdentifier(name), Some(span)) = (&declarator.id, text) {
            self.texts.push((name.name.to_string(), span));
        }
        walk::walk_variable_declarator(self, declarator);
    }
}

/// True or false for an expression whose form alone determines it; none otherwise. Zero and the
/// empty text are left alone: as a part of JSX, zero is rendered.
fn constant_truth(expression: &Expression<'_>) -> Option<bool> {
    match expression {
        Expression::BooleanLiteral(literal) => Some(literal.value),
        Expression::NullLiteral(_) => Some(false),
        Expression::Identifier(name) if name.name == "undefined" => Some(false),
        Expression::ParenthesizedExpression(inner) => constant_truth(&inner.expression),
        Expression::UnaryExpression(unary) if unary.operator.is_not() => {
            constant_truth(&unary.argument).map(|value| !value)
        }
        _ => None,
    }
}

/// The range of an expression that is only a text.
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
