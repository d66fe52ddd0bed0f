// What the model makes of its own examples: likely mistakes, pairs that it confuses, classes that need more.

import { move } from "./changes.js";
import { bar, button, counted, faint, fill, make, note, nothing, percent, strong, table } from "./dom.js";
import { seen } from "./examples.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";
import { state } from "./state.js";
import { look } from "./viewer.js";

const kept = new Set(); // examples whose label a person stands by, until the page is closed

// A part of a view that asks the service for something that may take a while.
export function panel(title, words, ask, show) {
  const body = make("div", {}, note("Working it out …"));
  const element = make("section", { class: "panel" }, make("h3", {}, title), note(words), body);
  let version = null;
  const update = async () => {
    if (version === state.model.solved_version) return;
    version = state.model.solved_version;
    const asked = version;
    if (state.model.classes.length < 2) {
      fill(body, nothing("It takes two classes with a few examples each."));
      return;
    }
    try {
      const answer = await ask();
      if (asked === version) fill(body, show(answer));
    } catch (error) {
      if (asked === version) fill(body, nothing(error.message, error.advice ? ` ${error.advice}` : ""));
    }
  };
  return { element, update };
}

function thumb(example) {
  return button(seen(example), () => look(example), { class: "plain thumb", title: example.text ?? example.name });
}

export const suspects = () => panel("Likely mistakes",
  "Examples that all others together take for another class, the surest first. Look, and move what is wrong.",
  service.suspects,
  ({ suspects: found }) => {
    const list = found.filter((one) => !kept.has(one.id));
    if (!list.length) return nothing("None that stand out.");
    return make("ul", { class: "cards" }, list.slice(0, 24).map((one) => make("li", {},
      thumb(one),
      make("p", {}, faint("is "), one.label, faint(" · looks like "), strong(one.rather)),
      make("div", { class: "row" },
        button(`Move to ${one.rather}`, () => move([one.id], one.rather)),
        button("Keep", (event) => { kept.add(one.id); event.target.closest("li").remove(); }, { class: "quiet" })))));
  });

export const confusions = () => panel("Pairs that it confuses",
  "Classes that are taken for each other. More examples of both help; so does joining two that are one.",
  service.confusions,
  ({ confusions: pairs }) => {
    if (!pairs.length) return nothing("None: every example is taken for what it is.");
    return make("ul", { class: "pairs" }, pairs.slice(0, 12).map(({ labels, n, examples }) => make("li", {},
      make("p", {}, faint(`${counted(n, "example")} between`)),
      make("div", { class: "sides" }, labels.map((label, side) => make("div", {},
        make("p", {}, strong(label)),
        make("div", { class: "thumbs" }, examples[side].map(thumb))))))));
  });

export const needs = () => panel("Which class needs more",
  "How sure the model would be of a new example of each class, and what one more is likely to add.",
  service.classes,
  ({ classes }) => (classes.length ? table(["class", "examples", "sure", "one more adds", "confused with"],
    [...classes].sort((one, other) => one.sure - other.sure).slice(0, 20).map((one) => make("tr", {},
      make("th", { scope: "row" }, one.label),
      make("td", { class: "number" }, one.n),
      make("td", { class: "number" }, bar(one.sure), percent(one.sure)),
      make("td", { class: "number" }, one.one_more_gains > 0 ? `+${(100 * one.one_more_gains).toFixed(1)} %` : "–"),
      make("td", {}, one.confused_with ?? "–")))) : note("Working it out …")));

export const run = (panels) => Promise.all(panels.map((one) => attempt(one.update)));
