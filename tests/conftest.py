from hypothesis import settings

# No deadline: the machines that run this are shared, and a slow moment is no failure.
settings.register_profile("retention", deadline=None, max_examples=600)
settings.load_profile("retention")
