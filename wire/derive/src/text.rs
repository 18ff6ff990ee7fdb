//! Doc comments and names.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment on one line, without its examples and drawings.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut in_code = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &pair.value else { continue };
        let line = line.value();
        let line = line.trim();
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        if !in_code && !is_fence && !line.is_empty() {
            words.push(line.to_owned());
        }
    }
    words.join(" ")
}

/// `PartiallyFilled` as `partially-filled`.
pub(crate) fn kebab(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_before_capitals() {
        assert_eq!(kebab("Buy"), "buy");
        assert_eq!(kebab("PartiallyFilled"), "partially-filled");
    }

    #[test]
    fn a_doc_comment_becomes_one_line_without_its_drawing() {
        let item: syn::ItemStruct = syn::parse_quote! {
            /// First,
            /// second.
            ///
            /// ```text
            /// drawing
            /// ```
            ///
            /// Third.
            struct S;
        };
        assert_eq!(doc(&item.attrs), "First, second. Third.");
    }
}
