// Draws the charts in the colours of the page, keeps their times together, and shows what is picked.
"use strict";

const system = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const toggle = document.getElementById("theme");
const figures = [...document.querySelectorAll("figure")].filter((figure) => figure.querySelector(".plot"));
const plotOf = (figure) => figure.querySelector(".plot");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
}

function read(figure) {
  const colours = isDark() ? DARK : {};
  const text = figure.querySelector("script").textContent;
  return JSON.parse(text, (_, value) => (Object.hasOwn(colours, value) ? colours[value] : value));
}

// Plotly offers to upload charts to its cloud, which is nobody's to do with a report.
const CONFIG = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtonsToRemove: ["sendChartToCloud", "select2d", "lasso2d"],
};

function draw(figure) {
  const plot = plotOf(figure);
  const { data, layout } = read(figure);
  const kept = viewOf(plot);
  figure.begun = true;
  return Plotly.react(plot, data, layout, CONFIG).then(() => {
    if (!figure.drawn) {
      figure.drawn = true;
      listen(figure, plot);
    }
    if (Object.keys(kept).length) Plotly.relayout(plot, kept);
    if (figure.chosen !== undefined) mark(figure, figure.chosen);
  });
}

function viewOf(plot) {
  const axis = plot.layout && plot.layout.xaxis;
  return axis && axis.range ? { "xaxis.range": [...axis.range] } : {};
}

// -- times together -------------------------------------------------------------

let following = false;

function listen(figure, plot) {
  if (figure.dataset.timed === "yes") {
    plot.on("plotly_relayout", (change) => follow(plot, change));
  }
  plot.on("plotly_click", ({ points }) => {
    const chosen = points.find((point) => point.customdata !== undefined);
    if (chosen) pick(figure, chosen.customdata);
  });
}

function follow(source, change) {
  const key = Object.keys(change).find((name) => /^xaxis\d*\.(auto)?range/.test(name));
  if (following || !key) return;
  const name = key.split(".")[0];
  const range = [...source.layout[name].range];
  following = true;
  const others = figures.filter((figure) => figure.drawn && figure.dataset.timed === "yes").map(plotOf);
  Promise.all(others.filter((plot) => plot !== source).map((plot) => Plotly.relayout(plot, { "xaxis.range": range })))
    .finally(() => { following = false; });
}

// -- picking --------------------------------------------------------------------

function pick(figure, number) {
  const row = document.getElementById(`${figure.id}-${number}`);
  const panel = document.getElementById(`${figure.id}-picked`);
  if (!row || !panel) return;
  figure.querySelectorAll("tr.chosen").forEach((other) => other.classList.remove("chosen"));
  row.classList.add("chosen");
  const list = document.createElement("dl");
  const names = [...row.closest("table").tHead.rows[0].cells].map((cell) => cell.textContent);
  [...row.cells].forEach((cell, index) => {
    const pair = document.createElement("div");
    const term = document.createElement("dt");
    const value = document.createElement("dd");
    term.textContent = names[index];
    value.textContent = cell.textContent;
    pair.append(term, value);
    list.append(pair);
  });
  panel.replaceChildren(list);
  figure.chosen = number;
  mark(figure, number);
}

function mark(figure, number) {
  const plot = plotOf(figure);
  const ends = plot.data.flatMap((trace) => {
    const index = (trace.customdata || []).indexOf(number);
    return index < 0 ? [] : [{ x: trace.x[index], y: trace.y[index] }];
  });
  const colour = getComputedStyle(root).getPropertyValue("--focus").trim();
  const box = { xref: "x", yref: "y", xanchor: "center", yanchor: "middle", showarrow: true, arrowcolor: colour };
  const [from, to] = ends;
  const marks = [];
  if (from) marks.push({ ...box, ...from, ax: -28, ay: -28, arrowwidth: 2, arrowhead: 2, standoff: 6, text: "stopped", font: { color: colour } });
  if (to) marks.push({ ...box, ...to, ax: 28, ay: 28, arrowwidth: 2, arrowhead: 2, standoff: 6, text: "for", font: { color: colour } });
  Plotly.relayout(plot, { annotations: marks });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.pick");
  if (button) pick(document.getElementById(button.dataset.chart), Number(button.dataset.row));
});

// -- light and dark ---------------------------------------------------------------

function paint() {
  toggle.textContent = isDark() ? "Light colours" : "Dark colours";
  figures.filter((figure) => figure.begun).forEach(draw);
}

toggle.hidden = false;
toggle.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  paint();
});
system.addEventListener("change", paint);
paint();

// A chart is drawn when it comes near the screen, so that a long page opens at once.
const near = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
    near.unobserve(target);
    draw(target);
  }),
  { rootMargin: "600px" },
);
figures.forEach((figure) => near.observe(figure));
