"""The engine and its stub, what it may not use, how large its files are, what is documented."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import arro3.core as arro3
import pytest

from interlock import _core
from interlock.supervise._codes import CODES

from .sources import FILES, PACKAGE, ROOT, RUST, tree

STUB = tree(PACKAGE / "_core.pyi")
RUST_FILES = sorted(RUST.rglob("*.rs"))
CORE_FILES = [path for path in RUST_FILES if RUST / "py" not in path.parents]

BOUNDARY = RUST / "py" / "arrow" / "capsule.rs"
"""Where addresses are handed over, and the one place in which something is unsafe."""

RUST_LINES, PYTHON_LINES = 450, 350

Made = tuple[_core.RuleSet | None, object, object]


def rule_set() -> _core.RuleSet:
    made: Made = _core.compile_checks([{"op": "exists"}], field="checks")
    assert made[0] is not None
    return made[0]


def no_answers() -> _core.ArrowAnswers:
    return _core.ArrowAnswers(b"", [], 0, {}, {})


def rows() -> _core.ArrowRows:
    """Give a row of a date."""
    date = arro3.Array([0], arro3.DataType.int32()).cast(arro3.DataType.date32())
    return next(_core.ArrowStream(arro3.Table.from_pydict({"date": date}), []))


def foreign() -> object:
    record = rows().record(0)
    assert isinstance(record, dict)
    return record["date"]


INSTANCES: dict[str, Callable[[], object]] = {
    "ArrowAnswers": no_answers,
    "ArrowForeign": foreign,
    "ArrowRows": rows,
    "ArrowStream": lambda: _core.ArrowStream(arro3.Table.from_pydict({}), []),
    "Classifier": lambda: _core.Classifier([]),
    "ErrorRows": lambda: _core.Classifier([]).classify_many([], lambda place: (place,)),
    "Json": lambda: _core.Json(b"[1]"),
    "Pattern": lambda: _core.Pattern("a"),
    "Points": lambda: _core.Points((1,)),
    "RuleSet": rule_set,
}


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def code_of(path: Path) -> str:
    """Give the text of a Rust file without comments; a `//` in a string ends its line too."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def stub_names() -> dict[str, ast.stmt]:
    """Give what the stub declares for others, by name."""
    found: dict[str, ast.stmt] = {}
    for node in STUB.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return {name: node for name, node in found.items() if is_public(name)}


def is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__version__"


