"""Pickles as `torch.save` writes them, read without torch and without running anything.

A pickle is a program for a stack machine; the standard library's `pickletools` describes its steps. Those that build
plain values are followed here. A class or function that a pickle names is never imported: a stand-in takes its place,
and a name that no graph needs is an error. Steps are followed in a loop, not in recursion, and none of them takes more
memory than the pickle is long, times a constant.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

LONGEST = 2**22
"""Bytes of a pickle that is read. Ours have some 10,000: numbers of tensors are not in it."""


class PickleError(ValueError):
    """A pickle is damaged or holds what no graph needs."""


class Global(NamedTuple):
    """Stands for the class or function of that name."""

    module: str
    name: str


class Storage(NamedTuple):
    """Numbers in a file of their own. kind : such as FloatStorage. key : name of the file. size : how many."""

    kind: str
    key: str
    size: int


class TensorView(NamedTuple):
    """A tensor: where its numbers are in a storage. dtype : empty where the kind of the storage says it."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str = ""


class Instance:
    """Stands for an object of a class. state : what its attributes are made from."""

    __slots__ = ("kind", "state")

    def __init__(self, kind: Global):
        self.kind, self.state = kind, None


DATA = Global("torch_geometric.data.data", "Data")
ORDERED = Global("collections", "OrderedDict")
REBUILT = {
    Global("torch._utils", "_rebuild_tensor_v2"): lambda *a: _view(*a[:4]),
    Global("torch._utils", "_rebuild_tensor_v3"): lambda *a: _view(*a[:4], a[6]),
    Global("torch._utils", "_rebuild_parameter"): lambda *a: a[0],
    Global("torch._utils", "_rebuild_parameter_with_state"): lambda *a: a[0],
    Global("torch._tensor", "_rebuild_from_type_v2"): lambda *a: _called(a[0], a[2]),
}
"""What becomes of the arguments of functions that make tensors."""

INERT = {
    DATA, ORDERED, *REBUILT,
    Global("torch_geometric.data.data", "DataEdgeAttr"), Global("torch_geometric.data.data", "DataTensorAttr"),
    Global("torch_geometric.data.storage", "GlobalStorage"), Global("torch.storage", "UntypedStorage"),
    Global("torch._utils", "_rebuild_sparse_tensor"), Global("torch.serialization", "_get_layout"),
    Global("torch", "Tensor"), Global("torch", "Size"), Global("torch", "device"),
    Global("torch.nn.parameter", "Parameter"),
    Global("builtins", "set"), Global("__builtin__", "set"), Global("_codecs", "encode"),
    Global("builtins", "bytearray"), Global("__builtin__", "bytearray"), Global("builtins", "complex"),
}  # fmt: skip
DTYPES = ("float", "bfloat", "int", "uint", "complex", "bool")
"""How names of the number types of torch begin."""
PLAIN_KEYS = (str, int, float, bool, type(None), bytes)


