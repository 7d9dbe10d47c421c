"""Puts calls of ours into functions of torch without a wrapper: the function's own source is parsed, a few expressions
are surrounded, and only `function.__code__` is exchanged. Every line and column number stays, and no frame is added, so
tracebacks, the origin of warnings, inspect.getsource and pickling by name are what they were.
"""

import ast
import types

from .patterns import matches, pattern

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Rules:
    """What to insert into one function. `probe` is the object whose methods are called; it becomes a constant.

    context   (method, names): `with probe.method(*names):` around the body
    assign    (method, targets): `targets = probe.method(parameter_names, *parameters)` in front of it
    returns   method: `return x` -> `return probe.method(x)`
    after     (method, names): `return probe.method(*names)` behind the body, where the context swallowed an error
    around    [(signal, pattern, begin, end, names)]: `x` -> `probe.end(probe.begin(*names) or x)`
    instead   [(signal, pattern, test, call, names)]: `x` -> `probe.call(*names) if probe.test(*names) else x`

    Patterns are those of patterns.py. Names are evaluated once more than in the original, so only local variables may
    be named. `begin` must return None; it or `end` may be None, for no call. A rule without a signal may find nothing.
    """

    def __init__(self, probe, context=None, assign=None, returns=None, after=None, around=(), instead=()):
        self.probe = probe
        self.context = context
        self.assign = assign
        self.returns = returns
        self.after = after
        self.around = [(signal, pattern(text), begin, end, names) for signal, text, begin, end, names in around]
        self.instead = [(signal, pattern(text), test, call, names) for signal, text, test, call, names in instead]


def instrument(module, wanted):
    """Applies [(function, rules)] to functions whose source is that of `module`.

    Returns ([(function, original code)], [(signal or function name, why)]): what was changed, to be undone with
    `restore`, and what could not be. A function whose source is not that of the running code is left alone.
    """
    source = _source_of(module)
    if source is None:
        return [], [
            (function.__qualname__, "the source of " + module.__name__ + " is not available") for function, _ in wanted
        ]
    tree = ast.parse(source)
    nodes, problems = [], []
    for function, rules in wanted:
        node = _find(tree, function.__code__)
        if node is None:
            problems.append((function.__qualname__, "its definition was not found in the source"))
        else:
            nodes.append((function, rules, node))
    if not nodes:
        return [], problems
    pruned = _pruned(tree, [node for _, _, node in nodes])
    filename = nodes[0][0].__code__.co_filename
    before = _compile(pruned, filename)
    changed = []
    for number, (function, rules, node) in enumerate(nodes):
        if not _same(_code_at(before, node), function.__code__):
            problems.append((function.__qualname__, "the source does not match the code that runs"))
            continue
        placeholder = "\0fullbore probe %d" % number
        problems += _insert(node, rules, placeholder)
        changed.append((function, rules, node, placeholder))
    after = _compile(pruned, filename)
    done = []
    for function, rules, node, placeholder in changed:
        code = _with_constant(_code_at(after, node), placeholder, rules.probe)
        if _shape(code) != _shape(function.__code__):
            problems.append((function.__qualname__, "the changed code does not fit the function"))
            continue
        done.append((function, function.__code__))
        function.__code__ = code
    return done, problems


def restore(done):
    for function, code in done:
        function.__code__ = code


def parameters(function):
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


# Source and code objects.


def _source_of(module):
    loader = getattr(getattr(module, "__spec__", None), "loader", None) or getattr(module, "__loader__", None)
    try:
        return loader.get_source(module.__name__)
    except Exception:
        return None


def _compile(tree, filename):
    # Flags come from the module's own __future__ imports, which _pruned keeps, and never from this file.
    return compile(tree, filename, "exec", dont_inherit=True)


def _first_line(node):
    return min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])


def _find(tree, code):
    """The definition that this code was compiled from. Looks only into statements that span its line."""
    line = code.co_firstlineno
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _FUNCTIONS) and node.name == code.co_name and _first_line(node) == line:
            return node
        if _spans(node, line):
            found = _find(node, code)
            if found is not None:
                return found
    return None


def _spans(node, line):
    if isinstance(node, _FUNCTIONS + (ast.ClassDef,)):
        return _first_line(node) <= line <= node.end_lineno
    # parts without a position of their own (handlers, cases) lie in a statement that has one
    return not hasattr(node, "lineno") or node.lineno <= line <= node.end_lineno


def _pruned(tree, wanted):
    """The module with nothing but the wanted functions and what encloses them: cheap to compile, the same scopes.

    Imports stay: Python 3.11 and later compile a call on an imported name differently, and `__future__` changes more.
    """
    lines = [_first_line(node) for node in wanted]

    def holds(node):
        return any(_spans(node, line) for line in lines)

    def visit(body):
        kept = []
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                kept.append(node)
            elif isinstance(node, _FUNCTIONS):
                kept += [node] if holds(node) else []
            elif isinstance(node, ast.ClassDef):
                if not holds(node):
                    continue
                fields = dict(ast.iter_fields(node), body=visit(node.body), bases=[], keywords=[], decorator_list=[])
                kept.append(ast.copy_location(ast.ClassDef(**fields), node))
            else:  # if, try, with: they make no scope
                for field in ("body", "orelse", "finalbody"):
                    kept += visit(getattr(node, field, []))
                for handler in getattr(node, "handlers", []):
                    kept += visit(handler.body)
        return kept

    return ast.Module(body=visit(tree.body), type_ignores=[])


