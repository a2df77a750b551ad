"""The questions of an interview around the exercises: the wire, disconnects, failures, clients."""

from typing import Final

TEXTS: Final = {
    "sse-or-websocket.question": (
        "A reply is to be streamed to a browser. Server-sent events or WebSocket? Decide, and say what would "
        "make you decide otherwise."
    ),
    "sse-or-websocket.think": (
        "List what travels in which direction and how often, what stands between the two ends, and what you "
        "would have to write yourself."
    ),
    "sse-or-websocket.point-1": (
        "A reply flows one way; what goes back (a message, the stop button) is rare and wants an answer and a "
        "status code of its own. That is a stream beside plain POSTs."
    ),
    "sse-or-websocket.point-2": (
        "SSE is HTTP: authentication, proxies, compression, HTTP/2 and logs know it. It reconnects by itself and "
        "brings the cursor in Last-Event-ID."
    ),
    "sse-or-websocket.point-3": (
        "WebSocket pays when both sides speak often, when one connection carries a whole conversation with many "
        "runs, or when the server asks and waits for answers."
    ),
    "sse-or-websocket.point-4": (
        "With WebSocket you write yourself: reconnecting, the cursor, heartbeats, limits, back pressure, an "
        "error model. None of it is hard, all of it has to be there."
    ),
    "sse-or-websocket.point-5": (
        "Either way the log is the truth and the numbers are the same. The wire is an encoding of it and can be "
        "changed; an order that exists only in a connection cannot."
    ),
    "sse-or-websocket.follow-1": (
        "A browser opens at most six HTTP/1.1 connections to a host. What does that do to SSE?"
    ),
    "sse-or-websocket.follow-2": "A proxy buffers. How do you notice, and what do you send against it?",
    "sse-or-websocket.follow-3": "How do you authenticate each of the two from a browser?",
    "disconnects.question": (
        "How does a server notice that a client has gone, how does a client notice that the server has, and what "
        "happens to open streams when you deploy?"
    ),
    "disconnects.think": (
        "Silence looks the same whether nothing happens or nothing can. So who has to speak, how often, and what "
        "does the other side do when it hears nothing?"
    ),
    "disconnects.point-1": (
        "A heartbeat keeps proxies from closing a silent connection and tells the client that the line is alive. "
        "It must not look like an event: a comment, not a frame with a number."
    ),
    "disconnects.point-2": (
        "With every heartbeat the server looks the run up again: if the last event was lost on the way, nobody "
        "hangs for ever."
    ),
    "disconnects.point-3": (
        "A client that does not read is dropped after a time or a number of bytes: its buffer is yours, and so "
        "is everybody else's memory."
    ),
    "disconnects.point-4": (
        "The run does not depend on the connection. Closing the tab stops watching; stopping the run is a "
        "request of its own."
    ),
    "disconnects.point-5": (
        "On SIGTERM: take nothing new, tell the streams to reconnect, let running work finish or hand it back, "
        "within a fixed time, then exit. The cursor makes the change of server invisible."
    ),
    "disconnects.point-6": (
        "Spread the reconnects: connections have a maximum age with jitter, clients wait with back-off and "
        "jitter, and what is replayed is bounded. Otherwise a deploy is an attack on yourself."
    ),
    "disconnects.follow-1": "TCP keepalive exists. Why is it not enough?",
    "disconnects.follow-2": "The worker gets SIGKILL instead of SIGTERM. What is different for the user?",
    "disconnects.follow-3": "How long may the drain take, and who decides?",
    "cut-off.question": (
        "A reply breaks off in the middle: the model fails, or the worker that streams it dies. What does the "
        "user see, and what does the system do?"
    ),
    "cut-off.think": (
        "Part of the text has been seen. Ask what may be told about it, who finds out that nobody is working any "
        "more, and how the one who was presumed dead is kept from writing."
    ),
    "cut-off.point-1": (
        "A lease that is renewed: who stops renewing has lost the run, whatever the reason. No health check of a "
        "process says as much."
    ),
    "cut-off.point-2": (
        "The attempt is counted up at every claim and goes with every write. It is the fencing token: a late "
        "write of an older attempt is refused by the stream and by the store."
    ),
    "cut-off.point-3": (
        "First the successor saves what is only on the stream, then it writes that the text so far is void, and "
        "goes on with the next number. What a reader has seen is never renumbered."
    ),
    "cut-off.point-4": (
        "Retries are bounded, with back-off and jitter, and only for what may pass: a timeout, an overloaded "
        "model. A request that is wrong stays wrong."
    ),
    "cut-off.point-5": (
        "In the end the run fails with a reason that a person can read, as an event of its own, so that the "
        "front end stops spinning."
    ),
    "cut-off.point-6": (
        "Silence is a failure too: a bound for the first piece, one between two pieces, and one for the whole."
    ),
    "cut-off.follow-1": (
        "Could you keep the half that was streamed and let the model go on from there? What would have to be "
        "true of the model?"
    ),
    "cut-off.follow-2": "The provider has charged for the half that is thrown away. Where do you see that?",
    "cut-off.follow-3": "The user pressed stop and the worker died before it heard. What is the run's last event?",
    "without-eventsource.question": (
        "EventSource can send neither a body nor a header. How do you read SSE with fetch, and what do you have "
        "to do that EventSource did for you?"
    ),
    "without-eventsource.think": (
        "You get bytes in pieces that know nothing of lines, characters or events. Go from there to an event in "
        "steps, and then ask what happens when the bytes stop."
    ),
    "without-eventsource.point-1": (
        "A stateful parser: pieces are cut anywhere, inside a UTF-8 character and between CR and LF. Decode "
        "incrementally and split at CR, LF and CRLF only, at no other line break."
    ),
    "without-eventsource.point-2": (
        "A blank line ends an event; several data lines are joined by LF; a line that begins with a colon is a "
        "comment; one space behind the colon of a field is dropped; a block at the end without a blank line is "
        "no event."
    ),
    "without-eventsource.point-3": (
        "The id is remembered over events and connections; an id with NUL is ignored; retry is digits or nothing."
    ),
    "without-eventsource.point-4": (
        "Reconnecting is yours: wait with back-off and jitter, send the cursor, stop at 204 and at the last "
        "event, and say why when you give up."
    ),
    "without-eventsource.point-5": (
        "Check the status and the content type before you parse: a proxy's error page is no stream."
    ),
    "without-eventsource.point-6": (
        "Stopping is aborting the request. The front end's state is a pure function of the events, keyed by run "
        "and number, so that replayed and late ones do no harm."
    ),
    "without-eventsource.follow-1": "How do you test such a parser so that you believe it?",
    "without-eventsource.follow-2": (
        "Which characters does JSON leave unescaped that a line-splitting client trips over?"
    ),
    "without-eventsource.follow-3": "The tab sleeps for an hour and wakes. What does your client do first?",
}
