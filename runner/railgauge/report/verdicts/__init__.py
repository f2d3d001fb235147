"""A comparison's verdict as people and programs read it, a form in each module."""
