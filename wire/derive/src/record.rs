//! `#[derive(Described)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Expr, Field, Fields, LitInt, LitStr, Result};

use crate::text::doc;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only a struct has fields to describe"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "fields to describe have names"));
    };
    let (name, name_text, record_doc) = (&input.ident, input.ident.to_string(), doc(&input.attrs));
    let names: Vec<String> =
        fields.named.iter().flat_map(|field| &field.ident).map(|i| i.to_string()).collect();
    let present_with = match present_with(input)? {
        None => quote! { ::std::option::Option::None },
        Some(key) => match names.iter().position(|name| *name == key.value()) {
            Some(index) => quote! { ::std::option::Option::Some(#index) },
            None => return Err(Error::new_spanned(key, "no field has this name")),
        },
    };
    let rows = fields.named.iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        impl ::wire::schema::Described for #name {
            const RECORD: &'static ::wire::schema::Record = &::wire::schema::Record {
                name: #name_text,
                doc: #record_doc,
                size: ::std::mem::size_of::<Self>(),
                fields: &[#(#rows)*],
                present_with: #present_with,
            };
        }

        impl ::wire::schema::FieldType for #name {
            const KIND: ::wire::schema::Kind =
                ::wire::schema::Kind::Record(<#name as ::wire::schema::Described>::RECORD);
        }
    })
}

fn present_with(input: &DeriveInput) -> Result<Option<LitStr>> {
    let mut key = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("described")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("present_with") {
                return Err(meta.error("known here: `present_with`"));
            }
            key = Some(meta.value()?.parse::<LitStr>()?);
            Ok(())
        })?;
    }
    Ok(key)
}

/// One row of the table.
fn row(field: &Field) -> Result<TokenStream> {
    let Some(ident) = &field.ident else {
        return Err(Error::new_spanned(field, "fields to describe have names"));
    };
    let (name, kind_type, field_doc) = (ident.to_string(), &field.ty, doc(&field.attrs));
    let mut column = name.clone();
    let mut kind = quote! { <#kind_type as ::wire::schema::FieldType>::KIND };
    if name.starts_with("reserved") {
        kind = quote! { ::wire::schema::Kind::Reserved };
    }
    let (mut none, mut since) = (None::<Expr>, 1_u16);
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("field")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("column") {
                column = meta.value()?.parse::<LitStr>()?.value();
            } else if meta.path.is_ident("none") {
                none = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("since") {
                since = meta.value()?.parse::<LitInt>()?.base10_parse()?;
            } else if meta.path.is_ident("position") {
                kind = quote! { ::wire::schema::Kind::Position };
            } else if meta.path.is_ident("opaque") {
                kind = quote! { ::wire::schema::Kind::Opaque };
            } else if meta.path.is_ident("flags") {
                kind = quote! { ::wire::schema::Kind::Flags(Self::FLAGS) };
            } else {
                return Err(
                    meta.error("known here: `column`, `none`, `since`, `position`, `opaque`, `flags`")
                );
            }
            Ok(())
        })?;
    }
    let none = match none {
        Some(none) => quote! { ::std::option::Option::Some(#none) },
        None => quote! { (#kind).none() },
    };
    Ok(quote! {
        ::wire::schema::Field {
            name: #name,
            column: #column,
            offset: ::std::mem::offset_of!(Self, #ident),
            size: ::std::mem::size_of::<#kind_type>(),
            kind: #kind,
            none: #none,
            since: #since,
            doc: #field_doc,
        },
    })
}
