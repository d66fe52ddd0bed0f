// Long work, the page's own and the service's: how far it is, how long it will take, and a button that stops it.

import { bar, button, counted, faint, fill, find, make } from "./dom.js";
import { attempt, complain } from "./messages.js";
import { service } from "./service.js";

const own = new Set();
let jobs = [];
let timer = null;
const EVERY = 1000; // milliseconds between two looks at the service's work

// Shows a piece of the page's own work until `end`.
export function begin(what, total) {
  const task = {
    what, total, done: 0, started: performance.now(), stopped: false,
    stop: () => { task.stopped = true; },
    progress: (done) => { task.done = done; show(); },
    waits: (problem) => { if (task.problem !== problem) { task.problem = problem; show(); } },
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

function line({ what, done, total, left, stop, problem }) {
  const share = total ? done / total : 0;
  return make("div", { class: "work" },
    make("span", { class: "what" }, what),
    make("progress", { max: total || 1, value: done, "aria-label": what }),
    bar(share),
    faint(`${done.toLocaleString("en")} of ${counted(total, "item")} ${problem ? "" : duration(left)}`),
    problem && make("span", { class: "waits", role: "status" }, `It waits, and goes on by itself: ${problem}`),
    stop && button("Stop", stop, { "aria-label": `Stop: ${what}` }));
}

function show() {
  const lines = [...own].map((task) => line({ ...task, left: secondsLeft(task) }));
  for (const job of jobs) {
    const stop = () => attempt(async () => { await service.stopJob(job.id); await look(); });
    lines.push(line({ ...job, left: job.seconds_left, stop }));
  }
  const place = find("#work");
  place.hidden = !lines.length;
  fill(place, lines);
}

// Looks at the service's work, again and again while there is some.
export async function look() {
  clearTimeout(timer);
  const before = new Set(jobs.map((job) => job.id));
  const all = (await service.jobs()).jobs;
  jobs = all.filter((job) => job.state === "running");
  show();
  for (const job of all) if (job.state === "failed" && before.has(job.id)) complain(new Error(job.problem));
  if (jobs.length) timer = setTimeout(() => look().catch(() => null), EVERY);
}
