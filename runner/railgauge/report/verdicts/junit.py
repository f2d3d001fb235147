"""A verdict as JUnit XML: a test case for each case, as Jenkins' xunit plugin checks it.

Its schema is junit-10.xsd of jenkinsci/xunit-plugin.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from railgauge.base.characters import visible
from railgauge.compare.compare import Result
from railgauge.compare.verdict import Verdict
from railgauge.plan.case_names import CaseNames
from railgauge.plan.catalogue import Catalogue
from railgauge.report.verdicts.verdict_words import compared_names, headline, reason_lines, sentence

_OUTCOMES = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def junit(verdict: Verdict, catalogue: Catalogue) -> str:
    """Return the document. Slower is a failure; a case that couldn't be measured is an error.

    A case without enough data, or that is gone from the plan, is skipped.
    """
    names = compared_names(verdict.comparison, catalogue)
    suite = ElementTree.Element("testsuite")
    cases: dict[tuple[str, str], list[Result]] = {}
    for result in verdict.comparison.results:
        cases.setdefault(result.name[:2], []).append(result)
    for results in cases.values():
        _add_case(suite, results, names, verdict)
    for planned in verdict.comparison.cases_only[0]:
        element = _case(suite, planned.test, names.case(planned))
        _add(element, "skipped", "it is not in the second side any more")
    for problem in verdict.problems:
        _add(_case(suite, "measuring", problem), "error", problem)
    _count(suite, headline(verdict), verdict.plan)
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_case(
    suite: ElementTree.Element, results: list[Result], names: CaseNames, verdict: Verdict
) -> None:
    case = _case(suite, results[0].test, names.case(results[0]))
    slower = [result for result in results if result.judged.change == "slower"]
    if slower:
        reason_texts = list(reason_lines(verdict.reasons.get(slower[0].name[:2])))
        _add(case, "failure", sentence(slower[0]), [*map(sentence, slower), *reason_texts])
    elif lost := [result for result in results if result.lost]:
        _add(case, "error", lost[0].judged.reason, map(sentence, lost))
    elif all(result.judged.change == "not enough data" for result in results):
        _add(case, "skipped", results[0].judged.reason)
    out = ElementTree.SubElement(case, "system-out")
    out.text = "\n".join(map(sentence, results))


def _case(suite: ElementTree.Element, test: str, name: str) -> ElementTree.Element:
    attributes = {"classname": visible(test), "name": visible(name)}
    return ElementTree.SubElement(suite, "testcase", attributes)


def _add(case: ElementTree.Element, outcome: str, message: str, lines: Iterable[str] = ()) -> None:
    element = ElementTree.SubElement(case, outcome, {"message": visible(message)})
    if outcome == "failure":
        element.set("type", "slower")
    element.text = "\n".join(lines) or None


def _count(suite: ElementTree.Element, title: str, plan: str) -> None:
    suite.set("name", visible(plan) or title)
    suite.set("tests", str(len(suite)))
    for attribute, outcome in _OUTCOMES.items():
        suite.set(attribute, str(len(suite.findall(f"testcase/{outcome}"))))
