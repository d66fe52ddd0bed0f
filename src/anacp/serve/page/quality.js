// How good it is, without a test set: every example judged by a model that never saw it.

import { panel } from "./advice.js";
import { bar, counted, faint, make, percent, strong, table } from "./dom.js";
import { service } from "./service.js";

export const quality = () => panel("Accuracy",
  "By cross-validation: each example is judged by a model that was not taught it. Nothing is held back.",
  service.accuracy,
  ({ accuracy, n, classes }) => [
    make("p", { class: "figure" }, strong(percent(accuracy)), faint(` of ${counted(n, "example")} named rightly`)),
    table(["class", "examples", "named rightly"],
      [...classes].sort((one, other) => one.accuracy - other.accuracy).map((one) => make("tr", {},
        make("th", { scope: "row" }, one.label),
        make("td", { class: "number" }, one.n),
        make("td", { class: "number" }, bar(one.accuracy), percent(one.accuracy))))),
  ]);
