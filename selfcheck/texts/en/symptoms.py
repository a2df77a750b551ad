"""The questions that symptoms ask: each leads to the mistake, none says what to write."""

from typing import Final

_ANY: Final = {
    "raises-always": "It raises whatever it is asked. Which line runs first, and what does it do in a Python shell?",
    "does-not-return": "Where does it stand when it is stopped? What is it waiting for, and what brings that about?",
}

_TRANSITIONS: Final = {
    "refuses-every-move": "Even pending → running is refused, so no run ever starts. What does your test look for, and "
    "what does it look in? Print both.",
    "answers-a-bool": "The caller writes down what comes back as the run's new status. What would it write here?",
    "answers-where-it-was": "pending → running is allowed. Where is the run afterwards, and what do you answer?",
    "refuses-by-assert": "What is left of an assert under python -O? And who is ready to catch an AssertionError?",
    "refuses-by-another-exception": "The caller is ready for one kind of refusal. Of which class is yours, and what "
    "does that class inherit from?",
    "rows-missing": "What does your table say of a run that is done? And what does a look-up do with a key that is not "
    "there?",
    "stays-instead-of-raising": "You answer a forbidden move with a status. How is the caller to tell that from a yes?",
    "none-instead-of-raising": "Which way through your function reaches its end without saying anything? What does the "
    "caller get there?",
    "error-returned": "An exception can be handed back or thrown. Which of the two stops whoever called?",
    "allows-every-move": "Is there any pair for which the caller sees an exception? Follow done → streaming line by "
    "line: who decides, and what becomes of the refusal on its way out?",
    "only-ends-guarded": "An end is not left: good. May a run that streams be pending again? Where do you ask about "
    "the target?",
    "order-for-table": "Is a later status always a legal one? Look for done → failed and pending → streaming in the "
    "diagram.",
    "table-read-backwards": "In pending → running, which of the two names the row, and which stands in it?",
    "self-moves-allowed": "A run that streams writes `streaming` once more. Is there an arrow in the diagram that ends "
    "where it begins?",
    "done-run-revived": "A worker wakes late and writes to a run that is done. What does your row let it do, and who "
    "still listens?",
    "failed-run-retried": "A run has failed: its retries are used up, its last event is out. Which arrow leaves failed "
    "in the diagram?",
    "cancelled-run-resumed": "The user pressed stop and saw the run end. Which arrow in the diagram brings it back?",
    "end-overwritten": "The last event of a run says how it ended. What does it say once another end replaces that?",
    "back-to-pending": "Pending means that no worker has claimed the run yet. Once one has, can that come true again?",
    "back-to-running": "A rerun begins the reply anew, but what was streamed stays in the log. Has the run stopped "
    "streaming then?",
    "pending-streams": "Who wrote the first fragment of a run that nobody has claimed? Which step lies between?",
    "pending-done": "Can a run be done that no worker has ever been at? Which step lies between?",
    "no-exits-from-pending": "Nobody has claimed the run yet; the user presses stop, or it is given up. Where does it "
    "go?",
    "no-stop-while-active": "The user presses stop while the reply is being made. In which statuses can the run be at "
    "that moment?",
    "no-failure-while-active": "The model breaks off, before the first fragment or in mid-sentence. Where does the run "
    "go, and from where?",
    "running-never-done": "What if the model has nothing to say, not one fragment? From which status does the run end?",
    "way-forward-missing": "Follow an ordinary run through the diagram, from pending to done. Which of its steps is "
    "not in your table?",
}

