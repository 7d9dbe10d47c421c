"""Finds an expression in a syntax tree by an example of it: Python source in which `_` stands for anything and `*_` for
any further arguments.
"""

import ast


def pattern(text):
    return ast.parse(text, mode="eval").body


def _is_rest(pattern):
    return isinstance(pattern, ast.Starred) and isinstance(pattern.value, ast.Name) and pattern.value.id == "_"


def matches(pattern, node):
    if isinstance(pattern, ast.Name) and pattern.id == "_":
        return isinstance(node, ast.expr)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.Call):
        if not matches(pattern.func, node.func) or not _all_match(pattern.args, node.args):
            return False
        return any(map(_is_rest, pattern.args)) or _all_match(pattern.keywords, node.keywords)
    for field in pattern._fields:
        if field in ("ctx", "kind"):
            continue
        mine, theirs = getattr(pattern, field, None), getattr(node, field, None)
        if isinstance(mine, ast.AST):
            if not isinstance(theirs, ast.AST) or not matches(mine, theirs):
                return False
        elif isinstance(mine, list):
            if not _all_match(mine, theirs):
                return False
        elif mine != theirs:
            return False
    return True


def _all_match(patterns, nodes):
    for number, pattern in enumerate(patterns):
        if _is_rest(pattern):
            return True
        if number >= len(nodes) or not matches(pattern, nodes[number]):
            return False
    return len(patterns) == len(nodes)
