//! Buffers of Arrow, read a cell at a time. Nothing that a producer wrote into them is believed
//! beyond their lengths: a place outside is no cell.

use std::ops::Range;

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer, i256};
use arrow_data::ArrayData;
use arrow_schema::DataType;

use crate::value::number::{Decimal, Number};

/// The rows of an array: where they begin in its buffers, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Part<'d> {
    pub(super) data: &'d ArrayData,
    /// The type of the cells; of a dictionary that of its keys.
    pub(super) kind: &'d DataType,
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Part<'_> {
    fn buffer(self, at: usize) -> Buffer {
        self.data.buffers().get(at).cloned().unwrap_or_default()
    }

    fn scalars<T: ArrowNativeType>(self, at: usize) -> ScalarBuffer<T> {
        ScalarBuffer::new(self.buffer(at), self.start, self.length)
    }

    /// One more than there are rows; none where there is no row.
    fn offsets<T: ArrowNativeType>(self) -> ScalarBuffer<T> {
        let buffer = self.buffer(0);
        if buffer.is_empty() {
            return ScalarBuffer::from(Vec::new());
        }
        ScalarBuffer::new(buffer, self.start, self.length + 1)
    }
}

/// A number of up to 64 bits.
macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident: $($kind:ident($native:ty) = $type:pat),+) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name { $(#[doc = "Of this type."] $kind(ScalarBuffer<$native>),)+ }

        impl $name {
            pub(super) fn of(part: Part<'_>) -> Option<Self> {
                Some(match part.kind {
                    $($type => Self::$kind(part.scalars(0)),)+
                    _ => return None,
                })
            }
        }
    };
}

numbers! {
    /// Whole numbers.
    Ints:
    I64(i64) = DataType::Int64,
    I32(i32) = DataType::Int32,
    I16(i16) = DataType::Int16,
    I8(i8) = DataType::Int8,
    U64(u64) = DataType::UInt64,
    U32(u32) = DataType::UInt32,
    U16(u16) = DataType::UInt16,
    U8(u8) = DataType::UInt8
}

numbers! {
    /// Numbers with a point that floats.
    Floats:
    F64(f64) = DataType::Float64,
    F32(f32) = DataType::Float32,
    F16(half::f16) = DataType::Float16
}

impl Ints {
    /// The number in a row; `None` when it is above 64 bits with a sign.
    pub fn get(&self, row: usize) -> Option<i64> {
        match self {
            Self::I64(cells) => cells.get(row).copied(),
            Self::I32(cells) => cells.get(row).map(|cell| i64::from(*cell)),
            Self::I16(cells) => cells.get(row).map(|cell| i64::from(*cell)),
            Self::I8(cells) => cells.get(row).map(|cell| i64::from(*cell)),
            Self::U64(cells) => cells.get(row).and_then(|cell| i64::try_from(*cell).ok()),
            Self::U32(cells) => cells.get(row).map(|cell| i64::from(*cell)),
            Self::U16(cells) => cells.get(row).map(|cell| i64::from(*cell)),
            Self::U8(cells) => cells.get(row).map(|cell| i64::from(*cell)),
        }
    }

    /// The number in a row, whatever its size.
    pub(super) fn number(&self, row: usize) -> Option<Number> {
        match (self.get(row), self) {
            (Some(int), _) => Some(Number::Int(int)),
            (None, Self::U64(cells)) => exact(&cells.get(row)?.to_string()),
            _ => None,
        }
    }
}

impl Floats {
    pub(super) fn get(&self, row: usize) -> Option<f64> {
        match self {
            Self::F64(cells) => cells.get(row).copied(),
            Self::F32(cells) => cells.get(row).map(|cell| f64::from(*cell)),
            Self::F16(cells) => cells.get(row).map(|cell| cell.to_f64()),
        }
    }
}

/// Whole numbers of many digits, and how many of the digits are a fraction.
#[derive(Debug)]
pub(super) struct Decimals {
    digits: Digits,
    scale: i8,
}

#[derive(Debug)]
enum Digits {
    D32(ScalarBuffer<i32>),
    D64(ScalarBuffer<i64>),
    D128(ScalarBuffer<i128>),
    D256(ScalarBuffer<i256>),
}

impl Decimals {
    pub(super) fn of(part: Part<'_>) -> Option<Self> {
        let (digits, scale) = match part.kind {
            DataType::Decimal32(_, scale) => (Digits::D32(part.scalars(0)), *scale),
            DataType::Decimal64(_, scale) => (Digits::D64(part.scalars(0)), *scale),
            DataType::Decimal128(_, scale) => (Digits::D128(part.scalars(0)), *scale),
            DataType::Decimal256(_, scale) => (Digits::D256(part.scalars(0)), *scale),
            _ => return None,
        };
        Some(Self { digits, scale })
    }

