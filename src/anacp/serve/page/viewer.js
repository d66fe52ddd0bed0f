// One example looked at: what it is called, where it belongs, and which others are like it.

import { forget, move } from "./changes.js";
import { open } from "./dialogs.js";
import { button, classField, faint, fill, make, percent } from "./dom.js";
import { seen } from "./examples.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";

export function look(example) {
  const closing = (work) => (given) => { dialog.close(); return work(given); };
  const { form, field } = classField("Move to class", closing((label) => move([example.id], label)));
  form.append(make("button", { class: "main" }, "Move"));
  const alike = make("ul", { class: "alike", "aria-label": "Similar examples" }, make("li", {}, faint("Looking …")));
  const dialog = open(`An example of ${example.label}`,
    make("div", { class: "looked-at" },
      make("figure", {}, seen(example), example.thumbnail && make("figcaption", { class: "faint" }, example.name)),
      make("div", {}, form, make("p", {}, button("Forget it", closing(() => forget([example.id])))))),
    make("h3", {}, "Similar examples"), alike);
  field.blur();
  attempt(async () => {
    const { examples } = await service.similar(example.id);
    fill(alike, examples.map((one) => make("li", {},
      make("button", { type: "button", class: "plain", click: closing(() => look(one)) },
        seen(one), make("span", {}, String(one.label)),
        one.similarity !== undefined && faint(percent(one.similarity))))));
    if (!examples.length) fill(alike, make("li", {}, faint("There are no others.")));
  });
}
