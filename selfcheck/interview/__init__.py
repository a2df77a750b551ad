"""The interview: the questions that this lesson prepares for, asked one by one, with what a good answer has in it."""
