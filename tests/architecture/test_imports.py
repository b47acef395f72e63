"""Rooms import in one direction, `import interlock` loads next to nothing, effects have a home."""

import subprocess
import sys
from pathlib import Path

import pytest

import interlock
from interlock._wire import WireForm
from interlock.record._data import Record
from interlock.record.result import Result

from .sources import FILES, PACKAGE, calls, imported, name_of, room, uses

LOADED = """\
import sys
sys.path.insert(0, {home!r})
before = set(sys.modules)
{statement}
print("\\n".join(sorted(set(sys.modules) - before)))
"""

HEAVY = {
    "anyio",
    "asyncio",
    "click",
    "dataclasses",
    "importlib.metadata",
    "json",
    "pydantic",
    "re",
    "rich",
    "ruamel",
    "ruamel.yaml",
    "typing",
}

THIRD_PARTY = {
    "anyio": {"cli", "harness", "routing", "supervise", "testing"},
    "click": {"cli"},
    "filelock": {"routing"},
    "jsonschema": {"spec"},
    "pydantic": {"spec"},
    "pydantic_core": {"spec"},
    "referencing": {"spec"},
    "rich": {"cli"},
    "ruamel": {"spec"},
    "typing_extensions": {"spec"},
}

MAY_NOT_IMPORT = {
    "supervise": {"cli", "routing", "testing"},
    "routing": {"cli", "spec", "supervise", "testing"},
    "record": {"cli", "harness", "routing", "spec", "supervise", "testing"},
    "harness": {"cli", "routing", "supervise", "testing"},
    "integrations": {"cli", "harness", "record", "routing", "supervise", "testing"},
    "tools": {"cli", "harness", "record", "routing", "spec", "supervise", "testing"},
    "spec": {"cli", "routing", "supervise", "tools", "conditions", "_compiled"},
    "conditions": {"cli", "tools"},
    "_compiled": {"cli", "conditions"},
    "_instant": {"cli", "tools", "conditions", "_compiled", "spec"},
    "_patterns": {"cli", "tools", "conditions", "_compiled", "spec"},
    "_wire": {"cli", "tools", "conditions", "_compiled", "spec"},
}

HOMES: dict[str, tuple[str, ...]] = vars(interlock)["_HOMES"]
IDS = [name_of(path) for path in FILES]


def newly_loaded(statement: str) -> set[str]:
    """Run a statement in a bare interpreter and give the modules that it brings in."""
    # Where it is installed: the sources alone hold no compiled core.
    home = Path(interlock.__file__).parent.parent
    script = LOADED.format(home=str(home), statement=statement)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, check=True, text=True
    )
    return set(done.stdout.split())


def rooms_imported(path: Path) -> set[str]:
    """Give the rooms that a file imports from; its own is none of them."""
    names = {name for name in imported(path) if name.startswith("interlock.")}
    return {room(name) for name in names} - {room(name_of(path))}


class TestLoading:
    def test_import_loads_nothing_else(self) -> None:
        assert {"interlock", "__future__"} >= newly_loaded("import interlock")

    def test_import_loads_none_of_the_heavy_ones(self) -> None:
        assert set() == HEAVY & newly_loaded("import interlock")

    def test_the_public_names_load_nothing_third_party(self) -> None:
        lower = [name for home, names in HOMES.items() if "harness" not in home for name in names]
        loaded = newly_loaded(f"from interlock import {', '.join(lower)}")
        assert set() == loaded & {"asyncio", "click", "rich", "ruamel", "importlib.metadata"}
        outside = {module.split(".")[0] for module in loaded} - set(sys.stdlib_module_names)
        assert {"interlock"} >= outside

    def test_the_model_facing_form_loads_nothing_third_party(self) -> None:
        loaded = newly_loaded("from interlock.tools import call, definitions\ndefinitions()")
        assert {"interlock"} == {m.split(".")[0] for m in loaded} - set(sys.stdlib_module_names)
        assert set() == {name for name in loaded if room(name) in {"cli", "spec"}}

    def test_the_integrations_load_nothing_third_party(self) -> None:
        paths = [path for path in FILES if room(name_of(path)) == "integrations"]
        loaded = newly_loaded("\n".join(f"import {name_of(path)}" for path in paths))
        outside = {module.split(".")[0] for module in loaded} - set(sys.stdlib_module_names)
        assert {"interlock"} == outside


class TestPublicNames:
    def test_sorted_and_once(self) -> None:
        assert sorted(set(interlock.__all__)) == interlock.__all__

    @pytest.mark.parametrize("name", interlock.__all__)
    def test_importable_and_listed(self, name: str) -> None:
        assert getattr(interlock, name) is not None
        assert name in dir(interlock)

    @pytest.mark.parametrize("name", interlock.__all__)
    def test_an_answer_shows_no_name_that_is_not_its_own(self, name: str) -> None:
        kind = getattr(interlock, name)
        if not (isinstance(kind, type) and issubclass(kind, WireForm)):
            return
        shown = {each for each in dir(kind) if not each.startswith("_")}
        bases = set(kind.__mro__) & {kind, WireForm, Record, Result}
        assert set() == shown.difference(*(vars(base) for base in bases))

    def test_no_other_name(self) -> None:
        with pytest.raises(AttributeError, match="has no attribute 'brnch'"):
            vars(interlock)["__getattr__"]("brnch")

    def test_the_lazy_table_has_each_once(self) -> None:
        names = [name for home in HOMES.values() for name in home]
        assert interlock.__all__ == sorted(names)

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_every_list_of_names_is_sorted(self, path: Path) -> None:
        loaded = __import__(name_of(path), fromlist=["__all__"])
        names = list(getattr(loaded, "__all__", ()))
        assert sorted(set(names)) == names
        assert [name for name in names if not hasattr(loaded, name)] == []


