// The classes as cards: found by name, made by typing a name, filled by what is dropped.

import { ClassCard } from "./class_card.js";
import { askName } from "./dialogs.js";
import { classField, make } from "./dom.js";
import { selection } from "./selection.js";
import { known, ofTexts, state } from "./state.js";
import { chooser, takesDrops } from "./taking.js";

const DRAFTS = "anacp-drafts"; // names that were typed, of classes without an example yet
const BEGINNING = {
  photos: ["Name a class, and drop a few photos of it.", "Do the same for another class: two are enough to begin.",
    "Ask about a photo that it has not seen. Whatever is wrong is corrected or undone."],
  texts: ["Name a class, and type a few sentences of it.", "Do the same for another class: two are enough to begin.",
    "Ask about a sentence that it has not seen. Whatever is wrong is corrected or undone."],
};
const cards = new Map();
const drafts = new Set(JSON.parse(sessionStorage.getItem(DRAFTS) ?? "[]"));
let parts = null;

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) entry.target.card.near(entry.isIntersecting);
}, { rootMargin: "200px" });

selection.whenChanged(() => { for (const card of cards.values()) card.list.mark(); });

function keepDrafts() {
  sessionStorage.setItem(DRAFTS, JSON.stringify([...drafts]));
}

// Makes a class that has a name and nothing else, or goes to the one of that name.
function invent(name) {
  if (!known(name)) drafts.add(name);
  keepDrafts();
  parts.search.value = "";
  update();
  const card = cards.get(name);
  card.element.scrollIntoView({ block: "nearest" });
  card.focus();
  return card;
}

// Photos for a class that has no name yet: a folder's name is one, otherwise it is asked for.
async function takeGroups(groups) {
  for (const { name, files } of groups) {
    const typed = parts.field.value.trim();
    const words = `What ${files.length === 1 ? "does this photo" : `do these ${files.length} photos`} show?`;
    const label = typed || name || await askName("A new class", words, { agree: "Learn" });
    parts.field.value = "";
    if (label) await invent(label).teach(files);
  }
}

function invention() {
  const { form, field } = classField("Name of a new class", invent, { id: "new-class" });
  field.removeAttribute("list");
  form.append(make("button", { class: "main" }, "Make"));
  const hint = ofTexts() ? "Type a name, then its sentences."
    : "Type a name, then drop photos; or drop them here at once, or a folder for each class.";
  const choose = !ofTexts() && chooser("Choose photos", (files) => takeGroups([{ name: null, files }]));
  const element = make("section", { class: "class invention", "aria-label": "A new class" },
    form, choose, make("p", { class: "faint" }, hint));
  if (!ofTexts()) takesDrops(element, { files: takeGroups });
  return { element, field };
}

export function showClasses(place) {
  const { element, field } = invention();
  const search = make("input", {
    type: "search", id: "find-class", placeholder: "Find a class", "aria-label": "Find a class", input: update,
  });
  const grid = make("div", { class: "classes" });
  const none = make("p", { class: "faint" });
  const head = make("div", { class: "head" }, make("h2", {}, "Classes"), search);
  for (const card of cards.values()) observer.unobserve(card.element);
  cards.clear();
  const beginning = make("ol", { class: "beginning" }, (ofTexts() ? BEGINNING.texts : BEGINNING.photos)
    .map((words) => make("li", {}, words)));
  parts = { grid, search, field, none, beginning };
  place.append(head, element, beginning, grid, none);
  update();
}

export function update() {
  if (!parts?.grid.isConnected) return;
  const { classes, version } = state.model;
  const wanted = parts.search.value.trim().toLowerCase();
  for (const one of classes) drafts.delete(one.label);
  keepDrafts();
  const all = [...classes, ...[...drafts].map((label) => ({ label, n: 0 }))];
  all.sort((one, other) => (one.label < other.label ? -1 : 1));
  const shown = all.filter((one) => one.label.toLowerCase().includes(wanted));
  const labels = new Set(shown.map((one) => one.label));
  for (const [label, card] of cards) {
    if (labels.has(label)) continue;
    observer.unobserve(card.element);
    card.element.remove();
    cards.delete(label);
  }
  shown.forEach(({ label, n }, at) => {
    if (!cards.has(label)) cards.set(label, new ClassCard(label, observer));
    const card = cards.get(label);
    const there = parts.grid.children[at];
    if (there !== card.element) parts.grid.insertBefore(card.element, there ?? null);
    card.update(n, version);
  });
  parts.search.hidden = all.length < 2;
  parts.none.textContent = wanted && !shown.length ? `No class is called like “${wanted}”.` : "";
  parts.beginning.hidden = all.length > 0;
}