def _code_at(code, node):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            if constant.co_name == node.name and constant.co_firstlineno == _first_line(node):
                return constant
            inner = _code_at(constant, node)
            if inner is not None:
                return inner
    return None


def _shape(code):
    return (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_freevars,
        code.co_cellvars,
        code.co_varnames,
        code.co_firstlineno,
        code.co_name,
    )


def _same(left, right):
    if left is None or _shape(left) != _shape(right):
        return False
    table = "co_linetable" if hasattr(left, "co_linetable") else "co_lnotab"
    if (
        left.co_code != right.co_code
        or left.co_names != right.co_names
        or getattr(left, table) != getattr(right, table)
    ):
        return False
    if len(left.co_consts) != len(right.co_consts):
        return False
    return all(_same_constant(a, b) for a, b in zip(left.co_consts, right.co_consts))


def _same_constant(left, right):
    if isinstance(left, types.CodeType):
        return isinstance(right, types.CodeType) and _same(left, right)
    return type(left) is type(right) and (left == right or repr(left) == repr(right))


def _with_constant(code, placeholder, value):
    """The code with our object where the placeholder stood, in comprehensions and inner functions too."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            constant = _with_constant(constant, placeholder, value)
        elif isinstance(constant, str) and constant == placeholder:
            constant = value
        constants.append(constant)
    return code.replace(co_consts=tuple(constants))


# Changing the tree. Every new node takes the place of the one it surrounds.


def _insert(function, rules, placeholder):
    """Changes the body of a function definition in place; returns [(signal, why)] of what it found no place for."""
    problems = []
    changer = _Changer(rules, placeholder)
    body = [changer.visit(statement) for statement in function.body]
    problems += [(signal, "the code to be timed is not there") for signal in changer.unmatched()]
    docstring = []
    if (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        docstring, body = body[:1], body[1:]
    at = body[0] if body else docstring[0]
    names = [argument.arg for argument in _arguments(function)]
    lacking = [name for name in (rules.context or ("", ()))[1] if name not in names]
    if lacking:
        problems.append((function.name, "no parameter " + ", ".join(lacking)))
    elif rules.context:
        method, given = rules.context
        item = ast.withitem(context_expr=_call(placeholder, method, _names(given, at), at), optional_vars=None)
        block = ast.With(items=[item], body=body or [ast.copy_location(ast.Pass(), at)], type_comment=None)
        body = [ast.copy_location(block, at)]
    if rules.assign:
        method, targets = rules.assign
        targets = [name for name in targets if name in names]
        if targets:
            store = ast.Tuple(elts=_names(targets, at, ast.Store()), ctx=ast.Store())
            given = [ast.copy_location(ast.Constant(value=tuple(value), kind=None), at) for value in (names, targets)]
            value = _call(placeholder, method, given + _names(names, at), at)
            assign = ast.Assign(targets=[ast.copy_location(store, at)], value=value, type_comment=None)
            body.insert(0, ast.copy_location(assign, at))
    if rules.after:
        method, given = rules.after
        body.append(ast.copy_location(ast.Return(value=_call(placeholder, method, _names(given, at), at)), at))
    function.body = docstring + body
    return problems


def _arguments(function):
    return getattr(function.args, "posonlyargs", []) + function.args.args + function.args.kwonlyargs


class _Changer(ast.NodeTransformer):
    def __init__(self, rules, placeholder):
        self._rules = rules
        self._placeholder = placeholder
        self._matched = set()
        self._depth = 0

    def unmatched(self):
        rules = self._rules.around + self._rules.instead
        return [rule[0] for number, rule in enumerate(rules) if rule[0] and number not in self._matched]

    def visit_Return(self, node):
        node = self.generic_visit(node)
        if self._rules.returns and self._depth == 0:
            value = node.value or ast.copy_location(ast.Constant(value=None, kind=None), node)
            node.value = _call(self._placeholder, self._rules.returns, [value], value)
        return node

    def _inner(self, node):
        self._depth += 1
        node = self.generic_visit(node)
        self._depth -= 1
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _inner

    def visit(self, node):
        reads = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
        rule = self._rule_of(node) if reads else None
        node = super().visit(node)
        return node if rule is None else rule(node)

    def _rule_of(self, node):
        for number, (_, example, begin, end, names) in enumerate(self._rules.around):
            if matches(example, node):
                self._matched.add(number)
                return lambda inner: self._surround(inner, begin, end, names)
        for number, (_, example, test, call, names) in enumerate(self._rules.instead):
            if matches(example, node):
                self._matched.add(len(self._rules.around) + number)
                return lambda inner: self._replace(inner, test, call, names)
        return None

    def _surround(self, node, begin, end, names):
        if begin is not None:
            begun = _call(self._placeholder, begin, _names(names, node), node)
            node = ast.copy_location(ast.BoolOp(op=ast.Or(), values=[begun, node]), node)
        return node if end is None else _call(self._placeholder, end, [node], node)

    def _replace(self, node, test, call, names):
        chosen = ast.IfExp(
            test=_call(self._placeholder, test, _names(names, node), node),
            body=_call(self._placeholder, call, _names(names, node), node),
            orelse=node,
        )
        return ast.copy_location(chosen, node)


def _call(placeholder, method, arguments, at):
    receiver = ast.copy_location(ast.Constant(value=placeholder, kind=None), at)
    function = ast.copy_location(ast.Attribute(value=receiver, attr=method, ctx=ast.Load()), at)
    return ast.copy_location(ast.Call(func=function, args=list(arguments), keywords=[]), at)


def _names(names, at, context=None):
    return [ast.copy_location(ast.Name(id=name, ctx=context or ast.Load()), at) for name in names]
