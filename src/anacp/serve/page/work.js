// Long work, the page's own and the service's: how far it is, how long it will take, and a button that stops it.

import { bar, button, counted, faint, fill, find, make } from "./dom.js";
import { attempt } from "./messages.js";
import { service } from "./service.js";
import { refresh } from "./state.js";

const own = new Set();
let jobs = [];
let timer = null;
const EVERY = 1000; // milliseconds between two looks at the service's work

// Shows a piece of the page's own work until `end`.
export function begin(what, total) {
  const stopping = new AbortController();
  const task = {
    what, total, done: 0, started: performance.now(), signal: stopping.signal,
    stop: () => stopping.abort(),
    progress: (done) => { task.done = done; show(); },
    end: () => { own.delete(task); show(); },
  };
  own.add(task);
  show();
  return task;
}

function secondsLeft(task) {
  const spent = (performance.now() - task.started) / 1000;
  return task.done ? spent / task.done * (task.total - task.done) : null;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min left`;
  return `${(seconds / 3600).toFixed(1)} h left`;
}

function line({ what, done, total, left, stop, note = "" }) {
  const share = total ? done / total : 0;
  return make("div", { class: "work" },
    make("span", { class: "what" }, what),
    make("progress", { max: total || 1, value: done, "aria-label": what }),
    bar(share),
    faint(`${done.toLocaleString("en")} of ${counted(total, "item")} ${duration(left)} ${note}`),
    stop && button("Stop", stop, { "aria-label": `Stop: ${what}` }));
}

function show() {
  const lines = [...own].map((task) => line({ ...task, left: secondsLeft(task) }));
  for (const job of jobs) {
    const going = job.state === "running" || job.state === "waiting";
    lines.push(line({
      what: job.what, done: job.done, total: job.total, left: going ? job.seconds_left : null,
      note: going ? "" : job.state,
      stop: going && (() => attempt(async () => { await service.stopJob(job.id); await look(); })),
    }));
  }
  const place = find("#work");
  place.hidden = !lines.length;
  fill(place, lines);
}

// Looks at the service's work, again and again while there is some.
export async function look() {
  clearTimeout(timer);
  const before = jobs.length;
  jobs = (await service.jobs()).jobs.filter((job) => job.state === "running" || job.state === "waiting");
  show();
  if (jobs.length) timer = setTimeout(() => look().catch(() => null), EVERY);
  else if (before) await refresh();
}