class TestDirection:
    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_rooms(self, path: Path) -> None:
        forbidden = MAY_NOT_IMPORT.get(room(name_of(path)), set())
        assert set() == forbidden & rooms_imported(path)

    @pytest.mark.parametrize("name", ["errors", "typing"])
    def test_the_lowest_import_nothing_of_ours(self, name: str) -> None:
        path = PACKAGE / f"{name}.py"
        assert set() == rooms_imported(path)

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_only_the_root_module_and_main_import_cli(self, path: Path) -> None:
        allowed = name_of(path) == "interlock.__main__" or room(name_of(path)) == "cli"
        assert allowed or "cli" not in rooms_imported(path)

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_nothing_imports_an_integration(self, path: Path) -> None:
        assert "integrations" not in rooms_imported(path)

    def test_an_integration_loads_its_engine_when_it_is_used(self) -> None:
        loaded = newly_loaded("import interlock.integrations.ray")
        assert {"interlock"} == {m.split(".")[0] for m in loaded} - set(sys.stdlib_module_names)

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_third_parties_have_one_home(self, path: Path) -> None:
        homes = {name.split(".")[0] for name in imported(path)}
        outside = homes - set(sys.stdlib_module_names) - {"interlock"}
        assert {n for n in outside if room(name_of(path)) in THIRD_PARTY.get(n, ())} == outside

    def test_only_one_file_reads_yaml(self) -> None:
        readers = [path for path in FILES if any(n.startswith("ruamel") for n in imported(path))]
        assert [PACKAGE / "spec" / "_yaml.py"] == readers


class TestEffects:
    OUTPUT = ("sys.stdout", "sys.stderr", "sys.stdin", "sys.__stdout__", "sys.__stderr__")
    OPENING = (".open", ".read_text", ".read_bytes", ".write_text", ".write_bytes", ".mkdir")
    CLOCKS = ("time.", "datetime.now", "datetime.utcnow", "date.today", "uuid.", "secrets.")
    CHANCE = ("random", "secrets", "uuid", "time")
    CLOCK = PACKAGE / "tools" / "_clock.py"
    TIMED = (CLOCK, PACKAGE / "harness" / "_clock.py")
    SEEDED = PACKAGE / "harness" / "ctx.py"
    LINES = PACKAGE / "_lines.py"
    RUNS = tuple(PACKAGE / "routing" / name for name in ("_files.py", "_outside.py"))

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_only_cli_shows_things(self, path: Path) -> None:
        shown = {"print", "input"} & set(calls(path))
        streams = {name for name in uses(path) if name.startswith(self.OUTPUT)}
        assert room(name_of(path)) == "cli" or set() == shown | streams

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_effects_on_files_have_a_home(self, path: Path) -> None:
        opened = {n for n in calls(path) if n == "open" or n.endswith(self.OPENING)}
        modules = {"io", "os", "pathlib", "shutil", "socket", "subprocess", "tempfile"}
        # A path in a signature is a type and opens nothing.
        named = {n for n in imported(path) if n in modules} - ({"os"} if not opened else set())
        rooms = {"cli", "integrations", "spec"}
        reads = room(name_of(path)) in rooms or path in (self.LINES, *self.RUNS)
        assert reads or set() == opened | named

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_no_clock_chance_or_environment(self, path: Path) -> None:
        if room(name_of(path)) == "cli" or path in self.TIMED or path == self.SEEDED:
            return
        read = {n for n in uses(path) if n.startswith(("os.environ", "os.getenv", *self.CLOCKS))}
        ticked = {n for n in uses(path) if n.endswith((".now", ".utcnow", ".today"))}
        if room(name_of(path)) in ("harness", "routing"):
            # The clock that the run was given, also through a context that records its readings.
            ticked = {n for n in ticked if not f".{n}".endswith((".clock.now", ".ctx.now"))}
        if room(name_of(path)) == "supervise":
            # The instant that an operation was given; the supervisor has a clock it was given.
            fields = (".draft.now", ".self.now")
            given = (*fields, "._clock.now") if path.stem == "supervisor" else fields
            ticked = {n for n in ticked if not f".{n}".endswith(given)}
        assert set() == read | ticked | (set(self.CHANCE) & set(imported(path)))

    def test_only_the_model_facing_form_asks_the_clock(self) -> None:
        readers = {path for path in FILES if "interlock.tools._clock" in set(imported(path))}
        assert {PACKAGE / "tools" / "_timed.py"} == readers

    @pytest.mark.parametrize("path", FILES, ids=IDS)
    def test_nothing_is_evaluated(self, path: Path) -> None:
        assert set() == {"eval", "exec", "compile", "__import__"} & set(calls(path))
