//! JSX elements that are always hidden.

use super::NEUTRAL_ELEMENTS;
use oxc_ast::ast::{
    Expression, JSXAttribute, JSXAttributeItem, JSXAttributeValue, JSXChild, JSXElement,
    JSXElementName, JSXExpression, ObjectPropertyKind,
};

/// Marks of styles for elements that do not name them: nested selectors, variants of Tailwind for
/// children, global styles.
const STYLES_OF_OTHERS: [&str; 5] = ["[&", "*:", "'&", "\"&", "GlobalStyle"];

/// True if code styles elements that it does not name, by its texts.
pub(super) fn styles_others(code: &str) -> bool {
    STYLES_OF_OTHERS.iter().any(|mark| code.contains(mark))
}

/// True if an import brings a style sheet.
pub(super) fn is_style_sheet(source: &str) -> bool {
    let path = source.split('?').next().unwrap_or_default();
    [".css", ".scss", ".sass", ".less", ".styl"].iter().any(|ending| path.ends_with(ending))
}

/// True if an element is a style sheet or a script, or an attribute gives code a reference to its
/// element: either may show hidden content.
pub(super) fn may_show_others(element: &JSXElement<'_>) -> bool {
    let opening = &element.opening_element;
    intrinsic_name(element).is_some_and(|name| matches!(name, "style" | "link" | "script"))
        || opening.attributes.iter().any(|item| match item {
            JSXAttributeItem::Attribute(attribute) => {
                matches!(attribute_name(attribute), "ref" | "dangerouslySetInnerHTML")
            }
            JSXAttributeItem::SpreadAttribute(_) => false,
        })
}

/// True if an element is hidden by the attribute `hidden` or its `style`, in literals, has nothing
/// else that a style sheet could select, and contains only texts and neutral elements. A component
/// may render into another part of the page, a symbol is rendered where it is used, and a hidden
/// option is the placeholder of its select.
pub(super) fn is_never_shown(element: &JSXElement<'_>) -> bool {
    let mut hides = false;
    for item in &element.opening_element.attributes {
        let JSXAttributeItem::Attribute(attribute) = item else { return false };
        match attribute_name(attribute) {
            "hidden" if is_literally_true(attribute) => hides = true,
            "style" if is_display_none(attribute) => hides = true,
            "key" | "aria-hidden" => {}
            _ => return false,
        }
    }
    hides && is_neutral(element)
}

fn is_neutral(element: &JSXElement<'_>) -> bool {
    let named = element.opening_element.attributes.iter().any(|item| match item {
        JSXAttributeItem::Attribute(attribute) => attribute_name(attribute) == "id",
        JSXAttributeItem::SpreadAttribute(_) => true,
    });
    let neutral = intrinsic_name(element).is_some_and(|name| NEUTRAL_ELEMENTS.contains(&name));
    neutral
        && !named
        && element.children.iter().all(|child| match child {
            JSXChild::Text(_) => true,
            JSXChild::Element(inner) => is_neutral(inner),
            JSXChild::ExpressionContainer(inner) => match &inner.expression {
                JSXExpression::EmptyExpression(_) | JSXExpression::StringLiteral(_) => true,
                JSXExpression::TemplateLiteral(text) => text.expressions.is_empty(),
                _ => false,
            },
            _ => false,
        })
}

fn intrinsic_name<'a>(element: &'a JSXElement<'_>) -> Option<&'a str> {
    match &element.opening_element.name {
        JSXElementName::Identifier(name) => Some(name.name.as_str()),
        _ => None,
    }
}

/// Name of an attribute; empty for a name with a namespace.
fn attribute_name<'a>(attribute: &'a JSXAttribute<'_>) -> &'a str {
    attribute.name.as_identifier().map_or("", |name| name.name.as_str())
}

fn is_literally_true(attribute: &JSXAttribute<'_>) -> bool {
    match &attribute.value {
        None => true,
        Some(JSXAttributeValue::ExpressionContainer(value)) => {
            matches!(&value.expression, JSXExpression::BooleanLiteral(literal) if literal.value)
        }
        Some(_) => false,
    }
}

/// True for `{{ display: "none" }}`, with further plain keys or none.
fn is_display_none(attribute: &JSXAttribute<'_>) -> bool {
    let Some(JSXAttributeValue::ExpressionContainer(value)) = &attribute.value else {
        return false;
    };
    let Some(Expression::ObjectExpression(style)) = value.expression.as_expression() else {
        return false;
    };
    let mut hides = false;
    for property in &style.properties {
        let ObjectPropertyKind::ObjectProperty(property) = property else { return false };
        if property.computed {
            return false;
        }
        if property.key.static_name().as_deref() == Some("display") {
            hides =
                matches!(&property.value, Expression::StringLiteral(text) if text.value == "none");
        }
    }
    hides
}
