// Photos and sentences on their way to the service: in pieces, in order, with time left, to be stopped.

import { learned } from "./changes.js";
import { counted } from "./dom.js";
import { attempt, say } from "./messages.js";
import { service } from "./service.js";
import { refresh } from "./state.js";
import { begin } from "./work.js";

const MOST = 16; // contents of one request
const MOST_BYTES = 24_000_000;
let line = Promise.resolve(); // one upload after the other, so that pieces of two do not mix

function* pieces(contents) {
  let piece = [];
  let bytes = 0;
  for (const one of contents) {
    const size = one.size ?? one.length;
    if (piece.length && (piece.length >= MOST || bytes + size > MOST_BYTES)) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(one);
    bytes += size;
  }
  if (piece.length) yield piece;
}

// Sends all contents by `send(piece)`, and `after(answer)` each; resolves to how many were sent. A piece that is under
// way when it is stopped is let through, since the service may have learned it already.
function inPieces(what, contents, send, after) {
  const work = () => attempt(async () => {
    const task = contents.length > MOST ? begin(what, contents.length) : null;
    let done = 0;
    try {
      for (const piece of pieces(contents)) {
        if (task?.stopped) break;
        after(await send(piece));
        done += piece.length;
        task?.progress(done);
        await refresh();
      }
    } finally {
      task?.end();
    }
    return done;
  });
  const turn = line.then(work);
  line = turn.catch(() => null);
  return turn;
}

export async function teach(contents, label) {
  if (!contents.length) return 0;
  const total = { new: 0, known: 0, moved: 0, skipped: 0 };
  const sent = await inPieces(`Learning ${label}`, contents, (piece) => service.learn(piece, label),
    (answer) => {
      total.new += answer.new;
      total.known += answer.known;
      total.moved += answer.moved.length;
      total.skipped += answer.skipped.length;
    });
  const words = learned(total, label);
  if (words) say(words);
  return sent;
}

export async function pileUp(contents) {
  if (!contents.length) return 0;
  let added = 0;
  const sent = await inPieces("Adding to the pile", contents, (piece) => service.addToPile(piece),
    (answer) => { added += answer.added; });
  say(`${counted(added, "item")} on the pile`);
  return sent;
}
