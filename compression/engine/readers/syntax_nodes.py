"""How the grammars of tree-sitter name what an outline is made of.

One set of names for all languages: no name means two things, and a language that lacks one never shows it.
"""

from __future__ import annotations

FUNCTIONS = frozenset([
    "function_definition", "function_declaration", "method_declaration", "function_item", "method_definition",
    "constructor_declaration", "generator_function_declaration", "function_signature_item", "function_signature",
    "abstract_method_signature", "macro_definition", "preproc_function_def", "compact_constructor_declaration",
])  # fmt: skip
"""Definitions of what can be called."""

TYPES = frozenset([
    "class_definition", "class_declaration", "abstract_class_declaration", "interface_declaration", "enum_declaration",
    "record_declaration", "annotation_type_declaration", "type_declaration", "type_alias_declaration",
    "type_alias_statement", "struct_item", "enum_item", "trait_item", "impl_item", "type_item", "union_item",
    "class_specifier", "struct_specifier", "enum_specifier", "union_specifier", "type_definition", "alias_declaration",
    "mod_item", "namespace_definition", "internal_module",
])  # fmt: skip
"""Definitions that hold other definitions, or name a shape."""

WRAPPERS = frozenset([
    "export_statement", "decorated_definition", "template_declaration", "linkage_specification", "declaration_list",
    "ERROR", "preproc_if", "preproc_ifdef", "preproc_else", "ambient_declaration",
])  # fmt: skip
"""What stands around a definition and is none."""

IMPORTS = frozenset([
    "import_statement", "import_from_statement", "future_import_statement", "import_declaration", "use_declaration",
    "preproc_include", "extern_crate_declaration",
])  # fmt: skip
"""What brings in other modules."""

PACKAGES = frozenset(("package_clause", "package_declaration"))
"""What the file says that it belongs to."""

CONSTANTS = frozenset([
    "const_declaration", "var_declaration", "lexical_declaration", "variable_declaration", "const_item", "static_item",
    "field_declaration", "public_field_definition", "declaration", "preproc_def",
])  # fmt: skip
"""Values, which are functions when their value is one."""

DECLARES = frozenset(("type_declaration", "lexical_declaration", "variable_declaration", "export_statement"))
"""What holds the declarations that have the name."""

FUNCTION_VALUES = frozenset(("arrow_function", "function_expression", "function"))
MODULE_FIELDS = ("source", "path", "argument")
"""Where an import keeps the name of the module."""
