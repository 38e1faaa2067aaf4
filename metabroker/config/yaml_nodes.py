"""YAML with positions: the line of every key, duplicate keys, and errors of the text itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from .errors import ConfigError, ConfigErrors
from .problems import Problem

LARGEST = 1_000_000  # bytes of a configuration file
DEEPEST = 50  # mappings and lists in one another
_MUCH = 20_000  # mappings, lists and values; of more, aliases (*name, <<) may make only _GROWTH
_GROWTH = 4  # times what stands in the file


class NotYaml(ConfigErrors):
    """The text is not one YAML document."""

    def __init__(self, error: ConfigError) -> None:
        super().__init__([error])
        self.error = error


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, whose errors say where they were found, and whose keys are text.

    So a cluster may be called `no`, `on` or `2024` without YAML taking it for something else.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        if isinstance(node, yaml.MappingNode):
            self.flatten_mapping(node)
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            problem = f"this value cannot be read ({error})"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


class Document:
    """One YAML document: its data, and where each part of it stands."""

    def __init__(self, text: bytes, file: str, *, largest: int = LARGEST) -> None:
        """Read `text`, of at most so many bytes. Raises `NotYaml` where it is not one document."""
        self.file = file
        self._largest = largest
        self.duplicates: list[ConfigError] = []
        self._root: yaml.Node | None = None
        self.data: Any = self._read(text)

    def line(self, key: Sequence[str | int]) -> int:
        """The line (from 1) of a key, or of the innermost part of it that stands in the file."""
        node, line = self._root, 1
        for part in key:
            found = _child(node, part)
            if found is None:
                break
            line, node = found
        return line

    def placed(self, problem: Problem) -> ConfigError:
        """The problem with its line."""
        key = ".".join(map(str, problem.key))
        return ConfigError(self.file, self.line(problem.key), key, problem.message, problem.advice)

    def _bounded(self) -> None:
        """Raises `NotYaml` where aliases make much more of it than stands in it, or it is deep."""
        if self._root is None:
            return
        sizes = _Sizes()
        whole = sizes.of(self._root, 1)
        if whole is None or whole > max(_MUCH, _GROWTH * len(sizes)):
            line = 1 + (sizes.deepest or self._root).start_mark.line
            message = (
                "is nested too deeply" if whole is None else "repeats itself too often by aliases"
            )
            raise NotYaml(self._error(line, message, "write it flat, with fewer * and <<"))

    def _duplicates(self) -> Iterator[ConfigError]:
        """An error for each key that stands twice in one mapping."""
        seen: set[int] = set()
        stack: list[tuple[str, yaml.Node | None]] = [("", self._root)]
        while stack:
            path, node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, yaml.MappingNode):
                yield from self._twice(path, node)
                stack.extend((_join(path, key.value), value) for key, value in node.value)
            elif isinstance(node, yaml.SequenceNode):
                stack.extend((f"{path}[{i}]", value) for i, value in enumerate(node.value))

    def _twice(self, path: str, node: yaml.MappingNode) -> Iterator[ConfigError]:
        first: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 1
            if key.value in first:
                message = f"is given twice, first in line {first[key.value]}"
                name = _join(path, key.value)
                yield ConfigError(self.file, line, name, message, "remove one of the two")
            first.setdefault(key.value, line)

    def _read(self, text: bytes) -> Any:
        if len(text) > self._largest:
            size = f"is larger than {self._largest // 1_000_000} MB"
            raise NotYaml(self._error(1, size, "name the right file"))
        try:
            loader = _Loader(text.decode("utf-8"))
            self._root = loader.get_single_node()
            self._bounded()
            self.duplicates.extend(self._duplicates())
            return None if self._root is None else loader.construct_document(self._root)
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            raise NotYaml(self._error(line, "is not UTF-8 text", "save it as UTF-8")) from error
        except yaml.reader.ReaderError as error:
            decoded = text.decode("utf-8")
            line = decoded[: error.position].count("\n") + 1
            code = ord(decoded[error.position])
            message = f"has a character that YAML does not allow (0x{code:02x})"
            raise NotYaml(self._error(line, message, "remove it")) from error
        except yaml.MarkedYAMLError as error:
            raise NotYaml(self._marked(error)) from error
        except RecursionError as error:
            raise NotYaml(self._error(1, "is nested too deeply", "write it flat")) from error

    def _marked(self, error: yaml.MarkedYAMLError) -> ConfigError:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        advice = "correct the YAML; a value with special characters needs quotes"
        if "'\\t'" in problem:
            advice = "indent with spaces, not with tabs"
        return self._error(mark.line + 1 if mark else 1, f"wrong YAML: {problem}", advice)

    def _error(self, line: int, message: str, advice: str) -> ConfigError:
        return ConfigError(self.file, line, "", message, advice)


def read_bytes(path: str | Path, advice: str) -> bytes:
    """What a file holds. Raises `ConfigErrors` with `advice` where it cannot be read."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        message = f"cannot be read: {why}"
        raise ConfigErrors([ConfigError(str(path), 1, "", message, advice)]) from error


def mapping(text: bytes | str, file: str, advice: str) -> Document:
    """The document in `text`, whose data is a mapping, empty where the text is. Raises
    `ConfigErrors`, with `advice` where it is none."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    document = Document(raw, file)
    if document.data is None:
        document.data = {}
    if not isinstance(document.data, dict):
        raise ConfigErrors([ConfigError(file, 1, "", "is not a mapping of keys", advice)])
    return document


class _Sizes:
    """How many nodes there are in each node, those that an alias repeats included."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self.deepest: yaml.Node | None = None

    def __len__(self) -> int:
        """How many stand in the file."""
        return len(self._known)

    def of(self, node: yaml.Node, depth: int) -> int | None:
        """None: it is too deep, as one that has itself in it always is."""
        known = self._known.get(id(node))
        if known is not None:
            return known
        if depth > DEEPEST:
            self.deepest = node
            return None
        total = 1
        for part in _parts(node):
            size = self.of(part, depth + 1)
            if size is None:
                return None
            total += size
        self._known[id(node)] = total
        return total


def _parts(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from pair


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    """The line and the node of one part of a mapping or a list."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark.line + 1, item
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):  # the last one counts, as in the data
            if isinstance(key, yaml.ScalarNode) and key.value == str(part):
                return key.start_mark.line + 1, value
    return None


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)
