// One example looked at: what it is called, where it belongs, and which others are like it.

import { forget, move } from "./changes.js";
import { open } from "./dialogs.js";
import { button, classField, fill, make, percent } from "./dom.js";
import { seen } from "./examples.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";

export function look(example) {
  const { form, field } = classField("Move to class", async (label) => { dialog.close(); await move([example.id], label); });
  form.append(make("button", { class: "main" }, "Move"));
  const alike = make("ul", { class: "alike", "aria-label": "Similar examples" }, make("li", { class: "faint" }, "Looking …"));
  const dialog = open(`An example of ${example.label}`,
    make("div", { class: "looked-at" },
      make("figure", {}, seen(example), example.thumbnail && make("figcaption", { class: "faint" }, example.name)),
      make("div", {}, form, make("p", {}, button("Forget it", async () => { dialog.close(); await forget([example.id]); })))),
    make("h3", {}, "Similar examples"), alike);
  field.blur();
  attempt(async () => {
    const { examples } = await service.similar(example.id);
    fill(alike, examples.map((one) => make("li", {},
      make("button", { type: "button", class: "plain", click: () => { dialog.close(); look(one); } },
        seen(one), make("span", {}, String(one.label)),
        one.similarity !== undefined && make("span", { class: "faint" }, percent(one.similarity))))));
    if (!examples.length) fill(alike, make("li", { class: "faint" }, "There are no others."));
  });
}
