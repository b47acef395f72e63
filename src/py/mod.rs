//! The boundary: the only room that names `PyO3`. It converts and delegates; no rule of the grammar
//! lives here.

#[cfg(feature = "arrow")]
mod arrow;
mod batch;
mod classify;
mod classify_many;
mod columns;
mod document;
mod errors;
mod functions;
mod instant;
mod kind;
mod node;
mod pattern;
mod plain;
mod quick;
mod ruleset;
mod scalar;

use pyo3::prelude::*;

/// The extension module `interlock._core`.
#[pymodule(gil_used = false)]
mod _core {
    use super::{Bound, PyModule, PyResult};
    use pyo3::types::PyModuleMethods as _;

    #[cfg(feature = "arrow")]
    #[pymodule_export]
    use super::arrow::{
        ArrowAnswers, ArrowForeign, ArrowRows, ArrowStream, check_rows, first_of_rows,
        standing_of_rows,
    };
    #[pymodule_export]
    use super::batch::{first_of_lines, first_of_many, standing_of_lines};
    #[pymodule_export]
    use super::classify::{Classifier, error_names, error_packs};
    #[pymodule_export]
    use super::classify_many::ErrorRows;
    #[pymodule_export]
    use super::columns::{Points, marked};
    #[pymodule_export]
    use super::document::Json;
    #[pymodule_export]
    use super::functions::{
        canonical, codes, digest, find_format, fingerprint, formats, limits, nearest, ops, preview,
        resolve, to_json,
    };
    #[pymodule_export]
    use super::instant::{format_instant, parse_instant, retry_after};
    #[pymodule_export]
    use super::pattern::Pattern;
    #[pymodule_export]
    use super::plain::plain;
    #[pymodule_export]
    use super::ruleset::{RuleSet, compile_checks, compile_rules};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Runs `$body` with `$node` as the record's node: a parsed document, or a Python object walked in
/// place with the prepared `$keys`. What must not be swallowed is raised after the walk.
macro_rules! with_node {
    ($value:expr, $keys:expr, |$node:ident| $body:expr) => {
        if let Some(json) = $crate::py::kind::exact::<$crate::py::document::Json>(&$value) {
            let $node = json.get().root();
            $body
        } else {
            let context = $crate::py::node::Context::new($keys);
            let $node = $crate::py::node::PyNode::new($value.clone(), &context);
            let outcome = $body;
            context.finish()?;
            outcome
        }
    };
}
use with_node;