def load(pickled: bytes) -> Any:
    """What a pickle describes: plain values, `TensorView`, `Instance` and `Global`. Raises PickleError."""
    if len(pickled) > LONGEST:
        raise PickleError(f"its pickle has {len(pickled):,} bytes, no graph needs more than {LONGEST:,}")
    machine = _Machine(pickled)
    try:
        while True:
            step = pickled[machine.at]
            machine.at += 1
            if step == STOP:
                return machine.stack.pop()
            STEPS[step](machine)
    except KeyError as error:
        raise PickleError(f"damaged near byte {machine.at} of its pickle: {error}") from error
    except (IndexError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise PickleError(f"damaged near byte {machine.at} of its pickle") from error


class _Machine:
    """The stack, what lies below each mark, and what is remembered for use again."""

    __slots__ = ("at", "below", "memo", "pickled", "stack")

    def __init__(self, pickled: bytes):
        self.pickled, self.at = pickled, 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def take(self, n: int) -> bytes:
        start, self.at = self.at, self.at + n
        if self.at > len(self.pickled):
            raise PickleError("its pickle is cut off")
        return self.pickled[start : self.at]

    def number(self, n: int) -> int:
        return int.from_bytes(self.take(n), "little")

    def line(self) -> str:
        end = self.pickled.find(b"\n", self.at)
        if end < 0:
            raise PickleError("its pickle is cut off")
        line = self.take(end - self.at).decode()
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
        if len(self.stack) < n:
            raise PickleError("its pickle takes more from the stack than there is")
        self.stack[-n:] = [tuple(self.stack[-n:])]

    def extend(self, values: list[Any]) -> None:
        _expect(self.stack[-1], list).extend(values)

    def set_items(self, items: list[Any]) -> None:
        found = _expect(self.stack[-1], dict)
        for key, value in zip(items[::2], items[1::2], strict=False):
            found[key if type(key) in PLAIN_KEYS else Instance(DATA)] = value  # the hash of a deep tuple is recursive

    def find(self, module: str, name: str) -> None:
        self.push(_stand_in(_expect(module, str), _expect(name, str)))

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
            raise PickleError("its pickle asks for something outside it")
        self.push(Storage(_expect(kind, Global).name, _expect(key, str), _expect(size, int)))


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise PickleError(f"its pickle has a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _stand_in(module: str, name: str) -> Global:
    found = Global(module, name)
    number_type = module == "torch" and (name.endswith("Storage") or name.startswith(DTYPES))
    if found not in INERT and not number_type:
        raise PickleError(f"its pickle asks for {module}.{name}, which is not run")
    return found


def _called(function: Any, arguments: Any) -> Any:
    """What a function would return, as far as it is known here; else something inert."""
    _expect(function, Global)
    _expect(arguments, tuple)
    if function in REBUILT:
        return REBUILT[function](*arguments)
    return {} if function == ORDERED and not arguments else Instance(function)


def _view(storage: Any, offset: Any, shape: Any, stride: Any, dtype: Any = None) -> TensorView:
    for number in (_expect(offset, int), *_expect(shape, tuple), *_expect(stride, tuple)):
        if _expect(number, int) < 0:
            raise PickleError("a tensor of its pickle has a negative size")
    if len(shape) != len(stride):
        raise PickleError("a tensor of its pickle has a stride of another length than its shape")
    return TensorView(_expect(storage, Storage), offset, shape, stride, _expect(dtype, Global).name if dtype else "")


STOP = ord(".")
STEPS: dict[int, Callable[[_Machine], Any]] = {
    ord(code): step
    for code, step in {
        "\x80": lambda m: m.take(1),  # protocol
        "\x95": lambda m: m.take(8),  # length of a frame
        "(": _Machine.mark,
        "0": lambda m: m.stack.pop(),
        "1": _Machine.since_mark,
        "N": lambda m: m.push(None),
        "\x88": lambda m: m.push(True),
        "\x89": lambda m: m.push(False),
        "J": lambda m: m.push(int.from_bytes(m.take(4), "little", signed=True)),
        "K": lambda m: m.push(m.number(1)),
        "M": lambda m: m.push(m.number(2)),
        "\x8a": lambda m: m.push(int.from_bytes(m.take(m.number(1)), "little", signed=True)),
        "G": lambda m: m.push(struct.unpack(">d", m.take(8))[0]),
        "X": lambda m: m.push(m.take(m.number(4)).decode()),
        "\x8c": lambda m: m.push(m.take(m.number(1)).decode()),
        "\x8d": lambda m: m.push(m.take(m.number(8)).decode()),
        "T": lambda m: m.push(m.take(m.number(4))),
        "U": lambda m: m.push(m.take(m.number(1))),
        "B": lambda m: m.push(m.take(m.number(4))),
        "C": lambda m: m.push(m.take(m.number(1))),
        "\x8e": lambda m: m.push(m.take(m.number(8))),
        "]": lambda m: m.push([]),
        "}": lambda m: m.push({}),
        ")": lambda m: m.push(()),
        "\x8f": lambda m: m.push([]),  # a set, which no graph needs
        "\x90": lambda m: m.extend(m.since_mark()),
        "\x91": lambda m: m.push(m.since_mark()),
        "t": lambda m: m.push(tuple(m.since_mark())),
        "\x85": lambda m: m.top_tuple(1),
        "\x86": lambda m: m.top_tuple(2),
        "\x87": lambda m: m.top_tuple(3),
        "a": lambda m: m.extend([m.stack.pop()]),
        "e": lambda m: m.extend(m.since_mark()),
        "s": lambda m: m.set_items([m.stack.pop(-2), m.stack.pop()]),
        "u": lambda m: m.set_items(m.since_mark()),
        "q": lambda m: m.remember(m.number(1)),
        "r": lambda m: m.remember(m.number(4)),
        "\x94": lambda m: m.remember(len(m.memo)),
        "h": lambda m: m.push(m.memo[m.number(1)]),
        "j": lambda m: m.push(m.memo[m.number(4)]),
        "c": lambda m: m.find(m.line(), m.line()),
        "\x93": lambda m: m.find(m.stack.pop(-2), m.stack.pop()),
        "R": _Machine.call,
        "\x81": lambda m: m.new(1),
        "\x92": lambda m: m.new(2),
        "b": _Machine.build,
        "Q": _Machine.persistent,
    }.items()
}
