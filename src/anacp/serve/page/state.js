// What the page knows of the model. A version is looked at once, whoever made it.

import { service } from "./service.js";

export const state = { model: null, connected: true };
const listeners = new Set();
let looking = null;
let wanted = false;

export function whenChanged(listener) {
  listeners.add(listener);
}

function announce() {
  for (const listener of listeners) listener(state);
}

export const ofTexts = () => state.model?.modality?.startsWith("text");
export const known = (label) => state.model.classes.some((one) => one.label === label);

// Looks at the model as it is now. Calls that come while one is under way get one more look, together.
export function refresh() {
  wanted = true;
  looking ??= (async () => {
    try {
      while (wanted) {
        wanted = false;
        state.model = await service.model();
        state.connected = true;
        announce();
      }
    } finally {
      looking = null;
    }
  })();
  return looking;
}

// Versions that the service came to: the page's own changes were looked at already.
export function reached({ version, solved_version: solved }) {
  const { connected, model } = state;
  return connected && version === model.version && solved === model.solved_version ? null : refresh();
}

// Resolves once everything that was taught so far is in what the service answers.
export async function settled() {
  const { version } = state.model;
  while (state.model.solved_version < version) {
    let next = null;
    await new Promise((resume) => { next = resume; listeners.add(next); });
    listeners.delete(next);
  }
}

export function disconnected() {
  if (!state.connected) return;
  state.connected = false;
  announce();
}
