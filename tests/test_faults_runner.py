"""The runner of the fault suite, on a program that gives the answers it is told to: what counts as right, what is
kept, when it stops. Whether Fullbore is right is not asked here."""

import json
import re
import stat
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from faults import __main__ as suite, case, gains, judge, kinds, page, results, tally, watch  # noqa: E402
from faults.case import Case, Expected, Run, Variation, between, one_of, place, runs, vary  # noqa: E402

FAKE = """#!%s
import json, os, sys
if "--version" in sys.argv:
    print("fake 1")
elif sys.argv[1] == "run":
    folder = sys.argv[sys.argv.index("--out") + 1]
    os.makedirs(folder)
    open(%r, "a").write(sys.argv[-1] + "\\n")
    fixed = any(argument.startswith("--fix=") for argument in sys.argv)
    json.dump({"fixed": fixed}, open(folder + "/run.json", "w"))
else:
    report = json.load(open(%r))
    if json.load(open(sys.argv[2] + "/run.json"))["fixed"]:
        report["step_ms"] = {"steady": 50.0, "whole": 50.0}
    print(json.dumps(report))
"""


def cause(name, stage=None, line=None, share=0.5, predicted=None):
    where = {"file": "/x/no_workers.py", "line": line} if line else None
    settings = [{"name": "num_workers", "before": "0", "after": "2"}]
    return {
        "cause": name,
        "stage": stage,
        "share": share,
        "where": where,
        "fix": {"settings": settings},
        "gain": {"max": 2.5, "predicted": predicted},
    }


