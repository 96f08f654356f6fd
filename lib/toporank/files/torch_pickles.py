"""Pickles as `torch.save` writes them, read without torch and without running anything.

A pickle is a program for a stack machine; the standard library's `pickletools` describes its steps. Those that build
plain values are followed here. A class or function that a pickle names is never imported: a stand-in takes its place.
Steps are followed in a loop, not in recursion. Their number is bounded, and none of them takes more memory than the
pickle is long, times a constant.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Set
from typing import Any, NamedTuple

LONGEST = 2**24
"""Bytes of a pickle that is read. A graph has some 10,000, a checkpoint 100,000: numbers of tensors are not in it."""
MOST_STEPS = 300_000
"""Operations of a pickle: a checkpoint of two layers has 5,000 with its optimiser, of fifty layers 100,000."""


class DamagedFileError(ValueError):
    """The file is not what `torch.save` writes, or holds what is not read here."""


class Global(NamedTuple):
    """Stands for the class or function of that name."""

    module: str
    name: str


class Storage(NamedTuple):
    """Numbers in a file of their own. kind : such as FloatStorage. key : name of the file. size : how many."""

    kind: str
    key: str
    size: int


class SavedTensor(NamedTuple):
    """A tensor: where its numbers are in a storage. dtype : empty where the kind of the storage says it."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str = ""


class Instance:
    """Stands for an object of a class. arguments : it was made with. state : what its attributes are made from."""

    __slots__ = ("arguments", "kind", "state")

    def __init__(self, kind: Global, arguments: tuple = ()):
        self.kind, self.arguments, self.state = kind, arguments, None


ORDERED = Global("collections", "OrderedDict")
REBUILT = {
    Global("torch._utils", "_rebuild_tensor_v2"): lambda *a: _tensor(*a[:4]),
    Global("torch._utils", "_rebuild_tensor_v3"): lambda *a: _tensor(*a[:4], a[6]),
    Global("torch._utils", "_rebuild_parameter"): lambda *a: a[0],
    Global("torch._utils", "_rebuild_parameter_with_state"): lambda *a: a[0],
    Global("torch._tensor", "_rebuild_from_type_v2"): lambda *a: _called(a[0], a[2]),
}
"""What becomes of the arguments of functions that make tensors."""

OF_TENSORS = {
    ORDERED,
    *REBUILT,
    Global("torch.storage", "UntypedStorage"),
    Global("torch.nn.parameter", "Parameter"),
    Global("torch", "Tensor"),
}
DTYPES = ("float", "bfloat", "int", "uint", "complex", "bool")
"""How names of the number types of torch begin."""
PLAIN_KEYS = (str, int, float, bool, type(None), bytes)


def load(pickled: bytes, names: Set[Global] | None = None, longest: int = LONGEST) -> Any:
    """What a pickle describes: plain values, `SavedTensor`, `Instance` and `Global`.

    names : classes and functions that it may name beside those of tensors; without, any. None of them is run.
    Raises DamagedFileError.
    """
    if len(pickled) > longest:
        raise DamagedFileError(f"its data.pkl has {len(pickled):,} bytes, at most {longest:,} are expected")
    machine = _Machine(pickled, names)
    try:
        for _ in range(MOST_STEPS):
            step = pickled[machine.at]
            machine.at += 1
            if step == STOP:
                return machine.stack.pop()
            STEPS[step](machine)
    except DamagedFileError:
        raise
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise DamagedFileError(f"its data.pkl is damaged near byte {machine.at}") from error
    raise DamagedFileError(f"its data.pkl has more than {MOST_STEPS:,} operations")


