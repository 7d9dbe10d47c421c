"""The fault suite: ordinary training scripts with a known fault, watched by Fullbore, and how often its verdict is
right.

`case` says what a case is and `kinds` lists them; `watch` runs one, `judge` compares, `results` keeps, `tally`
counts, `page` writes. What a run was found to be is kept apart from what it should be, so a better expectation needs
no new run."""
