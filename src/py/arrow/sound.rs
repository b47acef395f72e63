//! What is told of an array before any of its memory is read: numbers that no array can have are
//! refused here, since the library counts on them.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_data::{ArrayData, layout};
use arrow_schema::{ArrowError, DataType};

use crate::limits::Limits;

/// Columns of one type, those within others among them.
const MOST_COLUMNS: usize = 1 << 20;
/// Rows, so that no size in bits goes beyond what a number holds.
const MOST_ROWS: usize = isize::MAX.unsigned_abs() >> 9;

/// Refuses a type of too many columns, or of such that are nested too deep to follow.
pub(super) fn check_schema(schema: &FFI_ArrowSchema) -> Result<(), ArrowError> {
    let mut level = vec![schema];
    let mut count = 0_usize;
    for _ in 0..=Limits::DEEPEST {
        let mut below = Vec::new();
        for schema in level {
            count = count.saturating_add(1).saturating_add(schema.children().size_hint().0);
            if count > MOST_COLUMNS {
                return refused(&format!("a type of more than {MOST_COLUMNS} columns"));
            }
            below.extend(schema.children().chain(schema.dictionary()));
        }
        if below.is_empty() {
            return Ok(());
        }
        level = below;
    }
    refused(&format!("a type that is nested deeper than {}", Limits::DEEPEST))
}

/// Refuses an array with other parts than its type has, or of a length that cannot be.
pub(super) fn check_array(array: &FFI_ArrowArray, kind: &DataType) -> Result<(), ArrowError> {
    let mut left = vec![(array, kind, 0)];
    while let Some((array, kind, least)) = left.pop() {
        if array.is_released() {
            return refused("an array within that was released");
        }
        // What is negative is taken for very large.
        let rows = array.offset().checked_add(array.len()).filter(|rows| *rows <= MOST_ROWS);
        let Some(rows) = rows.filter(|_| array.len() >= least) else {
            return refused("an array whose length or offset cannot be");
        };
        if !has_buffers(array, kind) {
            return refused(&format!("an array of the type {kind} with too few buffers"));
        }
        match kind {
            DataType::Struct(fields) => {
                let parts = fields.iter().enumerate();
                left.extend(parts.map(|(at, part)| (array.child(at), part.data_type(), rows)));
            }
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item)
            | DataType::Map(item, _) => left.push((array.child(0), item.data_type(), 0)),
            DataType::RunEndEncoded(ends, values) => {
                left.push((array.child(0), ends.data_type(), 0));
                left.push((array.child(1), values.data_type(), 0));
            }
            DataType::Union(parts, _) => {
                let parts = parts.iter().enumerate();
                left.extend(parts.map(|(at, (_, part))| (array.child(at), part.data_type(), 0)));
            }
            DataType::Dictionary(_, values) => {
                left.extend(array.dictionary().map(|array| (array, &**values, 0)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether there are the buffers that are read; of which rows are null needs none.
fn has_buffers(array: &FFI_ArrowArray, kind: &DataType) -> bool {
    let layout = layout(kind);
    if layout.buffers.is_empty() {
        return true;
    }
    let masks = usize::from(layout.can_contain_null_mask);
    let least = masks + layout.buffers.len() + usize::from(layout.variadic);
    // Of views the last one has the lengths of those between.
    let lengths =
        || array.num_buffers() == least || !array.buffer(array.num_buffers() - 1).is_null();
    (least..=MOST_COLUMNS).contains(&array.num_buffers()) && (!layout.variadic || lengths())
}

/// Refuses buffers whose length, as offsets or views tell it, is negative.
pub(super) fn check_buffers(array: &ArrayData) -> Result<(), ArrowError> {
    let mut left = vec![array];
    while let Some(array) = left.pop() {
        if array.buffers().iter().any(|buffer| isize::try_from(buffer.len()).is_err()) {
            return refused("a buffer of negative length");
        }
        left.extend(array.child_data());
    }
    Ok(())
}

fn refused(what: &str) -> Result<(), ArrowError> {
    Err(ArrowError::CDataInterface(format!("handed over {what}")))
}
