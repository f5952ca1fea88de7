//! Macros for enums whose values have names.

/// Defines an enum with one name for each variant; adds `ALL`, the variants in their order, `name`
/// and `from_name`.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $kind:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$meta])*
        $vis enum $kind {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $kind {
            /// All values, in the order of their declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name in records, settings, metrics and logs.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The value of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}

/// Defines an enum as [`named_enum`](crate::named_enum) does; serde writes and reads the same
/// names.
#[macro_export]
macro_rules! serde_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $kind:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $crate::named_enum! {
            $(#[$meta])*
            $vis enum $kind {
                $($(#[$variant_meta])* #[serde(rename = $name)] $variant = $name,)*
            }
        }
    };
}
