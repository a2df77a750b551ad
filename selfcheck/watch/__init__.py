"""`selfcheck watch`: judge the tree at every save. First what the save can affect, then the rest."""
