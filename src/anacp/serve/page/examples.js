// Examples as a list that mouse, finger and keys go through: one stop for Tab, arrows within.

import { make } from "./dom.js";
import { selection } from "./selection.js";
import { picture } from "./service.js";
import { EXAMPLES } from "./taking.js";

// What an example is to the eye: its picture, or its sentence.
export function seen(example) {
  if (!example.thumbnail) return make("span", { class: "sentence" }, example.text ?? example.name);
  const image = make("img", { alt: example.name || "photo", loading: "lazy", draggable: "false" });
  picture(example.thumbnail.replace(/^\//, "")).then((source) => { image.src = source; }, () => null);
  return image;
}

function shown(example) {
  const element = make("li", {
    class: "example", role: "option", tabindex: "-1", draggable: "true", "aria-selected": selection.has(example.id),
    "data-id": example.id, title: example.text ?? example.name,
  }, seen(example), make("span", { class: "tick", "aria-hidden": "true" }));
  element.example = example;
  return element;
}

// A list of examples; `opened(example)` is called for the one to be looked at.
export class ExampleList {
  constructor(words, opened) {
    this.opened = opened;
    this.anchor = null;
    this.element = make("ul", {
      class: "examples", role: "listbox", "aria-multiselectable": "true", "aria-label": words,
      click: (event) => this.clicked(event),
      keydown: (event) => this.pressed(event),
      dragstart: (event) => this.dragged(event),
      focusin: (event) => this.stopAt(event.target.closest(".example")),
    });
  }

  get items() {
    return [...this.element.children];
  }

  // Shows these; elements of examples that stay are kept, with the focus that they may have.
  show(examples) {
    const old = new Map(this.items.map((item) => [item.dataset.id, item]));
    const had = this.items.findIndex((item) => item === document.activeElement);
    const items = examples.map((example) => {
      const kept = old.get(String(example.id));
      if (!kept) return shown(example);
      kept.example = example;
      return kept;
    });
    for (const item of old.values()) if (!items.includes(item)) item.remove();
    items.forEach((item, at) => {
      if (this.element.children[at] !== item) this.element.insertBefore(item, this.element.children[at] ?? null);
    });
    if (had >= 0 && !items.includes(document.activeElement)) items[Math.min(had, items.length - 1)]?.focus();
    if (!items.some((item) => item.tabIndex === 0) && items.length) items[0].tabIndex = 0;
    this.mark();
  }

  mark() {
    for (const item of this.items) item.setAttribute("aria-selected", selection.has(item.example.id));
  }

  stopAt(item) {
    if (!item) return;
    for (const other of this.items) other.tabIndex = other === item ? 0 : -1;
  }

  clicked(event) {
    const item = event.target.closest(".example");
    if (!item) return;
    item.focus();
    if (event.shiftKey && this.anchor) this.selectTo(item);
    else if (event.ctrlKey || event.metaKey || event.target.closest(".tick") || selection.size) this.toggle(item);
    else this.opened(item.example);
  }

  toggle(item) {
    this.anchor = item;
    selection.toggle(item.example);
  }

  selectTo(item) {
    const items = this.items;
    const [first, last] = [items.indexOf(this.anchor), items.indexOf(item)].sort((one, other) => one - other);
    selection.add(items.slice(Math.max(0, first), last + 1).map((one) => one.example));
  }

  pressed(event) {
    const item = event.target.closest(".example");
    if (!item || event.altKey) return;
    const items = this.items;
    const at = items.indexOf(item);
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -at, End: items.length - 1 - at };
    const to = items[at + steps[event.key]];
    if (to) {
      to.focus();
      if (event.shiftKey) { this.anchor ??= item; this.selectTo(to); }
    } else if (event.key === " ") this.toggle(item);
    else if (event.key === "Enter") this.opened(item.example);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) selection.add(items.map((one) => one.example));
    else if (event.key === "Delete") selection.forget(item.example);
    else if (event.key === "m" && !event.ctrlKey) selection.ask(item.example);
    else return;
    event.preventDefault();
  }

  dragged(event) {
    const item = event.target.closest(".example");
    if (!item) return;
    const ids = selection.has(item.example.id) ? selection.ids : [item.example.id];
    event.dataTransfer.setData(EXAMPLES, JSON.stringify(ids));
    event.dataTransfer.effectAllowed = "move";
  }
}
