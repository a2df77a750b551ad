"""The texts in Chinese, a module for each area."""
