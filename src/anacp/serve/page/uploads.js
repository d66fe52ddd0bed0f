// Photos and sentences on their way to the service: in pieces, in order, with time left, to be stopped. Long ones are
// kept by the browser until they are sent, wait while the service cannot take them, and go on after a reload.

import { learned } from "./changes.js";
import { counted } from "./dom.js";
import { alone, dropped, keep, sent, waiting } from "./kept.js";
import { attempt, say } from "./messages.js";
import { service } from "./service.js";
import { refresh, state } from "./state.js";
import { begin } from "./work.js";

const MOST = 16; // contents of one request
const MOST_BYTES = 24_000_000;
const LATER = [0, 429, 503, 507]; // not there, too busy, too slow, no room on its disk: worth another try
const PAUSE = 2000; // milliseconds until then
let line = Promise.resolve(); // one upload after the other, so that pieces of two do not mix

const KINDS = {
  learn: { what: (label) => `Learning ${label}`, send: (contents, label) => service.learn(contents, label) },
  pile: { what: () => "Adding to the pile", send: (contents) => service.addToPile(contents) },
};

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

const count = (list) => list.reduce((n, piece) => n + piece.contents.length, 0);

// Sends a piece, of a long upload again and again while the service cannot take it; null once that is stopped.
async function delivered({ kind, label, contents }, task) {
  for (;;) {
    try {
      const answer = await KINDS[kind].send(contents, label);
      task?.waits("");
      return answer;
    } catch (error) {
      if (error.code === "unreadable" && task) return { skipped: contents };
      if (!task || !LATER.includes(error.status)) throw error;
      task.waits(error.message);
    }
    await new Promise((resume) => setTimeout(resume, PAUSE));
    if (task.stopped) return null;
  }
}

// A long upload goes on when the look at what it taught fails: its next piece waits until the service is there again.
const looked = (task) => refresh().catch((error) => {
  if (!task || !LATER.includes(error.status)) throw error;
});

// Sends all pieces of an upload and resolves to what became of them. A piece that is under way when it is stopped is let
// through, since the service may have learned it already.
async function send(list) {
  const [{ upload, kind, label }] = list;
  const task = list.length > 1 ? begin(KINDS[kind].what(label), count(list)) : null;
  const total = { sent: 0, new: 0, known: 0, moved: 0, added: 0, skipped: 0 };
  try {
    for (const piece of list) {
      if (task?.stopped) break;
      const answer = await delivered(piece, task);
      if (answer === null) break;
      if (task) piece.kept?.then(() => sent(upload, piece.place));
      total.sent += piece.contents.length;
      for (const name of ["new", "known", "added"]) total[name] += answer[name] ?? 0;
      for (const name of ["moved", "skipped"]) total[name] += answer[name]?.length ?? 0;
      task?.progress(total.sent);
      await looked(task);
    }
  } finally {
    task?.end();
    list.over = true;
    if (task) await Promise.all(list.map((piece) => piece.kept)).then(() => dropped(upload));
  }
  return total;
}

function inTurn(list, words) {
  const turn = line.then(() => attempt(() => alone(list[0].upload, async () => {
    const total = await send(list);
    const said = words(total);
    if (said) say(said);
    return total.sent;
  })));
  line = turn.catch(() => null);
  return turn;
}

const WORDS = {
  learn: (label) => (total) => learned(total, label),
  pile: () => ({ added }) => `${counted(added, "item")} on the pile`,
};

function upload(kind, contents, label = null) {
  if (!contents.length) return 0;
  const name = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const list = [...pieces(contents)].map((some, place) =>
    ({ upload: name, place, kind, label, model: state.model.id, contents: some }));
  // Kept one after the other, so that little is read at once; what has been sent by then is soon removed again.
  let last = Promise.resolve(true);
  if (list.length > 1) {
    for (const piece of list) {
      const plain = { ...piece };
      piece.kept = last = last.then((room) => room && !list.over && keep(plain));
    }
  }
  return inTurn(list, WORDS[kind](label));
}

export const teach = (contents, label) => upload("learn", contents, label);
export const pileUp = (contents) => upload("pile", contents);

// Goes on with what a page before this one did not finish.
export async function goOn() {
  for (const list of await waiting(state.model.id)) {
    for (const piece of list) piece.kept = Promise.resolve(true);
    inTurn(list, WORDS[list[0].kind](list[0].label));
  }
}
