// Read a stream of events with a client of npm's, up to its `done`, and print what came out, as JSON:
// [[event, data, id], …], with null where the client gives none.
//
// node wire_clients.mjs (eventsource | eventsource-parser) URL

import { createParser } from "eventsource-parser";
import { EventSource } from "eventsource";

const [client, url] = process.argv.slice(2);
const received = [];

function readAsBrowsersDo() {
  return new Promise((resolve, reject) => {
    const source = new EventSource(url);
    // An event without a type, as an empty block makes it, comes as "message".
    for (const kind of ["message", "delta", "rerun", "snapshot", "gap", "done"]) {
      source.addEventListener(kind, (event) => {
        received.push([event.type, event.data, event.lastEventId]);
        if (kind === "done") {
          source.close();
          resolve();
        }
      });
    }
    source.onerror = (event) => {
      source.close();
      reject(new Error(`the connection ended before the run: ${event.message}`));
    };
  });
}

async function parse() {
  const parser = createParser({
    onEvent: (event) => received.push([event.event ?? null, event.data, event.id ?? null]),
    onError: (error) => {
      throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of (await fetch(url)).body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
  }
}

await (client === "eventsource" ? readAsBrowsersDo() : parse());
console.log(JSON.stringify(received));
