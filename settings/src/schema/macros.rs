//! The macros that a language is written with. They use `serde`'s derives: a crate that calls them depends on `serde`.

/// Gives types of the calling crate their [`Kind`](crate::schema::Kind): `Speed = Kind::Number { min: 0.0, max: 1e6 };`.
#[macro_export]
macro_rules! described {
    ($($type:ty = $kind:expr;)*) => {$(
        impl $crate::schema::Described for $type {
            const KIND: $crate::schema::Kind = $kind;
        }
    )*};
}

/// An enumeration whose variants are words of the file: `Sim = "sim"`. The doc comments explain the words.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident ($what:literal) {
            $($(#[doc = $word_doc:literal])+ $word:ident = $text:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $word_doc])+ #[serde(rename = $text)] $word,)+
        }

        impl $name {
            /// The word as the file has it.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$word => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        $crate::described! {
            $name = $crate::schema::Kind::Words(&$crate::schema::Words {
                what: $what,
                words: &[$(($text, concat!($($word_doc),+)),)+],
            });
        }
    };
}

/// A table: `key: Type = default => kind, Absent::…;`, where the kind and what absence means may be left out. The doc
/// comments explain the keys.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            $(
                $(#[doc = $key_doc:literal])+
                $(#[serde($($attribute:tt)+)])*
                $key:ident : $type:ty = $default:expr $(=> $kind:expr)? $(, $absent:expr)? ;
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $(
                $(#[doc = $key_doc])+
                $(#[serde($($attribute)+)])*
                pub $key: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($key: $default,)* }
            }
        }

        impl $crate::schema::Section for $name {
            const TABLE: &'static $crate::schema::TableSchema = &$crate::schema::TableSchema {
                doc: &[$($doc),+],
                keys: &[$(
                    $crate::schema::Key {
                        name: stringify!($key),
                        doc: &[$($key_doc),+],
                        kind: $crate::section!(@kind $type $(, $kind)?),
                        absent: $crate::section!(@absent $($absent)?),
                        flatten: $crate::section!(@flatten $($($attribute)+)*),
                    },
                )*],
                defaults: <$name as $crate::schema::Section>::defaults,
            };
        }
    };
    (@kind $type:ty) => { <$type as $crate::schema::Described>::KIND };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@absent) => { $crate::schema::Absent::Default };
    (@absent $absent:expr) => { $absent };
    (@flatten flatten) => { true };
    (@flatten $($other:tt)*) => { false };
}
