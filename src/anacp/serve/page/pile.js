// The pile of what has no label yet: the most uncertain first, answered with one key.

import { bar, button, classField, counted, faint, fill, find, make, note, nothing, percent, strong } from "./dom.js";
import { isOpen } from "./dialogs.js";
import { seen } from "./examples.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";
import { ofTexts, refresh } from "./state.js";
import { chooser, flat, takesDrops } from "./taking.js";
import { pileUp } from "./uploads.js";

const AHEAD = 24;
let place = null;
let items = [];
let total = 0;
let looked = null; // the one that is shown, by its id
const skipped = new Set();

export function pileSection() {
  place = make("div", { class: "pile", id: "pile", tabindex: "-1" });
  const section = make("section", { class: "panel", "aria-labelledby": "pile-title" },
    make("h3", { id: "pile-title" }, "The pile"),
    note("Things without a label. Those that the model knows least about come first: there an answer teaches it most."),
    place, ways());
  if (!ofTexts()) takesDrops(section, { files: (groups) => add(flat(groups)) });
  section.addEventListener("keydown", pressed);
  updatePile();
  return section;
}

async function add(contents) {
  await pileUp(contents);
  place.focus();
  await updatePile();
}

function ways() {
  if (ofTexts()) {
    const words = "Sentences for the pile, one a line";
    const field = make("textarea", { rows: "3", placeholder: words, "aria-label": words });
    const take = () => {
      const all = field.value.split("\n").map((line) => line.trim()).filter(Boolean);
      field.value = "";
      add(all);
    };
    return make("div", { class: "ways stacked" }, field, button("Add to the pile", take));
  }
  return make("div", { class: "ways" }, chooser("Add photos", add), chooser("Add a folder", add, { folder: true }));
}

export async function updatePile() {
  if (!place) return;
  const answer = await attempt(() => service.pile(AHEAD + skipped.size));
  if (!answer) return;
  total = answer.total;
  items = answer.pile.filter((item) => !skipped.has(item.id));
  const named = isTyping() ? items.findIndex((item) => item.id === looked) : -1;
  if (named > 0) items.unshift(...items.splice(named, 1)); // what somebody types a name for stays
  if (!items.length && answer.pile.length) { // once through: what was skipped comes again
    skipped.clear();
    items = answer.pile;
  }
  show();
}

function isTyping() {
  const field = find("#pile-label", place);
  return field !== null && (field === document.activeElement || field.value !== "");
}

function choices(item) {
  const { guess } = item;
  if (!guess) return [];
  return guess.top ?? [{ label: guess.label, probability: guess.probability }];
}

function show() {
  const [item, ...others] = items;
  const typed = item && item.id === looked ? find("#pile-label", place) : null; // a name that is being typed
  const typing = typed === document.activeElement;
  looked = item?.id ?? null;
  if (!item) {
    fill(place, nothing("The pile is empty. ", ofTexts() ? "Paste sentences below." : "Drop photos or a folder here."));
    return;
  }
  const had = place.contains(document.activeElement);
  const answers = choices(item).map(({ label, probability }, at) => make("li", {},
    make("button", { type: "button", class: at ? "choice" : "choice first", click: () => answer(label) },
      make("kbd", {}, at ? at + 1 : "Enter"), make("span", { class: "name" }, label), bar(probability),
      make("span", { class: "number" }, percent(probability)))));
  const { form, field } = classField("Another class", answer, { id: "pile-label" });
  form.append(make("button", {}, "Learn"));
  fill(place,
    note(`${counted(total, "item")} on the pile`),
    make("div", { class: "looked-at" },
      make("figure", { "data-id": item.id }, seen(item),
        item.thumbnail && make("figcaption", { class: "faint" }, item.name)),
      make("div", {},
        item.guess?.unknown
          && make("p", { class: "verdict unknown" }, strong("unknown"), faint("probably none of these")),
        make("ol", { class: "choices" }, answers), form,
        make("p", { class: "row" },
          button([make("kbd", {}, "S"), " Skip"], skip, { class: "quiet" }),
          button([make("kbd", {}, "Delete"), " Leave out"], leaveOut, { class: "quiet" })))),
    others.length > 0 && make("ul", { class: "ahead", "aria-label": "Next on the pile" },
      others.slice(0, 8).map((one) => make("li", {}, seen(one)))));
  if (typed) field.value = typed.value;
  if (typed && typing) field.focus();
  else if (had && !place.contains(document.activeElement)) place.focus();
}

async function answer(label) {
  const [item] = items;
  place.focus();
  items = items.slice(1);
  total -= 1;
  show();
  await attempt(async () => {
    await service.labelOfPile(item.id, label);
    await refresh();
  });
  await updatePile();
}

function skip() {
  skipped.add(items[0].id);
  items = items.slice(1);
  show();
  place.focus();
  if (!items.length) updatePile();
}

async function leaveOut() {
  const [item] = items;
  place.focus();
  await attempt(() => service.dropFromPile(item.id));
  await updatePile();
}

function pressed(event) {
  if (!items.length || isOpen() || event.ctrlKey || event.metaKey || event.altKey || event.target !== place) return;
  const labels = choices(items[0]).map((choice) => choice.label);
  const at = Number(event.key) - 1;
  if (event.key === "Enter" && labels.length) answer(labels[0]);
  else if (Number.isInteger(at) && labels[at] !== undefined) answer(labels[at]);
  else if (event.key.toLowerCase() === "s") skip();
  else if (event.key === "Delete") leaveOut();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
