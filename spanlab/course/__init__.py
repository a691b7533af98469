"""The course itself: challenges, the feedback on them, what a learner has done, and the tools that keep notebooks in
form."""

from spanlab.course.learner import check, hint, progress, reset, reveal

__all__ = ["check", "hint", "progress", "reset", "reveal"]
