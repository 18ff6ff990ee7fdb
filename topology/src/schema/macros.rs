//! The macros that the tables and words of the file are written with.

macro_rules! described {
    ($($type:ty = $kind:expr;)*) => {$(
        impl crate::schema::Described for $type {
            const KIND: crate::schema::Kind = $kind;
        }
    )*};
}
pub(crate) use described;

/// An enumeration of words: `Sim = "sim"`.
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

        crate::schema::described! {
            $name = crate::schema::Kind::Words(&crate::schema::Words {
                what: $what,
                words: &[$(($text, concat!($($word_doc),+)),)+],
            });
        }
    };
}
pub(crate) use words;

/// A table: `key: Type = default => kind, Absent::…;`, where kind and what absence means may be left out.
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

        impl crate::schema::Section for $name {
            const TABLE: &'static crate::schema::TableSchema = &crate::schema::TableSchema {
                doc: &[$($doc),+],
                keys: &[$(
                    crate::schema::Key {
                        name: stringify!($key),
                        doc: &[$($key_doc),+],
                        kind: crate::schema::section!(@kind $type $(, $kind)?),
                        absent: crate::schema::section!(@absent $($absent)?),
                        flatten: crate::schema::section!(@flatten $($($attribute)+)*),
                    },
                )*],
                defaults: || serde_json::to_value($name::default()).unwrap_or_default(),
            };
        }
    };
    (@kind $type:ty) => { <$type as crate::schema::Described>::KIND };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@absent) => { crate::schema::Absent::Default };
    (@absent $absent:expr) => { $absent };
    (@flatten flatten) => { true };
    (@flatten $($other:tt)*) => { false };
}
pub(crate) use section;
