//! The macro for enums whose values have names, on the wire or in the store.

/// Declares such an enum: each variant with its name, once. The enum also gets `ALL`, `as_str` and `parse`.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        pub enum $enum {
            $($(#[$doc])* $variant,)+
        }

        impl $enum {
            /// Every value.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name on the wire and in the store.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the value with this name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == name)
            }
        }
    };
}
