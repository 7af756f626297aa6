"""What a teacher hands out and collects: complete for every notebook, marked by nbgrader, under each learner's name."""

import csv
import html
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

from tests.each import each
from tools import classroom, learner, tasks

PATHS = {path.stem: path for path in learner.sources()}
NAMES = list(PATHS)
RUN = "09_topics_and_communities"  # the one that is marked: it has an open question, and runs in seconds
READ = "05_theorems"  # it has no exercises
CODE = re.compile(r"`[^`]*`|\$[^$]*\$")

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Export all notebooks once; skipped without the extra `classroom`."""
    pytest.importorskip("nbgrader")
    folder = tmp_path_factory.mktemp("class") / "room"
    command(learner.ROOT, "tools.classroom", "-o", folder)
    return folder


def command(cwd, *arguments):
    """Run a module of the environment; what it said, where it went wrong."""
    done = subprocess.run([sys.executable, "-m", *map(str, arguments)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def source(name):
    return nbformat.read(PATHS[name], as_version=4)


def found_tasks(name):
    return [piece for piece in tasks.pieces(source(name), str) if isinstance(piece, tasks.Task)]


def exercise_names(name):
    return [task.name for task in found_tasks(name) if not task.is_open]


def text_of(notebook):
    return linkless("\n".join(cell.source for cell in notebook.cells))


def linkless(text):
    """Return a text without the targets of its links, which differ from folder to folder."""
    return learner.TARGET.sub("", text)


def places_of(folder, name):
    """Return the learner's notebook of each kind."""
    return {
        "copy": folder / "learner" / f"{name}.ipynb",
        "nbgrader": folder / "nbgrader" / "release" / name / f"{name}.ipynb",
    }


# ---- every notebook ----


@each("name", NAMES)
def test_every_exercise_is_a_task(name):
    stored = [tasks.REVEAL.search(cell.source)[1] for cell in source(name).cells if "solution" in learner.tags(cell)]
    assert exercise_names(name) == stored and (len(stored) >= 2 or name == READ)
    rubrics = [cell for cell in source(name).cells if "rubric" in learner.tags(cell)]
    assert sum(task.is_open for task in found_tasks(name)) == len(rubrics)


@pytest.mark.slow
@each("name", NAMES)
def test_no_learner_gets_a_solution_or_a_rubric(folder, name):
    for kind, path in places_of(folder, name).items():
        text = text_of(nbformat.read(path, as_version=4))
        for task in found_tasks(name):
            assert linkless(task.solution.source) not in text and "BEGIN SOLUTION" not in text, (kind, task.name)
            assert linkless(task.cell.source) in text, (kind, task.name)


@pytest.mark.slow
@each("name", NAMES)
def test_no_learner_gets_results(folder, name):
    for path in places_of(folder, name).values():
        assert not any(cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells)


