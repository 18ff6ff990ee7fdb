//! `#[derive(Enumeration)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Expr, ExprLit, Lit, LitStr, Result, Variant};

use crate::text::{doc, kebab};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "an enumeration is an enum"));
    };
    let (name, name_text, enum_doc) = (&input.ident, input.ident.to_string(), doc(&input.attrs));
    let (mut arms, mut members) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        let (ident, text, member_doc) = (&variant.ident, printed(variant)?, doc(&variant.attrs));
        let value = value(variant)?;
        arms.push(quote! { #name::#ident => #text, });
        members.push(quote! {
            ::wire::schema::Member { value: #value, name: #text, doc: #member_doc },
        });
    }
    Ok(quote! {
        impl #name {
            /// The name in lower case, as it is printed and as JSON holds it.
            pub fn as_str(self) -> &'static str {
                match self { #(#arms)* }
            }
        }

        impl ::std::fmt::Display for #name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::wire::schema::FieldType for #name {
            const KIND: ::wire::schema::Kind = ::wire::schema::Kind::Enum(&::wire::schema::Enumeration {
                name: #name_text,
                doc: #enum_doc,
                members: &[#(#members)*],
            });
        }
    })
}

/// The member's printed name.
fn printed(variant: &Variant) -> Result<String> {
    let mut name = kebab(&variant.ident.to_string());
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("member")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("name") {
                return Err(meta.error("a member has `name` only"));
            }
            name = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    Ok(name)
}

/// The byte, which must be written: it is what the journals hold.
fn value(variant: &Variant) -> Result<u8> {
    let Some((_, Expr::Lit(ExprLit { lit: Lit::Int(value), .. }))) = &variant.discriminant else {
        return Err(Error::new_spanned(variant, "a member has its value, as in `Buy = 1`"));
    };
    match value.base10_parse()? {
        0 => Err(Error::new_spanned(value, "no member is zero: zeroed memory must not decode")),
        value => Ok(value),
    }
}