_ORDERERS: Final = {
    "emit-arguments-swapped": "What does emit take first, and what second? Its type stands in the signature of "
    "__init__.",
    "number-for-item": "A number comes out where the text should be. What do you keep of an item that has to wait, and "
    "what do you hand to emit?",
    "returned-for-emitted": "What does the caller of offer do with what it returns? Which way out has an item?",
    "starts-one-early": "An orderer that starts at 3: which number is the first that is due?",
    "nothing-comes-out": "Offer 0 to an orderer that starts at 0, by hand. On which line is it lost, and is the number "
    "that is due among those behind you?",
    "shared-between-orderers": "Two connections have an orderer each. What of yours is made only once, for both? When "
    "does a line in the class body run, and when a parameter's default?",
    "items-compared": "Two copies of one number wait side by side. What is compared when the numbers are equal?",
    "copy-raises": "The bus may bring anything twice, and nobody is to blame. What should a reader notice of the "
    "second copy?",
    "one-offer-late": "The last number has come, and nobody will call offer again. What should be out when it returns?",
    "emitted-outside-of-offer": "Once offer has returned, the caller counts on what it has by then. What of yours is "
    "still under way?",
    "starts-one-late": "What does `start` name: the last number that was received, or the first that is due?",
    "start-ignored": "A reader comes back and needs everything from 3 on. Where does your orderer learn of the 3?",
    "empty-text-is-nothing": 'What is bool("")? Is "is it there?" the same question as "is it true?"',
    "copies-known-by-text": "A word may occur twice in one reply. What tells a copy from a word that is said again?",
    "as-it-comes": "0 has come, and then comes 2. Where does it wait while 1 is still on its way?",
    "overtaken-dropped": "2 came before 1, and your pointer is past both. What becomes of 1 when it arrives?",
    "first-arrival-is-start": "Is what arrives first also first in order? What was the orderer told when it was made?",
    "held-under-wrong-number": "Several come out in one offer. Which number goes with each: the one just offered, or "
    "its own?",
    "if-for-while": "1 comes while 2 and 3 wait. How many are due now, and how often do you look?",
    "early-dropped": "2 came before 1, and the bus will not send it again. Where is it when 1 has come?",
    "every-copy-held": "A number comes twice while it has to wait. How many copies do you keep, and how many go out?",
    "old-delivered-again": "1 comes again after it went out. By what do you know a number that is behind you?",
    "newest-first": "2 and 3 wait, and 1 comes. In which order are the three due, and what in your code decides it?",
    "held-in-order-of-arrival": "What waits has come in any order. What decides what goes out first: when it came, or "
    "its number?",
    "next-gap-ignored": "1 has come and 4 waits, but 3 is still missing. How far may you deliver?",
    "recursion": "Ten thousand items wait for one. How deep are your calls when the last of them goes out?",
    "cost-grows": "Ten thousand items wait, and one more comes. At how many of them do you look?",
    "gives-a-gap-up": "Who says that a missing number will never come: the orderer, or whoever has it?",
    "held-is-limited": "How many items may have to wait at once? What happens in your code to one more?",
    "offer-raises": "What was offered when it raised, and what did you hold by then? Play the case by hand.",
    "delivered-twice": "A number went out twice. What do you remember of what is out, and when do you look at it?",
    "out-of-order": "A number went out before a smaller one. Which one number may go out next, and where do you keep "
    "it?",
    "held-never-released": "Something still waits although its turn has come. What makes you look at what you hold?",
}

_RESUMES: Final = {
    "answers-no-number": "The feed goes on counting from your answer. Of which type is it?",
    "none-for-zero": "Which way through your function answers nothing? Which number has a run's very first event?",
    "header-not-read": "Your answer is the same, whatever the header says. Where does the reader's 5 go into it?",
    "absent-header-raises": "Who comes for the first time sends no header. What is last_event_id then, and what do you "
    "do with it first?",
    "empty-header-raises": "The header is there, with nothing in it. What does your code do with nothing?",
    "last-received-again": "The reader has number 5. Which is the first that it does not have?",
    "one-too-far": "The reader has all up to 5. Which event does it never see when you go on where you do?",
    "counts-down": "Do the numbers of a run grow or shrink? Which comes after 5?",
    "absent-is-one": "A new reader has received nothing. Which number has a run's first event?",
    "absent-is-below-zero": "A new reader has received nothing. Which event has the number that you answer?",
    "zero-is-nothing": "Somebody was cut off after the very first event, number 0. Is 0 the same as no cursor?",
    "wrong-header-raises": "The header is foreign text, and anybody may send anything. What does a reader see when it "
    "makes you raise?",
    "unicode-digit-raises": 'Try "²".isdigit() and int("²"). What does your test promise, and what does int need?',
    "int-decides": 'Try int(" 7 "), int("+7") and int("1_000"). Who decides what a cursor is: int, or the rule?',
    "float-decides": 'Try float("1e3"). Which ways to write a number does it take in which no event is numbered?',
    "beginning-decides": '"1.5" begins with a digit. How much of the header does your test look at?',
    "header-stripped": 'Does the rule take " 7 " for a cursor? Who takes the blanks away before the test?',
    "sign-taken": "Can an event have the number -1? What becomes of a sign in front of the digits?",
    "newline-passes": 'What does $ in a pattern match in "7\\n"? Does your test want the whole text?',
    "unicode-digit-counts": 'Is "٣" a digit? For your test, for int, for the rule? How many digits has ASCII?',
    "through-a-float": 'What is int(float("9007199254740993"))? Through which types does your number go?',
    "no-limit": "How long may a header be? Where does a number go that no column of 64 bits holds?",
    "limit-too-high": "How many digits fit into 64 bits, whichever they are? Look at 2**63.",
    "limit-too-low": "Eighteen digits are still a cursor. On which side of your comparison are they?",
    "leading-zeros-refused": "What does the rule say about the first digit?",
    "header-raises": "No header may make it raise. What is in this one that your tests let through?",
    "no-cursor-taken": "How many characters, and which ones: at which of the two does your test let this header "
    "through?",
    "cursor-misread": "Follow the header of this case by hand. What becomes of each of its digits?",
}

