"""The sub-commands, a module for each: it reads its options, asks one other for the work, and says how it came out.

They are all imported to read any command line, so none imports at its top what only its work needs.
"""