class TestStub:
    def test_names_what_the_module_has(self) -> None:
        assert sorted(filter(is_public, vars(_core))) == sorted(stub_names())

    def test_classes_are_those_that_are_tried_here(self) -> None:
        classes = {name for name, node in stub_names().items() if isinstance(node, ast.ClassDef)}
        assert set(INSTANCES) == classes

    @pytest.mark.parametrize("name", INSTANCES)
    def test_classes_have_what_it_says(self, name: str) -> None:
        declared = stub_names()[name]
        assert isinstance(declared, ast.ClassDef)
        methods = {node.name for node in declared.body if isinstance(node, ast.FunctionDef)}
        kind: type = getattr(_core, name)
        has = set(filter(is_public, vars(kind)))
        assert has == set(filter(is_public, methods))

    @pytest.mark.parametrize("name", INSTANCES)
    def test_classes_are_final(self, name: str) -> None:
        declared = stub_names()[name]
        assert isinstance(declared, ast.ClassDef)
        assert ["final"] == [ast.unparse(decorator) for decorator in declared.decorator_list]
        with pytest.raises(TypeError):
            type("Sub", (getattr(_core, name),), {})

    def test_everything_has_a_docstring(self) -> None:
        nodes = [n for n in stub_names().values() if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
        assert [] == [node.name for node in nodes if ast.get_docstring(node) is None]


class TestClasses:
    @pytest.mark.parametrize("name", INSTANCES)
    def test_belong_to_the_module(self, name: str) -> None:
        assert "interlock._core" == getattr(_core, name).__module__

    @pytest.mark.parametrize("name", INSTANCES)
    def test_are_frozen(self, name: str) -> None:
        made = INSTANCES[name]()
        for attribute in ["other", *(n for n in dir(made) if is_public(n))]:
            with pytest.raises((AttributeError, TypeError)):
                setattr(made, attribute, None)
            with pytest.raises((AttributeError, TypeError)):
                delattr(made, attribute)
        assert not hasattr(made, "__dict__")

    def test_say_so_in_the_source(self) -> None:
        declared = [
            declaration
            for path in RUST_FILES
            for declaration in re.findall(r"#\[pyclass\b.*?\]", code_of(path), re.DOTALL)
        ]
        assert len(INSTANCES) == len(declared)
        for declaration in declared:
            assert 'module = "interlock._core"' in declaration
            assert re.search(r"\bfrozen\b", declaration)


class TestPurity:
    @pytest.mark.parametrize("path", CORE_FILES, ids=label)
    def test_the_core_does_not_know_python(self, path: Path) -> None:
        assert "pyo3" not in path.read_text(encoding="utf-8").lower()

    @pytest.mark.parametrize("path", RUST_FILES, ids=label)
    def test_nothing_unsafe(self, path: Path) -> None:
        found = re.findall(r"\bunsafe\b|\bunsafe_code\b", code_of(path))
        assert bool(found) == (path == BOUNDARY)

    def test_what_is_unsafe_says_why(self) -> None:
        text = BOUNDARY.read_text(encoding="utf-8")
        blocks = re.findall(r"(?m)^.*\bunsafe \{", text)
        reasons = text.count("// SAFETY: ")
        assert (len(blocks), 1) == (reasons, text.count("unsafe_code"))

    @pytest.mark.parametrize("path", RUST_FILES, ids=label)
    def test_no_effects(self, path: Path) -> None:
        # Threads belong to batches.
        rooms = "fs|net|time|env|process" + ("" if "batch" in path.parts else "|thread")
        banned = rf"\bstd::(?:{rooms})\b|\bstd::\{{[^}}]*\b(?:{rooms})\b|\be?println!|\bdbg!"
        assert [] == re.findall(banned, code_of(path))


class TestDocs:
    @staticmethod
    def headings() -> list[str]:
        text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
        return re.findall(r"^#+ +`?([a-z]+/[a-z-]+)`?\s*$", text, re.MULTILINE)

    @pytest.mark.parametrize("code", [slug for slug, _ in _core.codes()])
    def test_every_code_has_one_entry(self, code: str) -> None:
        assert 1 == self.headings().count(code)

    def test_no_entry_without_a_code(self) -> None:
        assert set() == set(self.headings()) - {slug for slug, _ in _core.codes()}

    @pytest.mark.parametrize("path", FILES, ids=label)
    def test_every_code_in_python_is_in_the_catalogue(self, path: Path) -> None:
        known = {*(slug for slug, _ in _core.codes()), *CODES}
        families = "|".join({slug.split("/")[0] for slug in known})
        used = {
            node.value
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(rf"(?:{families})/[a-z-]+", node.value)
        }
        assert set() == used - known

    def test_no_code_stands_in_both_catalogues(self) -> None:
        assert set() == {slug for slug, _ in _core.codes()} & set(CODES)

    def test_every_code_of_runbooks_is_used(self) -> None:
        room = [path for path in FILES if path.parent.name == "supervise"]
        texts = "".join(path.read_text("utf-8") for path in room if path.name != "_codes.py")
        given = {code for code in CODES if f'"{code}"' in texts}
        warned = {code for code in CODES if f'_warning("{code.removeprefix("lint/")}"' in texts}
        assert set(CODES) == given | warned

    def test_every_op_is_in_the_table_of_the_readme(self) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        cells = re.findall(r"^\| *([^|]+)\|", text, re.MULTILINE)
        named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
        ops = [name for name, _, _ in _core.ops()]
        assert (23, []) == (len(ops), [name for name in ops if name not in named])


class TestSizes:
    @pytest.mark.parametrize("path", RUST_FILES, ids=label)
    def test_rust(self, path: Path) -> None:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= RUST_LINES

    @pytest.mark.parametrize("path", FILES, ids=label)
    def test_python(self, path: Path) -> None:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= PYTHON_LINES
