"""What a front end does: parse the stream, reconnect, reduce events to what is on the screen."""
