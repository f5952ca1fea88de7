//! Imports of a compiled module, by specifier and name.

use juror_render::ImportedNames;
use oxc_ast::ast::{Expression, ImportExpression, Program, StaticMemberExpression};
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::module_record::{ExportImportName, ImportImportName, ModuleRecord};
use std::collections::BTreeMap;

/// Names of imports by specifier, each with the name that it has in the module.
pub(super) fn imports_of(
    program: &Program<'_>,
    record: &ModuleRecord<'_>,
) -> BTreeMap<String, ImportedNames> {
    let mut uses = ModuleUses::default();
    for specifier in record.requested_modules.keys() {
        uses.imports.entry(specifier.to_string()).or_default();
    }
    for entry in &record.import_entries {
        let (specifier, local) = (entry.module_request.name, entry.local_name.name);
        match &entry.import_name {
            ImportImportName::Name(name) => uses.add(&specifier, &name.name, &name.name),
            ImportImportName::Default(_) => uses.add(&specifier, "default", &local),
            ImportImportName::NamespaceObject => {
                uses.namespaces.insert(local.to_string(), specifier.to_string());
            }
        }
    }
    for entry in &record.indirect_export_entries {
        let specifier = entry.module_request.as_ref();
        if let (Some(specifier), ExportImportName::Name(name)) = (specifier, &entry.import_name) {
            uses.add(&specifier.name, &name.name, &name.name);
        }
    }
    uses.visit_program(program);
    uses.imports
}

#[derive(Default)]
struct ModuleUses {
    imports: BTreeMap<String, ImportedNames>,
    /// Specifiers of whole modules by the name that they are imported as.
    namespaces: BTreeMap<String, String>,
}

impl ModuleUses {
    fn add(&mut self, specifier: &str, name: &str, shown: &str) {
        let names = self.imports.entry(specifier.to_owned()).or_default();
        names.entry(name.to_owned()).or_insert_with(|| shown.to_owned());
    }
}

impl<'a> Visit<'a> for ModuleUses {
    /// Records a member of a whole module as one of its exports.
    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        if let Expression::Identifier(object) = &member.object
            && let Some(specifier) = self.namespaces.get(object.name.as_str()).cloned()
        {
            let (name, whole) = (member.property.name.as_str(), object.name.as_str());
            self.add(&specifier, name, &format!("{whole}.{name}"));
        }
        walk::walk_static_member_expression(self, member);
    }

    /// Records the default export of a module that is loaded later.
    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        if let Expression::StringLiteral(specifier) = &import.source {
            self.add(&specifier.value, "default", &specifier.value);
        }
        walk::walk_import_expression(self, import);
    }
}
