// What was done, newest first, beside the classes; any number of steps back at once.

import { undo } from "./changes.js";
import { button, counted, faint, fill, find, make, note } from "./dom.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";

const SHOWN = 40;
const DONE = {
  learn: "learned", forget: "forgot", relabel: "moved", rename: "renamed", join: "joined", merge: "merged",
  open: "opened a file of",
};

export function ago(when, now = Date.now()) {
  const seconds = Math.max(0, (now - new Date(when).getTime()) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(when).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
}

function words(event) {
  const classes = event.classes.map(String);
  const few = classes.slice(0, 3).join(", ") + (classes.length > 3 ? ` and ${classes.length - 3} more` : "");
  const what = DONE[event.what] ?? event.what;
  if (event.what === "rename" || event.what === "join") return `${what} ${few}`;
  return `${what} ${counted(event.n, "example")}${few ? `: ${few}` : ""}`;
}

// Takes back an event and all that came after it, by then: more may have been done since it was shown.
async function undoTo(version) {
  const { events } = await service.history(SHOWN);
  await undo(events.filter((event) => !event.undone && event.version >= version).length);
}

export async function showHistory() {
  const { events } = await service.history(SHOWN);
  let isBefore = false; // a file that was opened is where undoing ends
  const rows = events.map((event) => {
    isBefore ||= event.what === "open";
    return make("li", { class: event.undone ? "undone" : "" },
      make("span", { class: "what" }, words(event)),
      faint(event.undone ? "undone" : ago(event.when)),
      !event.undone && !isBefore && button("Undo", () => attempt(() => undoTo(event.version)),
        { class: "quiet", "aria-label": `Undo to before: ${words(event)}` }));
  });
  fill(find("#history"), make("h2", { id: "history-title" }, "History"),
    rows.length ? make("ol", { class: "steps" }, rows) : note("Nothing was done yet."));
}

export const updateHistory = () => attempt(showHistory);