_MERGES: Final = {
    "first-message-raises": "Who writes for the first time has no run before this. What is previous then, and what do "
    "you ask it for?",
    "naive-against-aware": "One of the two times has no zone any more. Who took it away?",
    "none-for-false": "Which way through your function reaches its end without an answer? What does the caller get?",
    "answers-no-bool": "Yes or no? Of which types can the value of your expression be: what do `and` and `or` return?",
    "merges-everything": "You say yes even when the session has no run at all. Which message opens one?",
    "merges-with-any-run": "There is a run before this. Is a worker at it, and how long ago did it begin? Who asks?",
    "merge-raises": "For which run did it raise, and which of its fields did that line touch?",
    "own-clock": "Who says what time it is: the argument, or the machine? What if somebody asks about last year?",
    "merges-nothing": "A run streams, is 10 s old, and you say no. Which of your tests says so? Print with repr() what "
    "it compares.",
    "or-for-and": "A run of yesterday still streams. Which part of your expression says yes, and is one part enough?",
    "clock-faces-compared": "How much time lies between 12:00:50 and 12:01:10? And between 50 and 10?",
    "zone-dropped": "20:00 at +08:00 and 12:00 at UTC are one moment. What do you take from a time before you "
    "subtract?",
    "days-dropped": "Print timedelta(days=1, seconds=1).seconds. Which part of a duration is that?",
    "age-since-last-change": "A run that writes changes all the time. From which of its two times does age count?",
    "subtracted-backwards": "Is your age positive or negative? Which of the two times is the later one?",
    "age-not-asked": "A reply has been going on for a day. Does it take messages? Which criterion should say no?",
    "compared-backwards": "You refuse a run of 10 s and take one of 31 s. What does your comparison say, read aloud?",
    "status-not-asked": "A message joins a run that nobody is at. Who reads it? Which criterion should say no?",
    "pending-merged": "No worker has read a pending run yet. What is there to be corrected, and who would be told?",
    "ended-merged": "The run has ended and its stream is closed. Who answers a message that joins it now?",
    "streaming-not-merged": "A correction comes when the first fragments are out. In which status is the run?",
    "running-not-merged": "A correction comes when a worker has the run but no fragment is out. In which status is it?",
    "exactly-the-window-too": "The run is exactly 30 s old. Is it younger than 30 s?",
    "age-rounded": "29.6 s are fewer than 30. How old is the run in your comparison?",
    "wrong-unit": "In which unit is your age, and in which your window? Print both for a run that is 10 s old.",
    "window-too-short": "A run of 29.9 s is inside the window. What do you compare with, and where does it come from?",
    "window-too-long": "From which age on do you say no? Where does that number come from?",
    "criteria-mixed-up": "Write the three criteria under one another, and what each says to this case. Which gives in?",
}

TEXTS: Final = {**_ANY, **_TRANSITIONS, **_ORDERERS, **_RESUMES, **_MERGES}
