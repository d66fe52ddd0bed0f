// How good it is, without a test set: every example judged by a model that never saw it.

import { bar, counted, make, percent } from "./dom.js";
import { panel } from "./advice.js";
import { service } from "./service.js";

export const quality = () => panel("Accuracy",
  "By cross-validation: each example is judged by a model that was not taught it. Nothing is held back.",
  service.accuracy,
  ({ accuracy, n, classes }) => [
    make("p", { class: "figure" }, make("strong", {}, percent(accuracy)), make("span", { class: "faint" }, ` of ${counted(n, "example")} named rightly`)),
    make("table", {},
      make("thead", {}, make("tr", {}, ["class", "examples", "named rightly"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, [...classes].sort((one, other) => one.accuracy - other.accuracy).map((one) => make("tr", {},
        make("th", { scope: "row" }, one.label),
        make("td", { class: "number" }, one.n),
        make("td", { class: "number" }, bar(one.accuracy), percent(one.accuracy)))))),
  ]);
