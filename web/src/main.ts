// Where the page starts.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./view/app.ts";

const root = document.getElementById("app");
if (root !== null) void new App(root).run();
