// Questions that the page puts to a person, one at a time; Escape answers none of them.

import { button, classField, fill, find, make } from "./dom.js";

export function open(title, ...contents) {
  const dialog = make("dialog", { "aria-label": title, close: () => dialog.remove() },
    make("div", { class: "head" },
      make("h2", {}, title),
      button("Close", () => dialog.close(), { class: "quiet" })),
    contents);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// Resolves to a name, or to null.
export function askName(title, words, { value = "", agree = "OK", others = true } = {}) {
  return new Promise((resolve) => {
    let name = null;
    const { form, field } = classField("Name of the class", (typed) => { name = typed; dialog.close(); }, { value });
    if (!others) field.removeAttribute("list");
    form.append(make("button", { class: "main" }, agree));
    const dialog = open(title, words && make("p", {}, words), form);
    dialog.addEventListener("close", () => resolve(name));
    field.focus();
    field.select();
  });
}

export function confirm(title, words, agree) {
  return new Promise((resolve) => {
    let agreed = false;
    const yes = button(agree, () => { agreed = true; dialog.close(); }, { class: "main" });
    const dialog = open(title, make("p", {}, words), make("p", { class: "row" }, yes));
    dialog.addEventListener("close", () => resolve(agreed));
    yes.focus();
  });
}

// Resolves to the token; asks again until there is one. `again`: the one before was refused.
export function askToken(again = false) {
  return new Promise((resolve) => {
    const field = make("input", { type: "password", autocomplete: "off", "aria-label": "Token", required: true });
    const form = make("form", { class: "row", submit: (event) => { event.preventDefault(); dialog.close(); } },
      field, make("button", { class: "main" }, "Go on"));
    const dialog = open("This model asks for a token",
      again && make("p", { role: "alert", class: "wrong" }, "That was not it."),
      make("p", {}, "`anacp serve` printed it once, when it started. It is kept until this tab is closed."), form);
    dialog.addEventListener("close", () => resolve(field.value.trim() || askToken(again)));
    field.focus();
  });
}

const KEYS = [
  ["Ctrl-Z, Ctrl-Shift-Z", "undo, redo"],
  ["N", "a new class"],
  ["A", "ask: the photo or sentence to be named"],
  ["/", "find a class"],
  ["arrows", "from one example to the next"],
  ["Space", "select or deselect an example; Ctrl-A all of its class"],
  ["Enter", "look at an example, and at those like it"],
  ["M", "move what is selected to another class"],
  ["Delete", "forget what is selected"],
  ["Escape", "select nothing; close"],
  ["Enter, 1 to 5, S, Delete", "in the pile: accept, another answer, skip, leave out"],
];

export function showKeys() {
  const rows = KEYS.map(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)]);
  open("Keys", fill(make("dl", { class: "keys" }), rows.flat()));
}

export const isOpen = () => find("dialog[open]") !== null;
