"""Exercises with checks: `given` hands out the data, `hint` the next step, `check` judges an answer in one sentence.

>>> from course.exercises import check, given
>>> data = given("accuracy")
>>> check("accuracy", data["prior"] @ data["A"].diagonal())
correct: each class counts as often as it occurs, so a worker is judged by the tasks
there are
"""

from course.exercises.desk import EXERCISES, check, given, hint

__all__ = ["EXERCISES", "check", "given", "hint"]
