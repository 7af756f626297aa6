"""What notebooks show and ask: figures, panels with controls, exercises. Nothing here is needed to compute."""

from cofactor.teaching import controls, demos, figures
from cofactor.teaching.checkpoints import checkpoint
from cofactor.teaching.environment import check_environment
from cofactor.teaching.exercises import check, given, hint

__all__ = ["check", "check_environment", "checkpoint", "controls", "demos", "figures", "given", "hint"]
