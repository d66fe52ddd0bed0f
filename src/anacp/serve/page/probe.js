// The question: a photo or a sentence, and what the model says of it now, after every change anew.

import { hasCamera, photograph } from "./camera.js";
import { bar, button, classField, faint, fill, find, make, note, percent, strong } from "./dom.js";
import { attempt, complain } from "./messages.js";
import { service } from "./service.js";
import { ofTexts, state } from "./state.js";
import { chooser, flat, takesDrops } from "./taking.js";
import { teach } from "./uploads.js";

const PAUSE = 120; // milliseconds of typing before a sentence is asked
let content = null;
let parts = null;
let asking = null;
let timer = null;

export function showProbe() {
  const place = find("#ask");
  const answer = make("div", { class: "answer", id: "answer", role: "status", "aria-live": "polite" });
  const learn = (label) => content && teach([content], label);
  const { form, field } = classField("What is it? Teach it", learn, { id: "teach-probe" });
  form.append(make("button", {}, "Teach"));
  form.hidden = true;
  const picture = make("img", { alt: "The photo that is asked about", hidden: true });
  parts = { answer, form, picture, field };
  fill(place, make("h2", { id: "ask-title" }, "Ask"), ofTexts() ? sentence() : photo(picture), answer, form);
  told();
}

function sentence() {
  const field = make("textarea", {
    id: "probe", rows: "2", placeholder: "Type a sentence", "aria-label": "The sentence to be named",
    input: () => {
      clearTimeout(timer);
      timer = setTimeout(() => ask(field.value.trim() || null), PAUSE);
    },
  });
  return field;
}

function photo(picture) {
  const choose = chooser("Choose a photo", ([file]) => ask(file), { multiple: false });
  choose.lastElementChild.id = "probe";
  const area = make("div", { class: "probe" }, picture,
    note("Drop or paste a photo here to see what the model takes it for."),
    make("div", { class: "ways" }, choose,
      hasCamera() && button("Camera", () => photograph("A photo to ask about", ask, { many: false }))));
  takesDrops(find("#ask"), { files: (groups) => { const [file] = flat(groups); if (file) ask(file); } });
  return area;
}

// Asks about something else, or with the same again.
export function ask(about = content) {
  if (about !== content && parts.picture.src) URL.revokeObjectURL(parts.picture.src);
  if (about instanceof Blob && about !== content) parts.picture.src = URL.createObjectURL(about);
  parts.picture.hidden = !(about instanceof Blob);
  content = about;
  return again();
}

// One question at a time is under way; a newer one takes its place.
export async function again() {
  asking?.abort();
  if (!parts || content === null || !state.model?.classes.length) return told();
  const own = new AbortController();
  asking = own;
  parts.answer.classList.add("asking");
  try {
    let found = { version: state.model.version, settled: false };
    for (const early of [true, false]) {
      if (found.settled) break;
      found = await service.predict([content], found.version, early, { signal: own.signal });
      if (asking !== own) break;
      told(found.answers[0], found.version);
      parts.answer.classList.toggle("early", !found.settled);
    }
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    told();
    if (error.code !== "nothing_learned") complain(error); // everything was undone meanwhile
  }
  return undefined;
}

function told(answer = null, version = null) {
  if (!parts) return;
  const { answer: place, form } = parts;
  place.classList.remove("asking", "early");
  form.hidden = content === null;
  if (version !== null) place.dataset.version = version;
  if (!answer) {
    const words = state.model?.classes.length ? "" : "Nothing has been learned yet.";
    fill(place, note(words));
    return;
  }
  const best = answer.top[0];
  const rows = answer.top.map(({ label, probability }) => make("li", { class: answer.unknown ? "doubted" : "" },
    make("span", { class: "name" }, label), bar(probability ?? 0),
    make("span", { class: "number" }, probability === null ? "…" : percent(probability))));
  fill(place, headline(answer, best), make("ol", { class: "chances", "aria-label": "Probabilities" }, rows));
}

function headline({ unknown, probability }, best) {
  const says = (kind, word, ...more) => make("p", { class: `verdict ${kind}` }, strong(word), ...more);
  if (unknown) return says("unknown", "unknown", faint("none of the classes; most like"));
  if (probability === null) return says("early", best.label, faint("is likeliest; how likely is being worked out"));
  return says("", best.label, make("span", {}, percent(probability)));
}

export function focusProbe() {
  find("#probe")?.focus();
}

// What is pasted outside of a class and of a field is a question.
export function pasteProbe(files) {
  if (files.length) attempt(() => ask(files[0]));
}