    pub(super) fn number(&self, row: usize) -> Option<Number> {
        let exponent = -i16::from(self.scale);
        exact(&match &self.digits {
            Digits::D32(cells) => format!("{}e{exponent}", cells.get(row)?),
            Digits::D64(cells) => format!("{}e{exponent}", cells.get(row)?),
            Digits::D128(cells) => format!("{}e{exponent}", cells.get(row)?),
            Digits::D256(cells) => format!("{}e{exponent}", cells.get(row)?),
        })
    }
}

fn exact(text: &str) -> Option<Number> {
    Decimal::parse(text).map(Number::Exact)
}

/// Texts.
#[derive(Debug)]
pub enum Texts {
    /// With offsets of 32 bits.
    Short(ScalarBuffer<i32>, Buffer),
    /// With offsets of 64 bits.
    Long(ScalarBuffer<i64>, Buffer),
    /// Of each its length, and the text itself or where it stands.
    Views(ScalarBuffer<u128>, Box<[Buffer]>),
}

/// Bytes of a text that stand in its view.
const INLINE: usize = 12;
const VIEW: usize = size_of::<u128>();

impl Texts {
    pub(super) fn of(part: Part<'_>) -> Option<Self> {
        Some(match part.kind {
            DataType::Utf8 => Self::Short(part.offsets(), part.buffer(1)),
            DataType::LargeUtf8 => Self::Long(part.offsets(), part.buffer(1)),
            DataType::Utf8View => {
                let more = part.data.buffers().get(1..).unwrap_or_default();
                Self::Views(part.scalars(0), more.into())
            }
            _ => return None,
        })
    }

    /// The text in a row.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Short(offsets, bytes) => bytes.get(between(offsets, row)?),
            Self::Long(offsets, bytes) => bytes.get(between(offsets, row)?),
            Self::Views(views, buffers) => {
                let view = *views.get(row)?;
                let part = |at: u32| u32::try_from((view >> at) & u128::from(u32::MAX)).ok();
                let length = part(0)?.as_usize();
                if length > INLINE {
                    let start = part(96)?.as_usize();
                    return buffers
                        .get(part(64)?.as_usize())?
                        .get(start..start.saturating_add(length));
                }
                let start = row * VIEW + size_of::<u32>();
                views.inner().get(start..start + length)
            }
        }
    }
}

/// From an offset to the next.
fn between<T: ArrowNativeType>(offsets: &[T], row: usize) -> Option<Range<usize>> {
    match offsets.get(row..)? {
        [start, end, ..] => Some(start.as_usize()..end.as_usize()),
        _ => None,
    }
}

/// Which cells of another column a row has.
#[derive(Debug)]
pub(super) enum Spans {
    Short(ScalarBuffer<i32>),
    Long(ScalarBuffer<i64>),
    /// Where the first row begins, and how many cells each has.
    Fixed(usize, usize),
    ShortViews(ScalarBuffer<i32>, ScalarBuffer<i32>),
    LongViews(ScalarBuffer<i64>, ScalarBuffer<i64>),
}

impl Spans {
    pub(super) fn of(part: Part<'_>) -> Option<Self> {
        Some(match part.kind {
            DataType::List(_) | DataType::Map(..) => Self::Short(part.offsets()),
            DataType::LargeList(_) => Self::Long(part.offsets()),
            DataType::FixedSizeList(_, size) => {
                let size = usize::try_from(*size).ok()?;
                Self::Fixed(part.start.saturating_mul(size), size)
            }
            DataType::ListView(_) => Self::ShortViews(part.scalars(0), part.scalars(1)),
            DataType::LargeListView(_) => Self::LongViews(part.scalars(0), part.scalars(1)),
            _ => return None,
        })
    }

    pub(super) fn get(&self, row: usize) -> Option<Range<usize>> {
        let sized = |start: usize, size: usize| start..start.saturating_add(size);
        match self {
            Self::Short(offsets) => between(offsets, row),
            Self::Long(offsets) => between(offsets, row),
            Self::Fixed(start, size) => {
                Some(sized(start.saturating_add(row.saturating_mul(*size)), *size))
            }
            Self::ShortViews(starts, sizes) => {
                Some(sized(starts.get(row)?.as_usize(), sizes.get(row)?.as_usize()))
            }
            Self::LongViews(starts, sizes) => {
                Some(sized(starts.get(row)?.as_usize(), sizes.get(row)?.as_usize()))
            }
        }
    }
}
