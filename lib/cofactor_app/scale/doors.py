"""Doors to databases: a connection that runs queries, takes small tables in and gives small ones out.

Queries are written once, for DuckDB; sqlglot translates them. DuckDB and Spark have doors of their own, since tables
go in and out without a copy by rows there, and since Spark needs to be told how a table is laid out. All other
databases come by an address of SQLAlchemy, such as postgresql://host/name, with the driver that it names.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from cofactor.core.errors import CofactorError
from cofactor.core.files import WAIT_SECONDS
from cofactor.core.lazy import pd, sqlglot
from cofactor.core.types import Ints
from cofactor_app.scale.coding import BATCH, batches

OWN = "cofactor_"  # how tables begin that are made on the way, and removed
DIALECTS = {"postgresql": "postgres", "mssql": "tsql", "mariadb": "mysql"}  # where sqlglot has another name
LEAST_EXPONENT = "-700"  # of e, which is hardly above the least number that there is
BUCKETS = 16  # of Spark's table of coded labels
SPARK = "spark"
READS = ": rounds need temporary tables there; where only reading is allowed, `cofactor sql` writes queries by hand"
HELD = ": another program has it open, so wait until that ends"


class Door(ABC):
    """A connection to a database; `dialect` is its name in sqlglot."""

    dialect: str
    here = False  # whether the database runs in this process

    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []  # kinds and names of what is to be removed

    def run(self, query: str) -> None:
        """Run a query of DuckDB's, translated."""
        with self._refusing():
            self._run(self.translated(query))

    def ask(self, query: str) -> pd.DataFrame:
        """Return the result of a query of DuckDB's, translated."""
        with self._refusing():
            return self._ask(self.translated(query))

    def column(self, query: str) -> Iterator[Ints]:
        """Yield the one column of whole numbers of a query of DuckDB's, translated, piece by piece."""
        with self._refusing():
            yield from self._column(self.translated(query))

    def put(self, name: str, frame: pd.DataFrame) -> None:
        """Make a small table of a frame, in the place of one of this name."""
        with self._refusing():
            self._put(name, frame)

    def keep(self, name: str, query: str) -> None:
        """Make a table of the result of a query; it ends with the door."""
        self.run(f"DROP TABLE IF EXISTS {name}")
        self.run(f"CREATE TEMPORARY TABLE {name} AS {query}")

    def remove(self, name: str, condition: str) -> None:
        """Remove the rows of a kept table for which a condition holds."""
        self.run(f"DELETE FROM {name} WHERE {condition}")

    def write(self, name: str, query: str, replace: bool = False) -> None:
        """Make a lasting table of the result of a query; `replace`: in the place of one of this name, if there is one.

        Others see the old table or the new one, where the database can take a change back.
        """
        with self._at_once():
            if replace:
                self.run(f"DROP TABLE IF EXISTS {name}")
            self.run(f"CREATE TABLE {name} AS {query}")

    def check_place(self, name: str) -> None:
        """Make an empty table and remove it, so that it is told before the work where it cannot be made."""
        with self._at_once():
            self.run(f"CREATE TABLE {name} AS SELECT 1 AS task WHERE 1 = 0")
            self.run(f"DROP TABLE {name}")

    def translated(self, query: str) -> str:
        """Return a query of DuckDB's in the language of this database."""
        return query if self.dialect == "duckdb" else _translation(query, self.dialect)

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Make what is run within this lasting, all of it or nothing."""
        yield

    def _take_back(self) -> None:  # noqa: B027
        """End a transaction in which a query failed, where the database asks for that."""

    def close(self) -> None:
        """Remove the tables that were made here, and end the connection."""
        for kind, name in self.made:
            with suppress(CofactorError):
                self.run(f"DROP {kind} IF EXISTS {name}")
        self._close()

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except CofactorError:
            raise
        except Exception as error:  # each driver has its own
            self._take_back()
            said = (str(getattr(error, "orig", "") or error).strip() or type(error).__name__).splitlines()[0]
            if isinstance(error, MemoryError) or said.startswith("Out of Memory"):
                raise MemoryError(said) from None
            held = re.search(r"\block(ed)?\b", said)
            hint = HELD if held else READS if "read-only transaction" in said else ""
            raise CofactorError(f"the database refuses ({said}){hint}") from None

    @abstractmethod
    def _run(self, query: str) -> None: ...

    @abstractmethod
    def _ask(self, query: str) -> pd.DataFrame: ...

    def _column(self, query: str) -> Iterator[Ints]:
        yield self._ask(query).iloc[:, 0].to_numpy()

    @abstractmethod
    def _put(self, name: str, frame: pd.DataFrame) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...


class DuckDB(Door):
    """A file of DuckDB, or one in memory (":memory:")."""

    dialect, here = "duckdb", True

    def __init__(self, path: str, to_write: bool) -> None:
        super().__init__()
        duckdb = _needed("duckdb", "scale")
        if path != ":memory:" and not Path(path).is_file():
            raise CofactorError(f"no such file: {path}")
        with self._refusing():
            self.base = duckdb.connect(path, read_only=not to_write and path != ":memory:")
            self.base.execute("SET preserve_insertion_order = false; SET enable_progress_bar = false")

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        self.run("BEGIN TRANSACTION")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            with suppress(CofactorError):  # it may have ended with the failure
                self.run("ROLLBACK")
            raise

    def _run(self, query: str) -> None:
        self.base.execute(query)

    def _ask(self, query: str) -> pd.DataFrame:
        return self.base.execute(query).df()

    def _column(self, query: str) -> Iterator[Ints]:
        for batch in batches(self.base, query, BATCH):
            yield batch.column(0).to_numpy()

    def _put(self, name: str, frame: pd.DataFrame) -> None:
        self.base.register(name, frame)

    def _close(self) -> None:
        self.base.close()


class Spark(Door):
    """A session of Spark: that of a master, or the one that `spark-submit` or a notebook has begun."""

    dialect = "spark"

    def __init__(self, master: str = "") -> None:
        super().__init__()
        builder = _needed("pyspark.sql", "spark").SparkSession.builder
        with self._refusing():
            self.session = (builder.master(master) if master else builder).getOrCreate()

    def keep(self, name: str, query: str) -> None:
        """Make a table that lies in buckets by task, so that what belongs to a task is never moved again."""
        self.made.append(("TABLE", name))
        self.run(f"DROP TABLE IF EXISTS {name}")
        laid_out = f"USING parquet CLUSTERED BY (task) SORTED BY (task) INTO {BUCKETS} BUCKETS"
        text = f"CREATE TABLE {name} {laid_out} AS {self.translated(query)} DISTRIBUTE BY task"
        with self._refusing():
            self._run(text)

    def remove(self, name: str, condition: str) -> None:
        """Make the table anew without these rows, since none can be taken out of its files."""
        self.keep(f"{name}_left", f"SELECT * FROM {name} WHERE NOT ({condition})")
        self.run(f"DROP TABLE {name}")
        self.run(f"ALTER TABLE {name}_left RENAME TO {name}")

    def _run(self, query: str) -> None:
        self.session.sql(query).collect()

    def _ask(self, query: str) -> pd.DataFrame:
        return self.session.sql(query).toArrow().to_pandas()

    def _put(self, name: str, frame: pd.DataFrame) -> None:
        import pyarrow as pa

        self.session.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False)).createOrReplaceTempView(name)

    def _close(self) -> None:
        """Do nothing: the session belongs to the caller."""


class Address(Door):
    """Any database that SQLAlchemy knows, by its address."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.library = _needed("sqlalchemy", "database")
        self.connection: Any = None
        with self._refusing():
            self.engine = self._engine(address)
            # without parameters a % is no place of one
            self.connection = self.engine.connect().execution_options(no_parameters=True)
        name = self.engine.dialect.name
        self.dialect, self.here = DIALECTS.get(name, name), name == "sqlite"
        self.tables: dict[str, Any] = {}
        if name == "sqlite":
            if "timeout" not in self.engine.url.query:
                self.run(f"PRAGMA busy_timeout = {1000 * WAIT_SECONDS:.0f}")  # another may write when we want to
            for called, n, function in (("LN", 1, log), ("EXP", 1, exp), ("POWER", 2, pow), ("SQRT", 1, _sqrt)):
                self.connection.connection.create_function(called, n, function)  # some builds lack them

    def keep(self, name: str, query: str) -> None:
        """Make a table, which SQLite would compare row by row with another where it had no index."""
        super().keep(name, query)
        if self.dialect == "sqlite":
            with self._refusing():
                self._run(f"CREATE INDEX temp.{name}_by_task ON {name} (task)")

    def _engine(self, address: str) -> Any:
        try:
            engine = self.library.create_engine(address)
        except ImportError as error:
            raise CofactorError(f"the driver of this database is not installed ({error}): install it by pip") from None
        file = engine.url.database
        if engine.dialect.name == "sqlite" and file and file != ":memory:" and not Path(file).is_file():
            raise CofactorError(f"no such file: {file}")  # connecting would make it
        return engine

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        if self.dialect == "sqlite":  # its driver begins none by itself for tables
            self.run("BEGIN IMMEDIATE")
        try:
            yield
            with self._refusing():
                self.connection.commit()
        except BaseException:
            self._take_back()
            raise

    def _take_back(self) -> None:
        if self.connection is not None:
            with suppress(self.library.exc.SQLAlchemyError):  # it may be broken
                self.connection.rollback()

    def _run(self, query: str) -> None:
        self.connection.exec_driver_sql(query)

    def _ask(self, query: str) -> pd.DataFrame:
        found = self.connection.exec_driver_sql(query)
        return pd.DataFrame(found.fetchall(), columns=list(found.keys()))

    def _column(self, query: str) -> Iterator[Ints]:
        found = self.connection.exec_driver_sql(query)
        while rows := found.fetchmany(BATCH):
            yield np.array(rows, dtype=np.int64)[:, 0]

    def _put(self, name: str, frame: pd.DataFrame) -> None:
        """Make a temporary table of whole numbers, fractions and text; no lock on other tables is kept."""
        made, kinds = self.library, {"i": "BigInteger", "f": "Double"}
        if name in self.tables:
            self.tables.pop(name).drop(self.connection)
        columns = [made.Column(c, getattr(made, kinds.get(frame[c].dtype.kind, "Text"))()) for c in frame]
        table = made.Table(name, made.MetaData(), *columns, prefixes=["TEMPORARY"])
        table.create(self.connection)
        if len(frame):
            self.connection.execute(table.insert(), frame.to_dict("records"))
        self.connection.commit()
        self.tables[name] = table

    def _close(self) -> None:
        self.connection.close()
        self.engine.dispose()


