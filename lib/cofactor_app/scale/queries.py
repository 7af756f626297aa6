"""Queries with which a database counts and scores crowd labels, so that the labels stay where they are.

Three of them, each over a table of labels with one row per label:

- counts: how often every pair of workers gave a task every pair of labels, and how the votes of the tasks fell;
- score: the label of every task with its probability, from a small table of log-probabilities;
- refine: the sums that a further round of expectation-maximisation needs, from the same small table.

`cofactor_app.scale.warehouse` makes a model of what the first and the third return. The queries are written once, for
DuckDB; sqlglot translates them for other databases. Workers and labels may be of any type: they are compared as text,
without blanks around it, as cells of a CSV file are. Databases whose TRIM takes no set of characters (MySQL) take
away plain blanks only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cofactor.core.cells import NO_VALUE as NO_LABEL
from cofactor.core.errors import CofactorError
from cofactor.core.latent_class import TIE
from cofactor.core.lazy import sqlglot
from cofactor.crowd.labels import COLUMNS, Conflicts

BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))  # what Python's strip takes away
LABELS = """
cofactor_given AS (
  SELECT {task} AS task, TRIM(TRIM(CAST({worker} AS TEXT), {blanks})) AS worker,
         TRIM(TRIM(CAST({label} AS TEXT), {blanks})) AS label{order}
  FROM {table}),
cofactor_known AS (SELECT * FROM cofactor_given WHERE NOT ({absent})),
"""
ABSENT = f"""task IS NULL OR worker IS NULL OR label IS NULL
  OR TRIM(TRIM(CAST(task AS TEXT), {{blanks}})) = '' OR worker = '' OR label IN {NO_LABEL}"""
FIRST_ROW = """
cofactor_ranked AS (
  SELECT task, worker, label, ROW_NUMBER() OVER (PARTITION BY task, worker ORDER BY place {way}) AS nth
  FROM cofactor_known),
cofactor_labels AS (SELECT task, worker, label FROM cofactor_ranked WHERE nth = 1)
"""
ONE_LABEL = "cofactor_labels AS (SELECT task, worker, MIN(label) AS label FROM cofactor_known GROUP BY task, worker)"
COUNTS = """
, cofactor_sizes AS (SELECT task, COUNT(*) AS size FROM cofactor_labels GROUP BY task)
SELECT 'pair' AS what, a.worker AS worker, a.label AS label, b.worker AS other_worker, b.label AS other_label,
       0 AS size, COUNT(*) AS n
FROM cofactor_labels AS a JOIN cofactor_labels AS b ON a.task = b.task AND a.worker < b.worker
GROUP BY a.worker, a.label, b.worker, b.label
UNION ALL
SELECT 'vote', a.worker, a.label, NULL, b.label, s.size, COUNT(*)
FROM cofactor_labels AS a JOIN cofactor_labels AS b ON a.task = b.task JOIN cofactor_sizes AS s ON s.task = a.task
GROUP BY a.worker, a.label, b.label, s.size
UNION ALL
SELECT 'missing', NULL, NULL, NULL, NULL, 0, COUNT(*) FROM cofactor_given WHERE {absent}
"""
CONFLICTS = """
UNION ALL
SELECT 'conflict', worker, NULL, NULL, NULL, 0, COUNT(*)
FROM (SELECT task, worker FROM cofactor_known GROUP BY task, worker HAVING MIN(label) < MAX(label)) AS clash
GROUP BY worker
"""
POSTERIOR = """
, cofactor_joint AS (
  SELECT l.task AS task, m.true_class AS true_class, p.code AS code, p.log_probability AS log_prior,
         COUNT(*) AS n_labels, p.log_probability + SUM(m.log_probability) AS score
  FROM cofactor_labels AS l JOIN {model} AS m ON m.worker = l.worker AND m.label = l.label
  JOIN {model} AS p ON p.worker IS NULL AND p.code = m.code
  GROUP BY l.task, m.true_class, p.code, p.log_probability),
cofactor_peak AS (SELECT task, MAX(score) AS best FROM cofactor_joint GROUP BY task),
cofactor_total AS (SELECT j.task AS task, t.best AS best, SUM(EXP(j.score - t.best)) AS mass
          FROM cofactor_joint AS j JOIN cofactor_peak AS t ON t.task = j.task GROUP BY j.task, t.best),
cofactor_posterior AS (SELECT j.task AS task, j.true_class AS true_class, j.code AS code, j.log_prior AS log_prior,
                     j.n_labels AS n_labels, EXP(j.score - s.best) / s.mass AS probability
              FROM cofactor_joint AS j JOIN cofactor_total AS s ON s.task = j.task)
"""
SCORE = """
, cofactor_sure AS (SELECT task, MAX(probability) AS most FROM cofactor_posterior GROUP BY task),
cofactor_chosen AS (
  SELECT p.task AS task, p.true_class AS label, p.probability AS probability, p.n_labels AS n_labels,
         ROW_NUMBER() OVER (PARTITION BY p.task ORDER BY p.log_prior DESC, p.code) AS nth
  FROM cofactor_posterior AS p JOIN cofactor_sure AS s ON s.task = p.task WHERE p.probability >= s.most - {tie})
