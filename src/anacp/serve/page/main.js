// The page: which view is shown, what the keys do, and what follows when the model changes.

import { confusions, needs, run, suspects } from "./advice.js";
import { redo, undo } from "./changes.js";
import { showClasses, update as updateClasses } from "./classes.js";
import { askToken, isOpen, showKeys } from "./dialogs.js";
import { counted, fill, find, isEditable, make } from "./dom.js";
import { exports, imports } from "./files.js";
import { updateHistory } from "./history.js";
import { attempt, complain } from "./messages.js";
import { pileSection, updatePile } from "./pile.js";
import { again, focusProbe, pasteProbe, showProbe } from "./probe.js";
import { quality } from "./quality.js";
import { selection } from "./selection.js";
import { follow, whenRefused } from "./service.js";
import { disconnected, ofTexts, reached, refresh, state, whenChanged } from "./state.js";
import { pasted } from "./taking.js";
import { goOn } from "./uploads.js";
import { look as lookAtWork } from "./work.js";

let panels = [];
const shown = { view: null, version: null, solved: null };

const VIEWS = {
  teach: showClasses,
  next: (place) => showPanels(place, "What to do next", [pileSection()], [needs(), suspects(), confusions()]),
  quality: (place) => showPanels(place, "How good it is", [], [quality(), confusions()]),
  files: (place) => showPanels(place, "Files", [exports(), imports()], []),
};

function showPanels(place, title, fixed, made) {
  panels = made;
  place.append(make("h2", {}, title), ...fixed, ...made.map((one) => one.element));
  run(panels);
}

function showView() {
  const name = location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "teach";
  if (name === shown.view) return;
  shown.view = name;
  panels = [];
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const place = find("#view");
  place.scrollTop = 0;
  VIEWS[name](fill(place));
}

function showFacts() {
  const { model, connected } = state;
  const name = model.name.replace(/\.anacp$/, "");
  document.title = `${name} · anacp`;
  find("#model-name").textContent = name;
  const facts = `${counted(model.classes.length, "class", "classes")} · ${counted(model.n_examples, "example")}`;
  find("#model-facts").textContent = connected ? facts : "Not connected. Trying again …";
  document.body.classList.toggle("lost", !connected);
  find("#problem").hidden = !model.problem;
  find("#problem").textContent = model.problem ?? "";
  find("#undo").disabled = !model.can_undo;
  find("#redo").disabled = !model.can_redo;
  fill(find("#class-names"), model.classes.map(({ label }) => make("option", { value: label })));
}

function changed() {
  showFacts();
  const { version, solved_version: solved } = state.model;
  if (version !== shown.version) {
    again();
    updateHistory();
    updateClasses();
  }
  if (solved !== shown.solved) {
    run(panels);
    if (shown.view === "next") updatePile();
  }
  Object.assign(shown, { version, solved });
}

// At once: the next key may be the first letter of what is typed there.
function focusIn(field) {
  location.hash = "#teach";
  showView();
  find(field).focus();
}

const KEYS = {
  "?": showKeys,
  n: () => focusIn("#new-class"),
  a: focusProbe,
  "/": () => focusIn("#find-class"),
  m: () => selection.ask(),
  Delete: () => selection.forget(),
  Escape: () => selection.clear(),
};

function pressed(event) {
  const typing = isEditable(event.target);
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    if (isOpen() || (typing && event.target.value)) return; // text in a field is undone by the field
    event.preventDefault();
    (event.shiftKey ? redo : undo)();
  } else if (event.key === "Escape" && typing && !isOpen()) {
    event.target.blur();
    selection.clear();
  } else if (!typing && !isOpen() && !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

async function start() {
  whenRefused(askToken);
  await refresh();
  showProbe();
  showView();
  whenChanged(changed);
  changed();
  find("#undo").addEventListener("click", () => undo());
  find("#redo").addEventListener("click", () => redo());
  find("#keys").addEventListener("click", showKeys);
  addEventListener("hashchange", showView);
  addEventListener("keydown", pressed);
  addEventListener("paste", (event) => {
    if (event.defaultPrevented || ofTexts() || isEditable(event.target)) return;
    pasteProbe(pasted(event.clipboardData));
  });
  // A file that misses every target must not take the place of the page.
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
  follow((versions) => attempt(() => reached(versions)), disconnected);
  lookAtWork().catch(() => null);
  goOn().catch(complain);
}

start().catch(complain);
