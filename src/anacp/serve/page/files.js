// What leaves and what comes in: the model, its ONNX graph, a report; another model, looked at before it is merged.

import { button, counted, faint, fill, make, note } from "./dom.js";
import { attempt, say } from "./messages.js";
import { service } from "./service.js";
import { refresh, settled } from "./state.js";
import { chooser } from "./taking.js";

const WAYS = [
  ["model", "Model", "One file with everything that was learned. `anacp predict`, Python and this page open it."],
  ["onnx", "ONNX", "One graph from photo or sentence to probabilities, for other programs and languages."],
  ["report", "Report", "A page with accuracy, mistakes and classes, to keep or send."],
];

async function save(as, pressed) {
  pressed.disabled = true;
  await attempt(async () => {
    await settled();
    const answer = await service.export(as);
    const name = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? `model.${as}`;
    const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    say(`${name} is in your downloads`);
  });
  pressed.disabled = false;
}

export function exports() {
  return make("section", { class: "panel" }, make("h3", {}, "Take it with you"),
    make("ul", { class: "ways-out" }, WAYS.map(([as, name, words]) => make("li", {},
      button(name, (event) => save(as, event.currentTarget), { "aria-label": `Save: ${name}` }), faint(words)))));
}

export function imports() {
  const preview = make("div", { "aria-live": "polite" });
  const take = ([file]) => attempt(async () => {
    fill(preview, note(`Looking at ${file.name} …`));
    try {
      show(preview, file.name, await service.previewImport(file));
    } catch (error) {
      fill(preview);
      throw error;
    }
  });
  return make("section", { class: "panel" }, make("h3", {}, "Merge another model"),
    note("A model of the same kind, taught elsewhere. You see first what it brings, and a merge can be undone."),
    make("div", { class: "ways" }, chooser("Choose a model", take, { multiple: false, accept: ".anacp" })), preview);
}

function names(labels) {
  const more = labels.length > 12 ? ` and ${labels.length - 12} more` : "";
  return labels.slice(0, 12).join(", ") + more || "none";
}

function show(place, name, found) {
  const fact = (what, value) => [make("dt", {}, what), make("dd", {}, value)];
  fill(place, make("h4", {}, `What ${name} brings`),
    make("dl", {},
      fact("new classes", names(found.classes_new)),
      fact("classes here too", names(found.classes_shared)),
      fact("new examples", found.examples_new),
      fact("examples here too", found.examples_shared)),
    make("p", { class: "row" },
      button("Merge", () => attempt(async () => {
        await service.import(found.token);
        fill(place);
        say(`${counted(found.examples_new, "example")} merged from ${name}`);
        await refresh();
      }), { class: "main" }),
      button("Leave it", () => fill(place), { class: "quiet" })));
}