SELECT task, label, probability, n_labels FROM cofactor_chosen WHERE nth = 1 ORDER BY task
"""
REFINE = """
SELECT 'cell' AS what, l.worker AS worker, l.label AS label, p.true_class AS true_class, SUM(p.probability) AS amount
FROM cofactor_labels AS l JOIN cofactor_posterior AS p ON p.task = l.task GROUP BY l.worker, l.label, p.true_class
UNION ALL
SELECT 'class', NULL, NULL, true_class, SUM(probability) FROM cofactor_posterior GROUP BY true_class
UNION ALL
SELECT 'agreement', NULL, l.label, p.true_class, SUM(p.probability / p.n_labels)
FROM cofactor_labels AS l JOIN cofactor_posterior AS p ON p.task = l.task GROUP BY l.label, p.true_class
UNION ALL
SELECT 'evidence', NULL, NULL, NULL, SUM(best + LN(mass)) FROM cofactor_total
UNION ALL
SELECT 'tasks', NULL, NULL, NULL, CAST(COUNT(*) AS DOUBLE) FROM cofactor_total
UNION ALL
SELECT 'labels', NULL, NULL, NULL, CAST(COUNT(*) AS DOUBLE) FROM cofactor_labels
"""


@dataclass(frozen=True)
class Queries:
    """The queries over one table of labels, for one database.

    Parameters
    ----------
    table : str
        Of the labels, as the database names it, such as "sales.labels"; one row per label. Rows without a task, a
        worker or a label are counted, and refused when the counts are read.
    columns : three names
        Of the columns that hold task, worker and label.
    conflicts : {"error", "first", "last"}
        What counts where a worker labelled a task twice, as in `CrowdLabels.from_frame`: with "error", such tasks are
        counted, and refused when the counts are read. The same label given twice counts once.
    order : str
        Name of the column that tells which label came first; needed by "first" and "last", since a table has no order.
    dialect : str
        Database that the queries are for, as sqlglot names it: "duckdb", "spark", "postgres", "bigquery", ...

    Raises a CofactorError for an unknown dialect, a name that cannot be one, or no `order` where it is needed.

    >>> Queries("labels", dialect="spark").counts().splitlines()[0]
    'WITH cofactor_given AS ('
    """

    table: str
    columns: Sequence[str] = COLUMNS
    conflicts: Conflicts = "error"
    order: str = ""
    dialect: str = "duckdb"

    def __post_init__(self) -> None:
        if self.conflicts not in ("error", "first", "last"):
            raise CofactorError(f"conflicts={self.conflicts!r}: say error, first or last")
        if (self.conflicts != "error") != bool(self.order):
            word = "needs" if not self.order else "has no use for"
            raise CofactorError(f"conflicts={self.conflicts!r} {word} the column that tells which label came first")
        self.counts()

    def counts(self) -> str:
        """Return the query that counts pairs of labels and votes.

        Its result has the columns what, worker, label, other_worker, other_label, size, n: some (M K)^2 / 2 rows at
        most for M workers and K classes, and M K^2 rows for every number of labels that a task has.
        """
        return self._translated(COUNTS + (CONFLICTS if self.conflicts == "error" else ""))

    def score(self, model: str) -> str:
        """Return the query that labels every task: columns task, label, probability, n_labels.

        `model` is the table that `WarehouseFit.model_table` makes. Ties go to the class with the larger prior, then to
        the first. Tasks keep their type, labels are text. Labels of workers whom the model does not know do not count.
        """
        return self._translated(POSTERIOR + SCORE, model)

    def refine(self, model: str) -> str:
        """Return the query for a further round of EM: columns what, worker, label, true_class, amount."""
        return self._translated(POSTERIOR + REFINE, model)

    def _translated(self, body: str, model: str = "labels") -> str:
        names = dict(zip(COLUMNS, (name_in(self.dialect, name) for name in self.columns), strict=True))
        names |= {
            key: name_in(self.dialect, name, whole=True) for key, name in (("table", self.table), ("model", model))
        }
        names["order"] = f", {name_in(self.dialect, self.order)} AS place" if self.order else ""
        names["way"] = "DESC" if self.conflicts == "last" else "ASC"
        one = FIRST_ROW if self.order else ONE_LABEL
        names["blanks"] = f"'{BLANKS}'"
        query = f"WITH {LABELS}{one}{body}".format(**names, absent=ABSENT.format(**names), tie=TIE)
        (text,) = sqlglot.transpile(query, read="duckdb", write=self.dialect, pretty=True)
        return f"{text};\n"


def quoted(name: str) -> str:
    """Return the name of a column, whatever it is, in the quotes of DuckDB."""
    return str(sqlglot.exp.to_identifier(name, quoted=True).sql("duckdb"))


def name_in(dialect: str, name: str, whole: bool = False) -> str:
    """Read a name of a column, or of a `whole` table, as the database writes it; return it in the quotes of DuckDB.

    A name in quotes may be a word of SQL, such as order, user or at. Where the database folds capitals of a name
    without quotes, this is done first, since it does not fold what is in quotes.
    """
    problem = f"{name!r} is no name of a table or column: put it into the database's quotes"
    try:
        into = sqlglot.exp.Table if whole else sqlglot.exp.Column
        found = sqlglot.parse_one(name, into=into, read=dialect)
    except (sqlglot.errors.ParseError, sqlglot.errors.TokenError):
        raise CofactorError(problem) from None
    except ValueError:
        known = sorted(one.value for one in sqlglot.dialects.Dialects if one.value)
        raise CofactorError(f"no dialect {dialect!r}; sqlglot knows {', '.join(known)}") from None
    if not isinstance(found, into):
        raise CofactorError(problem)
    written, folding = sqlglot.Dialect.get_or_raise(dialect), sqlglot.dialects.dialect.NormalizationStrategy
    for one in found.find_all(sqlglot.exp.Identifier):
        if written.normalization_strategy in (folding.LOWERCASE, folding.UPPERCASE):
            written.normalize_identifier(one)
        one.set("quoted", True)
    return str(found.sql(dialect="duckdb"))
