// Where the page starts.

import "uplot/dist/uPlot.min.css";
import "./style/theme.css";
import "./style/elements.css";
import "./style/toolbar.css";
import "./style/picker.css";
import "./style/charts.css";
import "./style/legend.css";
import "./style/notes.css";
import "./style/start.css";
import "./style/dialog.css";
import { App } from "./view/app.ts";

const root = document.getElementById("app");
if (root !== null) void new App(root).run();
