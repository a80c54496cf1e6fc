import os

from hypothesis import settings

if "ASAN_OPTIONS" in os.environ:
    # For the interpreters that tests start: at its end CPython leaves memory behind, which is not what they are about.
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"

# No deadline: the machines that run this are shared, and a slow moment is no failure.
settings.register_profile("retention", deadline=None, max_examples=600)
settings.load_profile("retention")
