// What happened, said once, in words; and what went wrong, until it is put away.

import { button, find, make } from "./dom.js";

const SHOWN_FOR = 5000; // milliseconds
const MOST = 4;

export function say(words, action = null) {
  const shown = show(make("div", { class: "message" }, make("span", {}, words)));
  if (action) shown.append(button(action.words, () => { shown.remove(); action.run(); }));
  setTimeout(() => shown.remove(), SHOWN_FOR);
}

export function complain(error) {
  if (error?.name === "AbortError") return;
  const words = error?.message || String(error);
  const shown = show(make("div", { class: "message wrong", role: "alert" },
    make("span", {}, make("strong", {}, "That did not work. "), words, error?.advice ? ` ${error.advice}` : "")));
  shown.append(button("Put away", () => shown.remove()));
}

// Runs a piece of work that a person asked for; what goes wrong is said.
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    complain(error);
    return null;
  }
}

function show(element) {
  const list = find("#messages");
  while (list.children.length >= MOST) list.firstElementChild.remove();
  list.append(element);
  return element;
}
