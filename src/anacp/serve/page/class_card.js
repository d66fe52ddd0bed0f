// One class: its name, its examples, and every way to give it more.

import { hasCamera, photograph } from "./camera.js";
import { deleteClass, join, move, rename } from "./changes.js";
import { button, counted, fill, make } from "./dom.js";
import { ExampleList } from "./examples.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";
import { ofTexts } from "./state.js";
import { chooser, flat, lines, pasted, takesDrops } from "./taking.js";
import { teach } from "./uploads.js";
import { look } from "./viewer.js";

const FEW = 12; // examples that a card shows before it is asked for more
const MORE = 60;

// A field that learns a sentence at Enter, and every line of what is pasted.
function sentenceField(label, taken) {
  const field = make("input", {
    type: "text", placeholder: "A sentence, then Enter", "aria-label": `A sentence for ${label}`, autocomplete: "off",
    keydown: (event) => {
      const text = field.value.trim();
      if (event.key !== "Enter" || !text) return;
      field.value = "";
      taken([text]);
    },
    paste: (event) => {
      const many = lines(event.clipboardData);
      if (many.length < 2) return;
      event.preventDefault();
      taken(many);
    },
  });
  return field;
}

export class ClassCard {
  constructor(label, observer) {
    this.label = label;
    this.n = 0;
    this.limit = FEW;
    this.isNear = false; // whether it is near what is seen: only then its examples are asked for
    this.asked = null; // the version whose examples it shows
    this.count = make("span", { class: "faint" });
    this.list = new ExampleList(`Examples of ${label}`, look);
    this.more = button("", () => this.showMore(), { class: "quiet more", hidden: true });
    this.elsewhere = make("p", { class: "faint", hidden: true });
    this.empty = make("p", { class: "faint empty" });
    this.waiting = make("ul", { class: "examples waiting", "aria-hidden": "true" });
    this.element = make("article", { class: "class", "aria-label": label, "data-label": label, tabindex: "-1" },
      make("div", { class: "head" }, make("h3", {}, label), this.count, this.menu()),
      this.list.element, this.waiting, this.empty, this.more, this.elsewhere, this.ways());
    this.element.card = this;
    takesDrops(this.element, {
      files: ofTexts() ? null : (groups) => this.teach(flat(groups)),
      texts: ofTexts() ? (all) => this.teach(all) : null,
      examples: (ids) => move(ids, this.label),
    });
    this.element.addEventListener("paste", (event) => this.paste(event));
    observer.observe(this.element);
  }

  menu() {
    const item = (words, run) => button(words, () => { details.open = false; run(); });
    const left = (event) => { if (!details.contains(event.relatedTarget)) details.open = false; };
    const details = make("details", { class: "menu", focusout: left },
      make("summary", { "aria-label": `More for ${this.label}` }, "⋯"),
      make("div", {},
        item("Rename …", () => rename(this.label)),
        item("Join with …", () => join(this.label)),
        item("Delete …", () => deleteClass(this.label, this.n))));
    details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !details.open) return;
      event.stopPropagation();
      details.open = false;
      details.firstElementChild.focus();
    });
    return details;
  }

  ways() {
    if (ofTexts()) return make("div", { class: "ways" }, sentenceField(this.label, (all) => this.teach(all)));
    const choose = chooser("Add photos", (files) => this.teach(files));
    choose.lastElementChild.setAttribute("aria-label", `Add photos to ${this.label}`);
    const camera = () => photograph(`Photos of ${this.label}`, (file) => this.teach([file]));
    return make("div", { class: "ways" }, choose,
      hasCamera() && button("Camera", camera, { "aria-label": `Camera for ${this.label}` }));
  }

  // Where the keyboard is put when the class was just made.
  focus() {
    (this.element.querySelector(".ways input:not(.hidden)") ?? this.element.querySelector(".ways button")).focus();
  }

  paste(event) {
    const files = pasted(event.clipboardData);
    if (ofTexts() || !files.length) return;
    event.preventDefault();
    event.stopPropagation();
    this.teach(files);
  }

  async teach(contents) {
    if (!contents.length) return;
    const shown = contents.slice(0, FEW).map((one) => {
      if (!(one instanceof Blob)) return make("li", { class: "example" }, make("span", { class: "sentence" }, one));
      const image = make("img", { alt: "" });
      image.src = URL.createObjectURL(one);
      image.onload = image.onerror = () => URL.revokeObjectURL(image.src);
      return make("li", { class: "example" }, image);
    });
    this.waiting.append(...shown);
    this.empty.hidden = true;
    await teach(contents, this.label);
    await this.load();
    for (const one of shown) one.remove();
    this.told();
  }

  // A version was reached in which the class has n examples.
  update(n, version) {
    this.n = n;
    this.version = version;
    this.told();
    if (this.isNear) attempt(() => this.load());
  }

  told() {
    this.count.textContent = this.n ? this.n.toLocaleString("en") : "new";
    this.count.setAttribute("aria-label", counted(this.n, "example"));
    this.empty.hidden = this.n > 0 || this.waiting.children.length > 0;
    this.empty.textContent = ofTexts() ? "Type its first sentence." : "Drop its first photo here.";
  }

  near(isNear) {
    this.isNear = isNear;
    if (isNear) attempt(() => this.load());
  }

  showMore() {
    this.limit += MORE;
    return attempt(() => this.load(true));
  }

  async load(again = false) {
    if (!this.n || (this.asked === this.version && !again)) return;
    const version = this.version;
    this.asked = version;
    const { examples, total } = await service.examples(this.label, 0, this.limit);
    if (this.version !== version && this.asked !== version) return; // a later look is under way
    this.list.show(examples);
    const left = total - examples.length;
    const unseen = this.n - total;
    this.elsewhere.hidden = unseen <= 0;
    this.elsewhere.textContent = `${counted(unseen, "example")} learned elsewhere: counted, not shown.`;
    this.more.hidden = left <= 0;
    fill(this.more, `${counted(left, "more", "more")}`);
  }
}
