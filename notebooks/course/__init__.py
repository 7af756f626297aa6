"""What notebooks show and ask: figures, panels with controls, exercises. Nothing here is needed to compute."""

from cofactor.cli.environment import check_environment
from course import controls, demos, figures
from course.checkpoints import checkpoint
from course.exercises import check, given, hint

__all__ = ["check", "check_environment", "checkpoint", "controls", "demos", "figures", "given", "hint"]