@pytest.mark.slow
@each("name", NAMES)
def test_links_and_pictures_lead_somewhere(folder, name):
    for path in places_of(folder, name).values():
        for text in (cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"):
            for found in learner.TARGET.finditer(CODE.sub("", text)):
                if not learner.ELSEWHERE.match(found["path"]):
                    assert (path.parent / found["path"].partition("#")[0]).is_file(), (path, found["path"])


@pytest.mark.slow
@each("name", NAMES)
def test_nbgrader_knows_what_to_mark(folder, name):
    for version in ("source", "release"):
        path = folder / "nbgrader" / version / name / f"{name}.ipynb"
        marked = [
            cell.metadata.nbgrader for cell in nbformat.read(path, as_version=4).cells if "nbgrader" in cell.metadata
        ]
        answers = [one.grade_id for one in marked if one.solution and not one.grade]
        points = {one.grade_id: one.points for one in marked if one.grade and one.locked}
        assert answers == exercise_names(name)
        assert points == {f"{task.name}-points": task.points for task in found_tasks(name) if not task.is_open}
        opened = {one.grade_id: one.points for one in marked if one.solution and one.grade}
        assert opened == {task.name: task.points for task in found_tasks(name) if task.is_open}


@pytest.mark.slow
@each("name", NAMES)
def test_nbgrader_has_the_solution_and_the_rubric_for_the_teacher(folder, name):
    text = text_of(nbformat.read(folder / "nbgrader" / "source" / name / f"{name}.ipynb", as_version=4))
    assert all(linkless(task.solution.source) in text for task in found_tasks(name))


@each("name", NAMES)
def test_points_go_by_difficulty_and_an_open_question_gives_at_most_a_third(name):
    found = found_tasks(name)
    worth = {"easy": 1, "medium": 2, "hard": 3}
    assert all(task.points == worth[task.level] for task in found if not task.is_open)
    opened = sum(task.points for task in found if task.is_open)
    assert 3 * opened <= sum(task.points for task in found)


@each("name", NAMES)
def test_a_rubric_shares_out_the_points_of_its_question(name):
    for rubric in (task for task in found_tasks(name) if task.is_open):
        assert f"**{rubric.points} points**" in rubric.solution.source, (name, rubric.name)
        shared = [int(points) for points in re.findall(r"\((\d) points?\)", rubric.solution.source)]
        assert sum(shared) in (0, rubric.points), (name, rubric.name)


@pytest.mark.slow
def test_the_table_has_every_exercise_and_the_key_its_solution(folder):
    with (folder / "exercises.csv").open(encoding="utf8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["notebook"], row["exercise"]) for row in rows] == [
        (name, task.name) for name in NAMES for task in found_tasks(name)
    ]
    assert {row["objective"] for row in rows if row["notebook"] == RUN} <= {"1", "2", "3", ""}
    page = html.unescape((folder / "key.html").read_text(encoding="utf8"))
    assert all(task.solution.source in page for task in found_tasks(RUN) if not task.is_open)


# ---- marked: the solution gets all points, the stub none, and a known mistake is named ----

WRONG = """\
from course.desk import check, find

words, wrong = [*find("{name}").parts[0].mistakes.items()][-1]
check("{name}", wrong)"""


def mistaken():
    """Return the name of an exercise with one number for an answer, and what is said of its last known mistake.

    The first may be what the stub hands in.
    """
    from course.desk import find
    from course.grading import FunctionExercise

    for name in exercise_names(RUN):
        exercise = find(name)
        if not isinstance(exercise, FunctionExercise) and len(exercise.parts) == 1:
            return name, [*exercise.parts[0].mistakes][-1]
    raise AssertionError(f"no such exercise in {RUN}")


def with_a_mistake(path):
    """Return a learner's notebook with a known wrong answer, and with its marks, where they are, made easy."""
    notebook, (name, _) = nbformat.read(path, as_version=4), mistaken()
    for cell in notebook.cells:
        if name in tasks.checked(cell):
            cell.source = WRONG.format(name=name)
        elif cell.metadata.get("nbgrader", {}).get("locked"):
            cell.source = "assert True"
    return notebook


def squeezed(text):
    """Return words without what printing does to them."""
    return re.sub(r"\W+", "", text)


@pytest.fixture(scope="module")
def marked(folder):
    """Let nbgrader mark three learners; its folder."""
    course = folder / "nbgrader"
    handed = {"solved": "source", "stub": "release", "wrong": "release"}
    box = course / "downloaded" / RUN / "archive"
    box.mkdir(parents=True)
    for who, version in handed.items():
        shutil.copyfile(course / version / RUN / f"{RUN}.ipynb", there := box / f"{who}-{RUN}.ipynb")
    nbformat.write(with_a_mistake(there), there)
    command(course, "nbgrader", "zip_collect", RUN)
    command(course, "nbgrader", "autograde", RUN)
    command(course, "nbgrader", "generate_feedback", RUN, "--student=wrong")
    command(course, "nbgrader", "export", "--to=marks.csv")
    return course


@pytest.mark.slow
def test_nbgrader_gives_all_points_to_the_solution_and_none_to_stub_or_mistake(marked):
    with (marked / "marks.csv").open(encoding="utf8") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file) if row["assignment"] == RUN}
    most = sum(task.points for task in found_tasks(RUN))
    by_hand = sum(task.points for task in found_tasks(RUN) if task.is_open)
    assert {who: float(row["score"]) for who, row in rows.items()} == {"solved": most - by_hand, "stub": 0, "wrong": 0}
    assert {float(row["max_score"]) for row in rows.values()} == {most}


