// What is still to be sent, kept by the browser: after a reload, or in a tab opened later, it goes on where it was.

const PIECES = "pieces";
let opening = null;

function opened() {
  opening ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open("anacp", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(PIECES, { keyPath: ["upload", "place"] });
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  return opening;
}

async function within(mode, work) {
  const transaction = (await opened()).transaction(PIECES, mode);
  const asked = work(transaction.objectStore(PIECES));
  await new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
  return asked?.result;
}

// Keeps one piece of an upload to a model; no room in the browser is not an error, it only will not go on by itself.
export const keep = (piece) => within("readwrite", (pieces) => pieces.put(piece)).then(() => true, () => false);

export const sent = (upload, place) =>
  within("readwrite", (pieces) => pieces.delete([upload, place])).catch(() => null);

export const dropped = (upload) =>
  within("readwrite", (pieces) => pieces.delete(IDBKeyRange.bound([upload, 0], [upload, Infinity]))).catch(() => null);

// What waits for a model, as uploads of pieces in order.
export async function waiting(model) {
  const uploads = new Map();
  for (const piece of await within("readonly", (pieces) => pieces.getAll()).catch(() => [])) {
    if (piece.model !== model) continue;
    if (!uploads.has(piece.upload)) uploads.set(piece.upload, []);
    uploads.get(piece.upload).push(piece);
  }
  return [...uploads.values()];
}

// Does a piece of work that no other tab does at the same time; where browsers cannot tell, it is done.
export function alone(upload, work) {
  if (!navigator.locks) return work();
  return navigator.locks.request(`anacp-${upload}`, { ifAvailable: true }, (lock) => (lock ? work() : null));
}
