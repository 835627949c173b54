"""Options of a scenario's or adjudicator's file with their defaults, read from its text: nothing is run."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from soakproof.units import Bytes, Ratio, Seconds, Tokens, written

_UNITS: Mapping[str, Callable[[Any], object]] = {
    "Seconds": Seconds,
    "Tokens": Tokens,
    "Ratio": Ratio,
    "Bytes": Bytes,
}
_SUMS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_MOST = 2**53  # of the numbers in a sum: beyond it they are no default of ours, and costly to work out


def options(made: ast.ClassDef, module: ast.Module) -> list[tuple[str, str]]:
    """(name, default) of each field, the default as a plan would write it; as the file has it, where a value
    cannot be told without running the file.
    """
    names = _constants(module)
    fields = [node for node in made.body if isinstance(node, ast.AnnAssign)]
    return [
        (ast.unparse(field.target), _default(field.value, names))
        for field in fields
        if field.value is not None and "ClassVar" not in ast.unparse(field.annotation)
    ]


def _default(node: ast.expr, names: Mapping[str, ast.expr]) -> str:
    try:
        return written(_value(node, names))
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        return ast.unparse(node)


def _constants(module: ast.Module) -> dict[str, ast.expr]:
    """Names that the file itself gives a value, ``A, B = 1, 2`` included."""
    found: dict[str, ast.expr] = {}
    for node in module.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found |= _assigned(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found |= _assigned(node.target, node.value)
    return found


def _assigned(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return {t.id: v for t, v in zip(target.elts, value.elts, strict=False) if isinstance(t, ast.Name)}
    return {}


def _value(node: ast.expr, names: Mapping[str, ast.expr]) -> Any:
    """The value of numbers, texts, sequences, units and sums of them. Raises for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return _value(names[name], names)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return [_value(item, names) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, names)
        case ast.BinOp(left=left, op=op, right=right):
            return _sum(op, _value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=unit), args=[inner], keywords=[]):
            return _UNITS[unit](_value(inner, names))
    raise ValueError("not a plain value")


def _sum(op: ast.operator, left: Any, right: Any) -> Any:
    for number in (left, right):
        if not isinstance(number, (int, float)) or abs(number) > _MOST:
            raise ValueError("not a plain number")
    if isinstance(op, ast.Pow) and abs(right) > 64:
        raise ValueError("too large")
    return _SUMS[type(op)](left, right)
