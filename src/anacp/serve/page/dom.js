// Elements by hand. Whatever comes from outside becomes text or the value of an attribute, never markup.

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

// `append` makes text nodes of strings.
function present(children) {
  return children.flat().filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

export function fill(element, ...children) {
  element.replaceChildren(...present(children));
  return element;
}

export function find(selector, within = document) {
  return within.querySelector(selector);
}

export function button(words, click, properties = {}) {
  return make("button", { type: "button", click, ...properties }, words);
}

export const faint = (...words) => make("span", { class: "faint" }, ...words);
export const note = (...words) => make("p", { class: "faint" }, ...words);
export const nothing = (...words) => make("p", { class: "empty" }, ...words);
export const strong = (...words) => make("strong", {}, ...words);

export function table(columns, rows) {
  return make("table", {},
    make("thead", {}, make("tr", {}, columns.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, rows));
}

// A field for the name of a class, old or new; `chosen` gets what was typed.
export function classField(words, chosen, properties = {}) {
  const field = make("input", {
    type: "text", list: "class-names", autocomplete: "off", maxlength: 200, placeholder: words, "aria-label": words,
    ...properties,
  });
  const form = make("form", {
    class: "row",
    submit: (event) => {
      event.preventDefault();
      const name = field.value.trim();
      if (!name) return field.focus();
      field.value = "";
      return chosen(name);
    },
  }, field);
  return { form, field };
}

// A share as a bar with its number: the number says it, the bar only shows it.
export function bar(share, properties = {}) {
  const inner = make("span", { class: "share" });
  inner.style.setProperty("--share", Math.max(0, Math.min(1, share)));
  return make("span", { ...properties, class: `bar ${properties.class ?? ""}`, "aria-hidden": "true" }, inner);
}

export function percent(share) {
  if (share > 0.995 && share < 1) return "> 99 %";
  if (share < 0.005 && share > 0) return "< 1 %";
  return `${Math.round(100 * share)} %`;
}

export function counted(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

export function isEditable(element) {
  return element instanceof HTMLTextAreaElement
    || (element instanceof HTMLInputElement && ["text", "search", "password"].includes(element.type));
}
