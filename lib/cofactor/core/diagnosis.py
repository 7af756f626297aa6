"""A report on data before a fit, the same for all four problems: checks with status, measured value and advice."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["pass", "warn", "fail"]
MARKS = {"pass": "ok  ", "warn": "WARN", "fail": "FAIL"}


@dataclass(frozen=True)
class Check:
    """One check of a report: its name, its status (pass, warn, fail), the measured value, and advice."""

    name: str
    status: Status
    value: str
    advice: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A list of checks and a verdict: `str` and `to_text`, `to_html` (as notebooks show it), `to_dict` for programs."""

    title: str
    checks: tuple[Check, ...]
    verdict: str

    @property
    def status(self) -> Status:
        """The worst status of any check."""
        found = {check.status for check in self.checks}
        return "fail" if "fail" in found else "warn" if "warn" in found else "pass"

    def __getitem__(self, name: str) -> Check:
        """Return the check of this name."""
        return {check.name: check for check in self.checks}[name]

    def to_text(self) -> str:
        """Return a line per check, what to do below it, and the verdict."""
        width = max(len(check.name) for check in self.checks)
        lines = [self.title]
        for check in self.checks:
            lines.append(f"  {MARKS[check.status]}  {check.name:<{width}}  {check.value}")
            if check.advice:
                lines.append(f"        {'':<{width}}  -> {check.advice}")
        return "\n".join([*lines, f"verdict: {self.verdict}"])

    __str__ = __repr__ = to_text

    def to_html(self) -> str:
        """Return a table: how each check stands, its name, the measured value, what to do."""
        cells = [(MARKS[c.status].strip(), c.name, c.value, c.advice) for c in self.checks]
        left = 'style="text-align:left"'
        rows = "".join(f"<tr>{''.join(f'<td {left}>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        head = "".join(f"<th {left}>{name}</th>" for name in ("", "check", "measured", "what to do"))
        return (
            f"<table><caption {left}>{html.escape(self.title)}</caption><tr>{head}</tr>{rows}</table>"
            f"<p>Verdict: {html.escape(self.verdict)}</p>"
        )

    _repr_html_ = to_html

    def to_dict(self) -> dict[str, Any]:
        """Return title, verdict, status and the checks as plain values."""
        return {**asdict(self), "status": self.status}
