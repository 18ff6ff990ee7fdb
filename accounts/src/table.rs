//! Tables by small numbers.

/// The item at an index, which is made where the table does not reach it.
pub(crate) fn reach<T: Default + Clone>(table: &mut Vec<T>, index: usize) -> &mut T {
    if index >= table.len() {
        table.resize(index + 1, T::default());
    }
    &mut table[index]
}
