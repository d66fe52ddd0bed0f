// What changes the model: each is one step that can be undone, said when it is done, and looked at at once.

import { confirm, askName } from "./dialogs.js";
import { counted } from "./dom.js";
import { attempt, say } from "./messages.js";
import { service } from "./service.js";
import { refresh, state } from "./state.js";

const takeBack = { words: "Undo", run: () => undo() };

async function change(work, words) {
  return attempt(async () => {
    const answer = await work();
    const said = typeof words === "function" ? words(answer) : words;
    if (said) say(said, takeBack);
    await refresh();
    return answer;
  });
}

export const learned = (answer, label) => {
  const parts = [];
  if (answer.new) parts.push(`${counted(answer.new, "example")} learned as ${label}`);
  if (answer.moved) parts.push(`${counted(answer.moved, "example")} moved to ${label}`);
  if (answer.known) parts.push(`${counted(answer.known, "example")} known already`);
  if (answer.skipped) parts.push(`${counted(answer.skipped, "file")} could not be read`);
  return parts.join(", ");
};

export const move = (ids, label) =>
  change(() => service.relabel(ids, label), `${counted(ids.length, "example")} moved to ${label}`);
export const forget = (ids) => change(() => service.forget(ids), `${counted(ids.length, "example")} forgotten`);

export async function undo(steps = 1) {
  if (state.model?.can_undo) await change(() => service.undo(steps));
}

export async function redo(steps = 1) {
  if (state.model?.can_redo) await change(() => service.redo(steps));
}

export async function rename(label) {
  const name = await askName(`Rename ${label}`, "", { value: label, agree: "Rename", others: false });
  if (name === null || name === String(label)) return null;
  return change(() => service.rename(label, name), `${label} is now called ${name}`);
}

export async function join(label) {
  const words = `All examples of ${label} become examples of the class that you name.`;
  const into = await askName(`Join ${label} with another class`, words, { agree: "Join" });
  if (into === null || into === String(label)) return null;
  return change(() => service.join([label, into], into), `${label} and ${into} are now ${into}`);
}

export async function deleteClass(label, n) {
  const words = `Its ${counted(n, "example")} will be forgotten. This can be undone.`;
  if (!await confirm(`Delete ${label}?`, words, "Delete")) return null;
  return change(() => service.deleteClass(label), `${label} deleted`);
}
