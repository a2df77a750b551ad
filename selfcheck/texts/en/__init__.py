"""The texts in English, a module for each area."""
