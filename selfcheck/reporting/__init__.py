"""What a run came to, told: on the screen, in files, and the next time."""
