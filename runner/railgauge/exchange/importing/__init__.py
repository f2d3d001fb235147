"""Files that other people's programs wrote earlier, as runs in the database.

What stands where in them is said in the descriptions of those programs, in `import`.
"""