def report(*causes, verdict=None):
    first = verdict or causes[0]["cause"]
    return {
        "verdict": {"cause": first, "stage": None, "summary": ""},
        "causes": list(causes),
        "step_ms": {"steady": 100.0, "whole": 90.0},
        "steps": {"count": 40},
        "account": {"other": {"share": 0.01}, "unknown": {"share": 0.02}},
        "system": None,
        "missing": [],
    }


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A fake `fullbore`; returns a function that sets its answer, which itself returns the calls of `fullbore run` so
    far."""
    answer, calls, binary = tmp_path / "answer.json", tmp_path / "calls", tmp_path / "package" / "bin" / "fullbore"
    binary.parent.mkdir(parents=True)
    binary.write_text(FAKE % (sys.executable, str(calls), str(answer)))
    binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
    calls.touch()
    monkeypatch.setenv("FULLBORE_BIN", str(binary))

    def say(told=None):
        if told is not None:
            answer.write_text(json.dumps(told))
        return calls.read_text().splitlines()

    return say


NO_WORKERS = Case(
    "no_workers",
    Expected("no_workers", "decode", at="loader = DataLoader("),
    fix=True,
    variations=[vary(""), vary("text", data="text")],
    by_data={"text": {"stage": "user_code"}},
)
LINE = place(NO_WORKERS, NO_WORKERS.expected.at)[1]
PLAIN, TEXT = runs([NO_WORKERS])


def judged(run, *causes, **named):
    return judge.judge(run, watch.found(report(*causes, **named)))


def test_right_means_cause_stage_and_line():
    assert judged(PLAIN, cause("no_workers", "decode", LINE)).outcome == judge.RIGHT
    assert judged(PLAIN, cause("no_workers", "augment", LINE)).outcome == judge.WRONG
    assert judged(PLAIN, cause("no_workers", "decode", LINE + 1)).why == [
        "no_workers.py:%d instead of no_workers.py:%d" % (LINE + 1, LINE)
    ]


def test_a_variation_may_expect_another_stage():
    assert judged(TEXT, cause("no_workers", "user_code", LINE)).outcome == judge.RIGHT


def test_the_right_cause_among_the_first_three_is_named():
    others = [cause("handoff"), cause("gc_pause")]
    assert judged(PLAIN, *others, cause("no_workers", "decode", LINE)).outcome == judge.NAMED
    assert judged(PLAIN, *others, cause("host_sync"), cause("no_workers", "decode", LINE)).outcome == judge.WRONG


def test_a_fault_without_a_cause_is_missed():
    assert judged(PLAIN, cause("compute_bound")).outcome == judge.MISSED
    assert judged(PLAIN, verdict="insufficient_data").outcome == judge.MISSED


def test_a_cause_for_a_healthy_script_is_a_false_alarm():
    healthy = Run(Case("compute_bound", Expected("compute_bound", healthy=True)), Variation(""))
    assert judged(healthy, cause("compute_bound")).outcome == judge.RIGHT
    assert judged(healthy, cause("compute_bound"), cause("gc_pause")).outcome == judge.FALSE_ALARM
    assert judged(healthy, verdict="insufficient_data").outcome == judge.WRONG


def test_the_smaller_of_two_faults_must_be_named_too():
    pair = Run(Case("pair", Expected("no_workers", second="gc_pause")), Variation(""))
    assert judged(pair, cause("no_workers"), cause("gc_pause")).outcome == judge.RIGHT
    assert judged(pair, cause("no_workers")).outcome == judge.NAMED
    assert judged(pair, cause("gc_pause"), cause("no_workers")).outcome == judge.NAMED


def test_what_must_be_silent_takes_the_verdict_its_place():
    strict = Run(Case("handoff", Expected("handoff", silent=["gc_pause"])), Variation(""))
    assert judged(strict, cause("handoff"), cause("gc_pause")).why == ["also names gc_pause"]


def counted(*outcomes):
    """Judged runs: (cause expected, found, outcome)."""
    made = []
    for expected, found, outcome in outcomes:
        run = Run(Case(expected, Expected(expected, healthy=expected == "compute_bound")), Variation(""))
        made.append((run, {"verdict": {"cause": found}} if found else {"not_run": "no"}, judge.Judgement(outcome)))
    return made


def test_the_matrix_counts_what_was_taken_for_what():
    table = tally.rows(
        counted(
            ("compute_bound", "gc_pause", judge.FALSE_ALARM),
            ("handoff", "handoff", judge.RIGHT),
            ("handoff", "gc_pause", judge.WRONG),
            ("handoff", "gc_pause", judge.NAMED),
            ("handoff", None, judge.NOT_RUN),
        )
    )
    assert list(table) == ["handoff", "(healthy)"]
    row = table["handoff"]
    assert (row.runs, row.right, row.in_three, row.not_run, row.taken_for) == (3, 1, 2, 1, {"gc_pause": 2})


def test_what_was_not_run_counts_neither_as_right_nor_as_wrong():
    sums = tally.totals(
        counted(
            ("handoff", "handoff", judge.RIGHT),
            ("handoff", None, judge.NOT_RUN),
            ("compute_bound", "compute_bound", judge.RIGHT),
        )
    )
    assert (sums.faulty, sums.right, sums.healthy, sums.false_alarms, sums.not_run) == (1, 1, 1, 0, 1)


def test_flakes_are_runs_that_differ_from_most_of_their_kind():
    same = counted(
        ("handoff", "handoff", judge.RIGHT), ("handoff", "gc_pause", judge.WRONG), ("handoff", "handoff", judge.RIGHT)
    )
    assert tally.flakes(same) == (1, 3)
    assert tally.flakes(counted(("handoff", "handoff", judge.RIGHT))) == (0, 0)


def test_the_error_is_of_the_step_after_the_change():
    gain = {"before_ms": [100.0], "after_ms": [40.0], "said": [{"cause": "x", "predicted": 2.0, "max": 3.0}]}
    assert gains.summary(gain) == {"measured": 2.5, "predicted": 2.0, "bound": 3.0, "error": 0.25}


def test_a_bound_is_no_prediction():
    gain = {"before_ms": [100.0], "after_ms": [40.0], "said": [{"cause": "x", "predicted": None, "max": 3.0}]}
    assert gains.summary(gain)["error"] is None
    assert tally.spread([]) is None


def test_drawn_values_depend_on_the_seed_and_the_case_alone():
    first = Case("a", Expected("a"), ranges={"size": between(1, 1000), "kind": one_of("x", "y")})
    assert case.drawn(first, 3) == case.drawn(first, 3) != case.drawn(first, 4)
    assert case.drawn(first, 3).values["kind"] in ("x", "y")


def test_a_seed_draws_which_of_the_variations_run():
    one = Case("a", Expected("a"), variations=[vary(""), vary("x"), vary("y"), vary("z")], ranges={"size": between(1, 9)})
    few = [[run.variation.name for run in runs([one], seed, all_of_them=False)] for seed in range(20)]
    assert all(names[0] == "" and names[2] == "seed%d" % seed for seed, names in enumerate(few))
    assert {names[1] for names in few} == {"x", "y", "z"}
    assert len(runs([one], 3)) == 5


def everything():
    return runs(kinds.all_cases(), seed=1)


def test_every_line_that_is_expected_stands_in_a_script_once():
    for run in everything():
        if run.expected.at is not None:
            place(run.case, run.expected.at)


def test_names_are_unique_and_every_script_is_there():
    names = [run.id for run in everything()]
    assert len(names) == len(set(names))
    assert all(run.case.path().exists() for run in everything())


def test_every_kind_comes_in_variations():
    cases = [one for one in kinds.all_cases() if one not in kinds.device.CASES]
    faults = [one for one in cases if not one.expected.healthy and not one.expected.second]
    assert len(faults) >= 28
    assert all(len(one.variations) >= 3 for one in faults)
    assert sum(len(one.variations) for one in cases if one.expected.healthy) >= 12
    assert sum(one.expected.second is not None for one in cases) >= 8


def test_runs_that_the_documentation_names_are_there():
    ids = {run.id for run in everything()}
    text = (ROOT / "docs" / "cases.md").read_text()
    named = re.findall(r"`((?:%s)\.[a-z_]+)`" % "|".join(one.name for one in kinds.all_cases()), text)
    assert named and set(named) <= ids


def run_suite(tmp_path, *arguments):
    return suite.main([*arguments, "--cache", str(tmp_path / "cache")])


@pytest.fixture
def two_cases(monkeypatch):
    """The suite is no_workers in two variations."""
    monkeypatch.setattr(kinds, "all_cases", lambda: (NO_WORKERS,))


def test_a_suite_that_was_stopped_goes_on_where_it_was(tmp_path, program, two_cases, capsys):
    program(report(cause("no_workers", "decode", LINE)))
    run_suite(tmp_path, "--only", "no_workers.text")
    assert len(program()) == 1
    run_suite(tmp_path, "--resume")
    assert len(program()) == 2
    assert "2 faulty runs: 50 % right, 50 % in three" in capsys.readouterr().out


def test_a_result_of_another_program_is_no_result(tmp_path, program, two_cases):
    program(report(cause("no_workers", "decode", LINE)))
    store = results.Results(tmp_path / "results", results.program_digest())
    store.keep(PLAIN, "found", {"not_run": "x"}, store.made_of(PLAIN))
    assert store.load(PLAIN, "found") == {"not_run": "x"}
    watched = Path(watch.fullbore())
    watched.write_text(watched.read_text() + "\n")
    assert results.Results(tmp_path / "results", results.program_digest()).load(PLAIN, "found") is None


def test_what_the_time_limit_leaves_out_is_not_run(tmp_path, program, two_cases, capsys):
    program(report(cause("no_workers", "decode", LINE)))
    assert run_suite(tmp_path, "--limit", "0s") == 0
    assert program() == []
    assert "0 faulty runs: n/a right" in capsys.readouterr().out
    assert "the time limit was reached before it" in (tmp_path / "cache" / "results" / "faults.md").read_text()


def test_what_was_kept_counts_after_the_limit_too(tmp_path, program, two_cases, capsys):
    program(report(cause("no_workers", "decode", LINE)))
    run_suite(tmp_path, "--only", "no_workers.text")
    run_suite(tmp_path, "--resume", "--limit", "0s")
    assert capsys.readouterr().out.splitlines()[-1].endswith("1 not run")


def test_what_was_not_run_is_run_when_the_suite_goes_on(tmp_path, program, two_cases):
    program(report(cause("no_workers", "decode", LINE)))
    store = results.Results(tmp_path / "cache" / "results", results.program_digest())
    store.keep(PLAIN, "found", {"not_run": "x"}, store.made_of(PLAIN))
    run_suite(tmp_path, "--resume", "--only", "no_workers")
    assert len(program()) == 2


def test_a_wrong_verdict_is_tried_again_when_asked(tmp_path, program, two_cases, capsys):
    program(report(cause("gc_pause")))
    assert run_suite(tmp_path, "--only", "no_workers.text", "--retry", "1") == 1
    assert len(program()) == 2
    assert capsys.readouterr().out.endswith("0 not run, 1 tried again\n")


def test_gains_are_measured_in_turns(tmp_path, program, two_cases):
    program(report(cause("no_workers", "decode", LINE, predicted=2.0)))
    run_suite(tmp_path, "--only", "no_workers.text", "--pairs", "2")
    text = (tmp_path / "cache" / "results" / "faults.md").read_text()
    assert "| no_workers.text | 2.00x | 2.00x | 2.50x | 0 % |" in text
    assert len(program()) == 4  # the run that was judged is the first of the pairs


def test_a_condition_that_is_refused_is_a_run_that_did_not_happen(tmp_path, program, monkeypatch, capsys):
    from faults import conditions

    def refuse(cache):
        raise conditions.Refused("no such controller")

    monkeypatch.setattr(kinds, "all_cases", lambda: (Case("no_workers", Expected("no_workers"), conditions=refuse),))
    run_suite(tmp_path)
    assert program() == []
    assert "not run: no such controller" in capsys.readouterr().out


def test_a_second_cause_that_is_as_right_may_have_any_stage():
    either = Run(Case("small_files", Expected("small_files", "open", instead=["no_workers"])), Variation(""))
    assert judged(either, cause("no_workers", "read")).outcome == judge.RIGHT
    assert judged(either, cause("small_files", "read")).outcome == judge.WRONG


def test_a_subset_holds_scripts_as_they_stand(two_cases):
    asked = suite.options(["--subset", "base", "--seed", "1"])
    assert [run.id for run in suite.selected(asked)] == ["no_workers"]


def test_an_unknown_name_is_refused(tmp_path, two_cases, program):
    with pytest.raises(SystemExit, match="no such case: no_worker;"):
        run_suite(tmp_path, "--only", "no_worker")


def test_the_page_lists_what_was_not_right(program):
    program()
    wrong = [
        (
            PLAIN,
            {"verdict": {"cause": "gc_pause"}, "unexplained": 0.2},
            judge.Judgement(judge.WRONG, ["names gc_pause"]),
        )
    ]
    text = page.markdown(wrong, [], "scripts/faults")
    assert "| no_workers | wrong | names gc_pause |" in text
    assert "More than 10 % of the step were left unexplained in no_workers (20 %)." in text
