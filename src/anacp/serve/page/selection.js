// Which examples are selected, in any class, and the bar that says what can be done with them.

import { forget, move } from "./changes.js";
import { button, classField, counted, fill, find, make } from "./dom.js";

const chosen = new Map(); // by id
const listeners = new Set();
let field = null;

export const selection = {
  get size() { return chosen.size; },
  get ids() { return [...chosen.keys()]; },
  has: (id) => chosen.has(id),
  whenChanged: (listener) => listeners.add(listener),
  toggle(example) {
    if (!chosen.delete(example.id)) chosen.set(example.id, example);
    changed();
  },
  add(examples) {
    for (const one of examples) chosen.set(one.id, one);
    changed();
  },
  clear() {
    chosen.clear();
    changed();
  },
  // Puts the question where to: of what is selected, or of this one example.
  ask(example = null) {
    if (!chosen.size && example) selection.add([example]);
    field?.focus();
  },
  forget(example = null) {
    const ids = chosen.size ? selection.ids : example ? [example.id] : [];
    chosen.clear();
    changed();
    return ids.length ? forget(ids) : null;
  },
};

async function moved(label) {
  const ids = selection.ids;
  selection.clear();
  await move(ids, label);
  // Whoever works by keys goes on where the first of them is now.
  find(`.example[data-id="${CSS.escape(ids[0])}"]`)?.focus();
}

function changed() {
  const place = find("#selected");
  place.hidden = !chosen.size;
  if (!chosen.size) {
    field = null;
    fill(place);
  } else if (!field) {
    const asked = classField("Move to class", moved);
    field = asked.field;
    asked.form.append(button("Move", () => asked.form.requestSubmit(), { class: "main" }));
    fill(place, make("strong", { id: "selected-count" }), asked.form,
      button("Forget", () => selection.forget()), button("Select none", () => selection.clear()));
  }
  const count = find("#selected-count");
  if (count) count.textContent = `${counted(chosen.size, "example")} selected`;
  for (const listener of listeners) listener();
}