def _sqrt(x: float) -> float:
    return float(x**0.5)


@lru_cache(maxsize=64)  # each round of a fit asks the same
def _translation(query: str, dialect: str) -> str:
    tree = sqlglot.parse_one(query, read="duckdb")
    return str((_for_postgres(tree) if dialect == "postgres" else tree).sql(dialect))


def _for_postgres(tree: Any) -> Any:
    """Keep each step of a query by itself, since all its terms would go into each term of the next; exponents in range.

    EXP(-746) is refused there, not zero.
    """
    for step in tree.find_all(sqlglot.exp.CTE):
        step.set("materialized", True)
    for found in list(tree.find_all(sqlglot.exp.Exp)):
        found.set("this", sqlglot.func("GREATEST", found.this, LEAST_EXPONENT, dialect="postgres"))
    return tree


def _needed(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise CofactorError(f"this database needs {package}: pip install 'cofactor[{extra}]'") from None


@contextmanager
def opened(address: str, to_write: bool = True) -> Iterator[Door]:
    """Open the door of an address, and close it at the end; without `to_write`, a file of DuckDB is only read.

    Addresses: duckdb:///labels.db (a relative path; four slashes begin an absolute one), spark (the session that is
    there), spark://host:7077 or spark:local[2] (its master), and those of SQLAlchemy, such as
    postgresql://user@host/name. Raises a CofactorError where there is no such database, or its driver is missing.
    """
    door: Door
    if address.startswith("duckdb://"):
        door = DuckDB(address.removeprefix("duckdb://").removeprefix("/") or ":memory:", to_write)
    elif address.partition(":")[0] == SPARK:
        door = Spark(address if address.startswith("spark://") else address.removeprefix(SPARK).removeprefix(":"))
    elif "://" in address:
        door = Address(address)
    else:
        raise CofactorError("--database: give an address, such as duckdb:///labels.db, spark or postgresql://host/name")
    try:
        yield door
    finally:
        door.close()
