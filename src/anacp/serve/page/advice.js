// What the model makes of its own examples: likely mistakes, pairs that it confuses, classes that need more.

import { move } from "./changes.js";
import { bar, button, counted, fill, make, percent } from "./dom.js";
import { seen } from "./examples.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";
import { state } from "./state.js";
import { look } from "./viewer.js";

const kept = new Set(); // examples whose label a person stands by, until the page is closed

// A part of a view that asks the service for something that may take a while.
export function panel(title, words, ask, show) {
  const body = make("div", {}, make("p", { class: "faint" }, "Working it out …"));
  const element = make("section", { class: "panel" }, make("h3", {}, title), make("p", { class: "faint" }, words), body);
  let version = null;
  const update = async () => {
    if (version === state.model.solved_version) return;
    version = state.model.solved_version;
    const asked = version;
    if (state.model.classes.length < 2) {
      fill(body, make("p", { class: "empty" }, "It takes two classes with a few examples each."));
      return;
    }
    try {
      const answer = await ask();
      if (asked === version) fill(body, show(answer));
    } catch (error) {
      if (asked === version) fill(body, make("p", { class: "empty" }, [error.message, error.advice].filter(Boolean).join(" ")));
    }
  };
  return { element, update };
}

const thumb = (example) => make("button", { type: "button", class: "plain thumb", title: example.text ?? example.name, click: () => look(example) }, seen(example));

export const suspects = () => panel("Likely mistakes",
  "Examples that the others of their class speak against. Look, and move what is wrong.",
  service.suspects,
  ({ suspects: found }) => {
    const list = found.filter((one) => !kept.has(one.id));
    if (!list.length) return make("p", { class: "empty" }, "None that stand out.");
    return make("ul", { class: "cards" }, list.slice(0, 24).map((one) => make("li", {},
      thumb(one),
      make("p", {}, make("span", { class: "faint" }, "is "), one.label, make("span", { class: "faint" }, " · looks like "), make("strong", {}, one.likely),
        make("span", { class: "faint" }, ` ${percent(one.probability)}`)),
      make("div", { class: "row" },
        button(`Move to ${one.likely}`, () => move([one.id], one.likely)),
        button("Keep", (event) => { kept.add(one.id); event.target.closest("li").remove(); }, { class: "quiet" })))));
  });

export const confusions = () => panel("Pairs that it confuses",
  "What one class is most often taken for. More examples of the kind shown here help; so does joining two that are one.",
  service.confusions,
  ({ pairs }) => {
    if (!pairs.length) return make("p", { class: "empty" }, "None: every example is closest to its own class.");
    return make("ul", { class: "pairs" }, pairs.slice(0, 12).map((pair) => make("li", {},
      make("p", {}, make("strong", {}, pair.label), make("span", { class: "faint" }, " taken for "), make("strong", {}, pair.taken_for),
        make("span", { class: "faint" }, ` ${pair.n} of ${counted(pair.of, "example")}`)),
      make("div", { class: "sides" },
        make("div", {}, pair.examples.slice(0, 4).map(thumb)),
        make("div", {}, pair.others.slice(0, 4).map(thumb))))));
  });

export const needs = () => panel("Which class needs more",
  "How sure the model would be of a new example of each class, the least sure first, and what one more example is likely to add.",
  service.classes,
  ({ classes }) => {
    const list = [...classes].sort((one, other) => one.sure - other.sure).slice(0, 20);
    return make("table", {},
      make("thead", {}, make("tr", {}, ["class", "examples", "sure", "one more adds", "confused with"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, list.map((one) => make("tr", {},
        make("th", { scope: "row" }, make("a", { href: "#teach", "data-class": one.label }, one.label)),
        make("td", { class: "number" }, one.n),
        make("td", { class: "number" }, bar(one.sure), percent(one.sure)),
        make("td", { class: "number" }, one.one_more_gains > 0 ? `+${(100 * one.one_more_gains).toFixed(1)} %` : "–"),
        make("td", {}, one.confused_with ?? "–")))));
  });

export const run = (panels) => Promise.all(panels.map((one) => attempt(one.update)));
