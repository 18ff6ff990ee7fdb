//! State to bytes and back: what snapshots are made of. Each type writes its fields in their order.

use std::collections::VecDeque;

use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

/// Bytes still to be read.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

/// Can be written and read again.
pub(crate) trait State: Sized {
    fn put(&self, out: &mut Vec<u8>);
    /// `None`: these bytes are none.
    fn get(from: &mut Reader<'_>) -> Option<Self>;
}

/// Writes a type of fixed layout.
pub(crate) fn put_bytes<T: IntoBytes + Immutable>(value: &T, out: &mut Vec<u8>) {
    out.extend_from_slice(value.as_bytes());
}

/// Reads a type of fixed layout.
pub(crate) fn get_bytes<T: TryFromBytes + KnownLayout + Immutable>(from: &mut Reader<'_>) -> Option<T> {
    T::try_read_from_bytes(from.take(size_of::<T>())?).ok()
}

macro_rules! plain {
    ($($of:ty),* $(,)?) => {$(
        impl State for $of {
            fn put(&self, out: &mut Vec<u8>) {
                put_bytes(self, out);
            }
            fn get(from: &mut Reader<'_>) -> Option<$of> {
                get_bytes(from)
            }
        }
    )*};
}
plain!(
    u8,
    u16,
    u32,
    u64,
    i64,
    i128,
    bool,
    wire::Price,
    wire::OrderId,
    wire::InstrumentId,
    wire::AccountId,
    wire::StrategyId,
    wire::Currency,
    wire::Text<32>,
    wire::Symbol,
    wire::AccountKind,
    wire::CostMethod,
    wire::Side,
    wire::OrderStatus,
    wire::Reason,
    wire::NewOrder,
    wire::FeeRule,
    wire::MarginRule,
    wire::ChargeKind,
    wire::FeeSide,
    wire::FeeEvent,
    wire::AccountScope,
    wire::Nanos,
);

/// Fields of a struct, in the order of the list.
macro_rules! state {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::state::State for $name {
            fn put(&self, out: &mut Vec<u8>) {
                // Named one by one, so that a new field that is not in the list does not compile.
                let $name { $($field),* } = self;
                $($crate::state::State::put($field, out);)*
            }
            fn get(from: &mut $crate::state::Reader<'_>) -> Option<$name> {
                Some($name { $($field: $crate::state::State::get(from)?),* })
            }
        }
    };
}
pub(crate) use state;

/// An enum without fields, by its number.
macro_rules! state_enum {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::state::State for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(*self as u8);
            }
            fn get(from: &mut $crate::state::Reader<'_>) -> Option<$name> {
                let byte: u8 = $crate::state::State::get(from)?;
                [$($name::$variant),*].into_iter().find(|known| *known as u8 == byte)
            }
        }
    };
}
pub(crate) use state_enum;

impl<T: State> State for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Option<Option<T>> {
        Some(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}

impl<T: State> State for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }
    fn get(from: &mut Reader<'_>) -> Option<Box<T>> {
        T::get(from).map(Box::new)
    }
}

impl<T: State> State for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn get(from: &mut Reader<'_>) -> Option<Vec<T>> {
        let length = u64::get(from)?;
        // Each item has a byte at least: a false length asks for no more memory than there are bytes.
        (length <= from.0.len() as u64).then_some(())?;
        (0..length).map(|_| T::get(from)).collect()
    }
}

impl<T: State> State for VecDeque<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn get(from: &mut Reader<'_>) -> Option<VecDeque<T>> {
        Vec::get(from).map(VecDeque::from)
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
    }
    fn get(from: &mut Reader<'_>) -> Option<[T; N]> {
        let items: Option<Vec<T>> = (0..N).map(|_| T::get(from)).collect();
        items?.try_into().ok()
    }
}

impl<A: State, B: State> State for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Option<(A, B)> {
        Some((A::get(from)?, B::get(from)?))
    }
}
