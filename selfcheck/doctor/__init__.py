"""The doctor: looks at everything that the kit stands on, and says what is there and what to do about what is not."""
