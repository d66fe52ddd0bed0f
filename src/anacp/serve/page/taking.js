// How photos and sentences get in: dropped, pasted, chosen. Folders are walked; what is no picture is left out.

import { make } from "./dom.js";

export const EXAMPLES = "application/x-anacp-examples"; // ids of examples that are dragged
const PICTURE = /\.(jpe?g|png|webp|gif|bmp|tiff?|heic|heif|avif)$/i;

const isPicture = (file) => file.type.startsWith("image/") || PICTURE.test(file.name);

async function walk(entry) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const found = [];
  for (;;) { // a reader gives a hundred at a time, and nothing at the end
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  found.sort((one, other) => (one.name < other.name ? -1 : 1));
  return (await Promise.all(found.map(walk))).flat();
}

// What was dropped, as groups: one of loose files without a name, and one for each folder under its name.
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const loose = [...transfer.files];
  if (!entries.length) return [{ name: null, files: loose.filter(isPicture) }];
  const folders = entries.filter((entry) => entry.isDirectory);
  const files = (await Promise.all(entries.filter((entry) => entry.isFile).map(walk))).flat().filter(isPicture);
  const groups = await Promise.all(folders.map(async (entry) => ({
    name: entry.name, files: (await walk(entry)).filter(isPicture),
  })));
  return [...(files.length ? [{ name: null, files }] : []), ...groups.filter((group) => group.files.length)];
}

export const flat = (groups) => groups.flatMap((group) => group.files);

// The text of a drop or a paste, one content a line.
export function lines(transfer) {
  return transfer.getData("text/plain").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
}

export const pasted = (transfer) => [...transfer.files].filter(isPicture);

// Makes an element take what is dropped on it.
export function takesDrops(element, { files, texts, examples }) {
  const wanted = (transfer) => (examples && transfer.types.includes(EXAMPLES))
    || (files && transfer.types.includes("Files"))
    || (texts && transfer.types.includes("text/plain") && !transfer.types.includes(EXAMPLES));
  let inside = 0;
  const mark = (count) => {
    inside = count;
    element.classList.toggle("over", inside > 0);
  };
  element.addEventListener("dragenter", (event) => {
    if (!wanted(event.dataTransfer)) return;
    event.preventDefault();
    mark(inside + 1);
  });
  element.addEventListener("dragleave", (event) => { if (wanted(event.dataTransfer)) mark(Math.max(0, inside - 1)); });
  element.addEventListener("dragover", (event) => {
    if (!wanted(event.dataTransfer)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = event.dataTransfer.types.includes(EXAMPLES) ? "move" : "copy";
  });
  element.addEventListener("drop", async (event) => {
    const transfer = event.dataTransfer;
    if (!wanted(transfer)) return;
    event.preventDefault();
    event.stopPropagation();
    mark(0);
    if (examples && transfer.types.includes(EXAMPLES)) examples(JSON.parse(transfer.getData(EXAMPLES)));
    else if (files && transfer.types.includes("Files")) files(await dropped(transfer));
    else texts(lines(transfer));
  });
}

// A button that opens the chooser of files.
export function chooser(words, taken, { multiple = true, folder = false, accept = "image/*,.heic,.heif" } = {}) {
  const input = make("input", {
    type: "file", class: "hidden", tabindex: "-1", "aria-hidden": "true", multiple, accept, webkitdirectory: folder,
    change: () => {
      const files = [...input.files].filter((file) => !accept.startsWith("image") || isPicture(file));
      input.value = "";
      if (files.length) taken(files);
    },
  });
  return make("span", { class: "chooser" }, input,
    make("button", { type: "button", click: () => input.click() }, words));
}
