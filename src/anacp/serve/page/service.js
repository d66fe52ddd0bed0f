// Every request that the page makes, and the stream of versions that it follows.

export class ServiceError extends Error {
  constructor(status, { code = "failed", message = `The service answered ${status}.`, advice = "" } = {}) {
    super(message);
    this.name = "ServiceError";
    this.status = status;
    this.code = code;
    this.advice = advice;
  }
}

const TOKEN = "anacp-token";
let askForToken = null;
let asking = null;

// What asks a person for the token, where the service wants one.
export function whenRefused(ask) {
  askForToken = ask;
}

function headers(more = {}) {
  const token = sessionStorage.getItem(TOKEN);
  return { "X-Anacp": "1", ...(token ? { Authorization: `Bearer ${token}` } : {}), ...more };
}

// Asks for another token than the one that was refused, once for all requests that wait for it.
function token(refused) {
  if (headers().Authorization !== refused) return null; // it came meanwhile
  asking ??= askForToken(Boolean(refused)).then((given) => {
    sessionStorage.setItem(TOKEN, given);
    asking = null;
  });
  return asking;
}

// What comes over the line. One that breaks, even in the middle of an answer, means that the service is gone.
async function received(coming) {
  try {
    return await coming;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(0, { message: "The service does not answer.", advice: "Is `anacp serve` still running?" });
  }
}

async function request(path, options = {}) {
  const answer = await received(fetch(path, { ...options, headers: headers(options.headers) }));
  if (answer.status === 401 && askForToken) {
    await token(headers().Authorization);
    return request(path, options);
  }
  if (!answer.ok) {
    const body = await answer.json().catch(() => ({}));
    throw new ServiceError(answer.status, body.error);
  }
  return answer;
}

async function get(path, options) {
  return received((await request(path, options)).json());
}

async function post(path, body = {}, options = {}) {
  const form = body instanceof FormData;
  const sent = form ? { body } : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return received((await request(path, { method: "POST", ...sent, ...options })).json());
}

// Photos go as files, sentences as JSON: `contents` is a list of either.
function body(contents, more = {}) {
  if (!(contents[0] instanceof Blob)) return { texts: contents, ...more };
  const form = new FormData();
  for (const file of contents) form.append("files", file, file.name || "photo.jpg");
  for (const [name, value] of Object.entries(more)) form.append(name, value);
  return form;
}

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined));

export const service = {
  model: () => get("v1/model"),
  learn: (contents, label) => post("v1/learn?on_error=skip", body(contents, { label })),
  // What a version says, or a later one: the service waits until it can. Early, it says which labels are likelier as
  // soon as it knows, without probabilities if these take longer (`settled` is false).
  predict: (contents, after, early, options) =>
    post(`v1/predict?k=5&unknown=1&after=${after}&early=${early ? 1 : 0}`, body(contents), options),
  forget: (ids) => post("v1/forget", { ids }),
  relabel: (ids, label) => post("v1/relabel", { ids, label }),
  rename: (old, name) => post("v1/classes/rename", { old, new: name }),
  join: (labels, into) => post("v1/classes/join", { labels, into }),
  deleteClass: (label) => post("v1/classes/delete", { label }),
  classes: (options) => get("v1/classes", options),
  examples: (label, offset, limit) => get(`v1/examples?${query({ label, offset, limit })}`),
  similar: (id) => get(`v1/examples/${encodeURIComponent(id)}/similar?k=8`),
  history: (limit) => get(`v1/history?limit=${limit}`),
  undo: (steps = 1) => post("v1/undo", { steps }),
  redo: (steps = 1) => post("v1/redo", { steps }),
  pile: (limit) => get(`v1/pile?limit=${limit}`),
  addToPile: (contents) => post("v1/pile", body(contents)),
  labelOfPile: (id, label) => post(`v1/pile/${encodeURIComponent(id)}/label`, { label }),
  dropFromPile: (id) => get(`v1/pile/${encodeURIComponent(id)}`, { method: "DELETE" }),
  suspects: (options) => get("v1/suspects", options),
  confusions: (options) => get("v1/confusions", options),
  accuracy: (options) => get("v1/accuracy", options),
  jobs: () => get("v1/jobs"),
  stopJob: (id) => post(`v1/jobs/${encodeURIComponent(id)}/stop`),
  export: (as) => request(`v1/export?as=${as}`),
  previewImport: (file) => post("v1/import/preview", body([file])),
  import: (token) => post("v1/import", { token }),
};

// A picture of the service as an address that an <img> can have.
export async function picture(path) {
  if (!sessionStorage.getItem(TOKEN)) return path;
  return URL.createObjectURL(await (await request(path)).blob());
}

// Calls `told` with every version that the service comes to, for ever; `lost` when the line is down.
export async function follow(told, lost) {
  for (let wait = 500; ; wait = Math.min(8000, 2 * wait)) {
    try {
      const answer = await request("v1/events", { headers: { Accept: "text/event-stream" } });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let left = "";
      for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
        wait = 500;
        const lines = (left + value).split(/\r?\n/);
        left = lines.pop();
        for (const line of lines) if (line.startsWith("data:")) told(JSON.parse(line.slice(5)));
      }
    } catch (error) {
      if (error.status && error.status !== 0) wait = 8000;
    }
    lost();
    await new Promise((resume) => setTimeout(resume, wait));
  }
}