class _Machine:
    """The stack, what lies below each mark, and what is remembered for use again."""

    __slots__ = ("at", "below", "memo", "names", "pickled", "stack")

    def __init__(self, pickled: bytes, names: Set[Global] | None):
        self.pickled, self.names, self.at = pickled, names, 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def take(self, n: int) -> bytes:
        start, self.at = self.at, self.at + n
        if self.at > len(self.pickled):
            raise DamagedFileError("its data.pkl is cut off")
        return self.pickled[start : self.at]

    def number(self, n: int) -> int:
        return int.from_bytes(self.take(n), "little")

    def line(self) -> str:
        line = self.take(self.pickled.index(b"\n", self.at) - self.at).decode()
        self.at += 1
        return line

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        found, self.stack = self.stack, self.below.pop()
        return found

    def remember(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    def top_tuple(self, n: int) -> None:
        self.stack[-n:] = [tuple(self.stack[-n:])]

    def extend(self, values: list[Any]) -> None:
        if type(self.stack[-1]) is not Instance:  # one that is a kind of list
            _expect(self.stack[-1], list).extend(values)

    def set_items(self, items: list[Any]) -> None:
        if type(self.stack[-1]) is not Instance:  # one that is a kind of dictionary
            found = _expect(self.stack[-1], dict)
            for key, value in zip(items[::2], items[1::2], strict=False):
                plain = type(key) in PLAIN_KEYS  # hashing a deep tuple is recursive
                found[key if plain else Instance(ORDERED)] = value

    def find(self, module: str, name: str) -> None:
        found = Global(_expect(module, str), _expect(name, str))
        number_type = module == "torch" and (name.endswith("Storage") or name.startswith(DTYPES))
        if self.names is not None and found not in self.names and found not in OF_TENSORS and not number_type:
            raise DamagedFileError(f"its data.pkl asks for {module}.{name}, which is not run")
        self.push(found)

    def call(self) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        self.push(_called(function, arguments))

    def new(self, n_arguments: int) -> None:
        del self.stack[-n_arguments:]
        self.push(Instance(_expect(self.stack.pop(), Global)))

    def build(self) -> None:
        state = self.stack.pop()
        if isinstance(self.stack[-1], Instance):
            self.stack[-1].state = state

    def persistent(self) -> None:
        tag, kind, key, _, size = _expect(self.stack.pop(), tuple)
        if tag != "storage":
            raise DamagedFileError("its data.pkl refers to something other than numbers")
        self.push(Storage(_expect(kind, Global).name, _expect(key, str), _natural(size)))


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise DamagedFileError(f"its data.pkl has a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _natural(value: Any) -> int:
    if _expect(value, int) < 0:
        raise DamagedFileError("a tensor of its data.pkl has a negative size")
    return value


def _called(function: Any, arguments: Any) -> Any:
    """What a function would return, if it is known here; otherwise something inert."""
    _expect(arguments, tuple)
    if isinstance(function, Instance):  # made by another call
        return Instance(function.kind)
    if _expect(function, Global) in REBUILT:
        return REBUILT[function](*arguments)
    return {} if function == ORDERED and not arguments else Instance(function, arguments)


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any, dtype: Any = None) -> SavedTensor:
    for number in (offset, *_expect(shape, tuple), *_expect(stride, tuple)):
        _natural(number)
    if len(shape) != len(stride):
        raise DamagedFileError("a tensor of its data.pkl has a stride whose length differs from its shape")
    return SavedTensor(_expect(storage, Storage), offset, shape, stride, _expect(dtype, Global).name if dtype else "")


def _alike(step: Callable[[_Machine, Any], Any], operands: dict[str, Any]) -> dict[str, Callable[[_Machine], Any]]:
    """Steps that differ in one operand: in how many bytes a length has, say."""
    return {code: lambda m, operand=operand: step(m, operand) for code, operand in operands.items()}


STOP = ord(".")
STEPS: dict[int, Callable[[_Machine], Any]] = {
    ord(code): step
    for code, step in {
        **_alike(_Machine.take, {"\x80": 1, "\x95": 8}),  # protocol, length of a frame
        **_alike(_Machine.push, {"N": None, "\x88": True, "\x89": False, ")": ()}),
        **_alike(lambda m, n: m.push(m.number(n)), {"K": 1, "M": 2}),
        "J": lambda m: m.push(int.from_bytes(m.take(4), "little", signed=True)),
        "\x8a": lambda m: m.push(int.from_bytes(m.take(m.number(1)), "little", signed=True)),
        "G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
        **_alike(lambda m, n: m.push(m.take(m.number(n)).decode()), {"X": 4, "\x8c": 1, "\x8d": 8}),
        **_alike(lambda m, n: m.push(m.take(m.number(n))), {"T": 4, "U": 1, "B": 4, "C": 1, "\x8e": 8}),
        "(": _Machine.mark,
        "0": lambda m: m.stack.pop(),
        "1": _Machine.since_mark,
        "]": lambda m: m.push([]),
        "}": lambda m: m.push({}),
        "\x8f": lambda m: m.push([]),  # a set, which nothing here needs
        "\x90": lambda m: m.extend(m.since_mark()),
        "\x91": lambda m: m.push(m.since_mark()),
        "t": lambda m: m.push(tuple(m.since_mark())),
        **_alike(_Machine.top_tuple, {"\x85": 1, "\x86": 2, "\x87": 3}),
        "a": lambda m: m.extend([m.stack.pop()]),
        "e": lambda m: m.extend(m.since_mark()),
        "s": lambda m: m.set_items([m.stack.pop(-2), m.stack.pop()]),
        "u": lambda m: m.set_items(m.since_mark()),
        **_alike(lambda m, n: m.remember(m.number(n)), {"q": 1, "r": 4}),
        "\x94": lambda m: m.remember(len(m.memo)),
        **_alike(lambda m, n: m.push(m.memo[m.number(n)]), {"h": 1, "j": 4}),
        "c": lambda m: m.find(m.line(), m.line()),
        "\x93": lambda m: m.find(m.stack.pop(-2), m.stack.pop()),
        "R": _Machine.call,
        **_alike(_Machine.new, {"\x81": 1, "\x92": 2}),
        "b": _Machine.build,
        "Q": _Machine.persistent,
    }.items()
}