@pytest.mark.slow
def test_marks_stand_under_each_name_with_the_open_questions_left(marked):
    from nbgrader.api import Gradebook

    from tools import nbgrader_course

    assert classroom.main(["-o", str(marked.parent), "--marks"]) == 0
    with (marked.parent / "marks.csv").open(encoding="utf8") as file:
        rows = {row["learner"]: row for row in csv.DictReader(file) if row["notebook"] == RUN}
    solved, stub = rows["solved"], rows["stub"]
    opened = sum(task.points for task in found_tasks(RUN) if task.is_open)
    most = sum(task.points for task in found_tasks(RUN) if not task.is_open)
    assert float(solved["exercises"]) == float(solved["points"]) == most and stub["points"] == "0.0"
    assert float(solved["of"]) == most + opened and set(rows) == {"solved", "stub", "wrong"}
    with (marked.parent / "mistakes.csv").open(encoding="utf8") as file:
        told = {(row["exercise"], row["mistake"]): row for row in csv.DictReader(file)}
    assert (told[mistaken()]["learners"], told[mistaken()]["of"]) == ("1", "3")
    assert solved["open questions left to mark"] == "1"
    with Gradebook(f"sqlite:///{marked / 'gradebook.db'}") as book:  # as the page of nbgrader enters points
        grade = book.find_grade("open-question-1", RUN, RUN, "solved")
        grade.manual_score, grade.needs_manual_grade = 2, False
        book.db.commit()
    (row,) = nbgrader_course.marks(marked).query("learner == 'solved' and notebook == @RUN").to_dict("records")
    assert row["open questions"] == 2 and row["points"] == row["exercises"] + 2
    assert row["open questions left to mark"] == 0


def test_marks_need_a_course(tmp_path):
    assert "has no nbgrader/gradebook.db" in classroom.main(["-o", str(tmp_path), "--marks"])


@pytest.mark.slow
def test_nbgrader_names_the_mistake_in_its_feedback(marked):
    page = (marked / "feedback" / "wrong" / RUN / f"{RUN}.html").read_text(encoding="utf8")
    assert squeezed(mistaken()[1]) in squeezed(re.sub(r"<[^>]*>|&[a-z#0-9]+;", "", page))


# ---- the folder ----


@pytest.fixture
def small(monkeypatch):
    """Let the export be quick."""
    monkeypatch.setattr(classroom, "export", lambda notebooks, folder: (folder / "nbgrader").mkdir(parents=True))


def test_a_folder_that_is_there_is_left_alone(tmp_path, small):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("work", encoding="utf8")
    for asked in ([], ["--replace"]):
        assert "was not made by this command" in classroom.main(["-o", str(tmp_path / "mine"), *asked])
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "work.txt"]


@pytest.mark.slow
def test_a_course_is_replaced_only_when_asked(folder, monkeypatch):
    done = []
    monkeypatch.setattr(classroom, "export", lambda notebooks, folder: done.append(folder))
    assert "add --replace" in classroom.main(["-o", str(folder)]) and not done
    assert classroom.main(["-o", str(folder), "--replace"]) == 0 and done == [folder]


@pytest.mark.slow
def test_an_export_that_fails_leaves_what_was_there(tmp_path, folder, monkeypatch):
    from tools import nbgrader_course

    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "work.txt").touch()

    def failed(*arguments):
        raise RuntimeError("no")

    monkeypatch.setattr(nbgrader_course, "write_course", failed)
    with pytest.raises(RuntimeError):
        classroom.export({RUN: source(RUN)}, tmp_path / "room")
    assert [path.name for path in tmp_path.rglob("*")] == ["room", "work.txt"]


# ---- slides ----


def test_headings_begin_slides_and_solutions_stay_away():
    from tools.slides import Headings

    notebook, _ = Headings().preprocess(source(RUN), {})
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in notebook.cells]
    text = text_of(notebook)
    assert kinds[0] == "slide" and kinds.count("slide") == len(re.findall("^##? ", text, re.MULTILINE))
    assert "subslide" in kinds and "<details>" not in text
    assert not any(task.solution.source in text for task in found_tasks(RUN))
