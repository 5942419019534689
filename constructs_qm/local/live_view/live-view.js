// The live view: asks for the state once a second and shows it. Whatever comes from outside is set as
// text, never as HTML. It decides nothing: figures, reasons and verdicts are the endpoint's.

const PERIOD = 1000;
const PATIENCE = 15000;
const by = (id) => document.getElementById(id);

let state = null;
let asked = 0;
let shown = 0;
let lost = false;

// -- asking ------------------------------------------------------------------------------------------

async function ask(path, body) {
  const request = { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
  if (body !== undefined) {
    Object.assign(request, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }
  const response = await fetch(`/_quota/${path}`, request);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

async function refresh() {
  const turn = ++asked;
  try {
    const answer = await ask(`state?queue=${encodeURIComponent(chosenQueue())}`);
    if (turn < shown) return; // a later one overtook it
    shown = turn;
    if (lost) announce("The connection is back.");
    setLost("");
    tellNews(state, answer);
    state = answer;
    render();
  } catch (error) {
    setLost(
      isSilence(error)
        ? "The connection to the endpoint is lost. What you see is how it was; trying again every second."
        : `The endpoint can't show its state: ${error.message}`,
    );
  }
}

// Whether the endpoint didn't answer, or something else answered in its place.
function isSilence(error) {
  return error instanceof TypeError || error instanceof SyntaxError || error.name === "TimeoutError";
}

function setLost(text) {
  lost = text !== "";
  by("lost").hidden = !lost;
  setText(by("lost"), text);
  document.body.classList.toggle("stale", lost);
}

function chosenQueue() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

// -- elements ----------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Makes the children of an element those of a list, keeping those that are there: focus stays where it is.
function reconcile(parent, items, key, create, update) {
  const focused = document.activeElement;
  const keys = items.map((item) => String(key(item)));
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  for (const [name, child] of old) if (!keys.includes(name)) child.remove();
  items.forEach((item, index) => {
    const child = old.get(keys[index]) ?? create(item);
    child.dataset.key = keys[index];
    update(child, item);
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus();
}

function setLines(parent, lines) {
  const keep = (line) => line;
  reconcile(parent, lines, keep, () => make("p"), setText);
}

function setOptions(select, options) {
  const chosen = select.value;
  reconcile(select, options, (option) => option.value, () => make("option"), (element, option) => {
    element.value = option.value;
    setText(element, option.text);
  });
  if (options.some((option) => option.value === chosen)) select.value = chosen;
}

// A column is a heading and what fills a cell: it returns text or lines, or fills the cell itself.
// The roles stay when a narrow screen shows the cells one below the other.
function showTable(table, columns, items, key) {
  if (!table.tHead) {
    const headings = columns.map(([heading]) => make("th", { scope: "col", role: "columnheader" }, heading));
    table.setAttribute("role", "table");
    table.append(
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...headings)),
      make("tbody", { role: "rowgroup" }),
    );
  }
  table.hidden = items.length === 0;
  reconcile(
    table.tBodies[0],
    items,
    key,
    () => make("tr", { role: "row" }, ...columns.map(makeCell)),
    (row, item) => columns.forEach(([, fill], index) => fillCell(row.cells[index], fill, item)),
  );
}

function makeCell([heading], index) {
  return index === 0
    ? make("th", { scope: "row", role: "rowheader", "data-label": heading })
    : make("td", { role: "cell", "data-label": heading });
}

function fillCell(cell, fill, item) {
  const content = fill(item, cell);
  if (Array.isArray(content)) setLines(cell, content);
  else if (content !== undefined) setText(cell, String(content));
}

// -- words -------------------------------------------------------------------------------------------

const count = (number) => String(Math.round(number * 10) / 10);
const timeOfDay = (iso) => iso.slice(11, 19);
const asTime = (seconds) => new Date(seconds * 1000).toISOString();

function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function needs(job) {
  return Object.entries(job.demand).map(([unit, instances]) => `${instances} × ${unit}`);
}

function plural(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

function aboutShare(share) {
  const borrows = share.borrowLimit === null || share.borrowLimit === -1 ? "" : `, at most ${share.borrowLimit} %`;
  const lines = [share.strategy + borrows];
  if (share.inSharePreemption) lines.push("in-share preemption");
  if (share.state !== "ENABLED" || share.status !== "VALID") lines.push(`${share.state}, ${share.status}`);
  return lines;
}

// -- bars --------------------------------------------------------------------------------------------

function partsOf(standing) {
  return [
    ["own", standing.use - standing.borrowed, "own"],
    ["lent", standing.lent, "lent to others"],
    [standing.lends ? "idle" : "reserved", standing.idle - standing.lent, standing.lends ? "idle, lendable" : "idle, reserved"],
    ["borrowed", standing.borrowed, "borrowed"],
  ].filter(([, instances]) => instances > 0);
}

function showBar(element, parts, whole, limit) {
  const rest = whole - parts.reduce((sum, [, instances]) => sum + instances, 0);
  const segments = element.querySelector(".segments");
  reconcile(
    segments,
    [...parts, ["rest", Math.max(0, rest)]],
    ([kind]) => kind,
    ([kind]) => make("span", { class: kind }),
    (segment, [, instances]) => { segment.style.flexGrow = instances; },
  );
  element.style.setProperty("--instances", whole <= 64 ? whole : 1);
  element.querySelector(".mark").hidden = limit === undefined;
  element.style.setProperty("--limit", limit === undefined ? 0 : limit / whole);
}

function makeUnit() {
  const bar = make("div", { class: "bar" }, make("div", { class: "segments" }), make("div", { class: "mark" }));
  bar.setAttribute("aria-hidden", "true"); // the words below it say the same
  return make("div", { class: "unit" }, make("p", { class: "unit-name" }), bar, make("p", { class: "figures" }));
}

function fillUnit(element, unit) {
  const [name, bar, figures] = element.children;
  setText(name, unit.title);
  showBar(bar, unit.parts, unit.whole, unit.limit);
  setText(figures, unit.words);
}

function unitsOf(row, queue) {
  const capacity = Object.fromEntries(queue.units.map((unit) => [unit.unit, unit.capacity]));
  return row.standings.map((standing) => {
    const parts = partsOf(standing);
    return {
      unit: standing.unit,
      title: `${standing.unit}: ${standing.use} in use, limit ${standing.limit}`,
      parts,
      whole: Math.max(capacity[standing.unit] ?? 0, standing.limit, standing.use, 1),
      limit: standing.limit,
      words: parts.map(([, instances, words]) => `${count(instances)} ${words}`).join(" · ") || "nothing",
    };
  });
}

function unitsOfAll(queue) {
  return queue.units.map((unit) => ({
    unit: unit.unit,
    title: `${unit.unit}: ${unit.use} of ${unit.capacity} in use`,
    parts: [["own", unit.use - unit.borrowed], ["borrowed", unit.borrowed]].filter(([, instances]) => instances > 0),
    whole: Math.max(unit.capacity, unit.use, 1),
    limit: undefined,
    words: `${unit.borrowed} borrowed of ${unit.lendable} lendable`,
  }));
}

// -- the page ----------------------------------------------------------------------------------------

const shareColumns = [
  ["Share", (row, cell) => setLines(cell, [row.name, ...row.about])],
  ["Use", (row, cell) => reconcile(cell, row.units, (unit) => unit.unit, makeUnit, fillUnit)],
  ["Waiting", (row) => String(row.waiting)],
];

const waitingColumns = [
  ["Job", (job) => job.name],
  ["Share", (job) => job.share],
  ["Priority", (job) => job.priority],
  ["Needs", needs],
  ["Waits", (job) => [`${job.status} for ${duration(state.clock.now - job.since)}`, ...job.why]],
  ["Actions", showActions],
];

const runningColumns = [
  ["Job", (job) => job.name],
  ["Share", (job) => job.share],
  ["Priority", (job) => job.priority],
  ["Holds", needs],
  ["State", (job) => [
    `${job.status}, dispatched ${duration(state.clock.now - job.since)} ago`,
    ...(job.stopping ? [`stopping: ${job.stopping} preemption`] : []),
    ...(job.preemptions ? [`preempted ${plural(job.preemptions, "time", "times")} before`] : []),
  ]],
  ["Actions", showActions],
];

const preemptionColumns = [
  ["Time", (entry) => timeOfDay(entry.at)],
  ["Job", (entry) => entry.name],
  ["Share", (entry) => entry.share],
  ["Kind", (entry) => entry.kind],
  ["Reason", (entry) => [entry.reason || "The scheduler did not decide this.", entry.shown]],
  ["Then", (entry) => (entry.stopped ? `${entry.then} since ${timeOfDay(entry.stopped)}` : "stopping")],
];

function showActions(job, cell) {
  if (!cell.firstChild) {
    for (const [action, text] of [["change-priority", "Priority"], ["terminate", "Terminate"]]) {
      cell.append(make("button", { type: "button", class: "quiet", "data-action": action }, text));
    }
  }
  const [priority, terminate] = cell.children;
  for (const button of cell.children) button.dataset.job = job.id;
  priority.setAttribute("aria-label", `Change the priority of ${job.name}`);
  terminate.setAttribute("aria-label", `Terminate ${job.name}`);
}

function render() {
  const { clock, queue, queues } = state;
  showClock(clock);
  showQueues(queues, queue);
  by("empty").hidden = queue !== null;
  by("main").hidden = queue === null;
  if (queue === null) return;
  document.title = `${queue.audit.verdict === "violation" ? "✗ " : ""}${queue.name}: live view`;
  by("paused").hidden = !queue.paused;
  showShares(queue);
  showJobs(queue);
  setText(by("preemptions-count"), queue.preemptions.length ? "The latest first." : "None so far.");
  showTable(by("preemptions"), preemptionColumns, queue.preemptions, (entry) => `${entry.at} ${entry.job}`);
  showAudit(queue.audit);
  showChoices(queue);
}

function showClock(clock) {
  const iso = asTime(clock.now);
  setText(by("now"), `${iso.slice(0, 10)} ${timeOfDay(iso)}`);
  by("now").dateTime = iso;
  for (const control of by("step").elements) control.disabled = !clock.stepped;
  setText(
    by("pace"),
    clock.stepped
      ? "Time stands still between two steps."
      : `Time passes by itself, ${count(clock.speed)} s a second. To step it: batch-quota local --stepped`,
  );
}

function showQueues(queues, queue) {
  const places = new Set(queues.map((entry) => `${entry.account} ${entry.region}`));
  const text = (entry) => (places.size > 1 ? `${entry.name} (${entry.region}, ${entry.account})` : entry.name);
  setOptions(by("queue"), queues.map((entry) => ({ value: entry.arn, text: text(entry) })));
  by("queue").disabled = queues.length === 0;
  if (queue !== null) by("queue").value = queue.arn;
}

function showShares(queue) {
  const rows = queue.shares.map((share) => ({
    key: `share ${share.name}`,
    name: share.name,
    about: aboutShare(share),
    units: unitsOf(share, queue),
    waiting: share.waitingCount,
  }));
  const waiting = rows.reduce((sum, row) => sum + row.waiting, 0);
  const all = { key: "all", name: "All", about: [queue.environment], units: unitsOfAll(queue), waiting };
  showTable(by("shares"), shareColumns, [...rows, all], (row) => row.key);
}

function showJobs(queue) {
  const waiting = queue.shares.flatMap((share) =>
    share.front.map((job, place) => ({ ...job, why: place === 0 ? share.why : [] })),
  );
  waiting.push(...queue.submitted.map((job) => ({ ...job, why: [] })));
  const all = queue.shares.reduce((sum, share) => sum + share.waitingCount, queue.submittedCount);
  setText(by("waiting-count"), bounded(waiting.length, all, "the first of each share", "No job waits."));
  showTable(by("waiting"), waitingColumns, waiting, (job) => job.id);
  setText(by("running-count"), bounded(queue.running.length, queue.runningCount, "the latest", "No job runs."));
  showTable(by("running"), runningColumns, queue.running, (job) => job.id);
}

function bounded(here, all, which, none) {
  if (all === 0) return none;
  return here < all ? `${here} of ${all}: ${which}.` : plural(all, "job.", "jobs.");
}

const VERDICTS = {
  pass: "✓ Pass",
  violation: "✗ Violation",
  unknown: "? Unknown",
  none: "– Not judged",
};

function showAudit(audit) {
  by("verdict").className = audit.decisions === 0 ? "none" : audit.verdict;
  setText(by("verdict"), audit.decisions === 0 ? "– Nothing to judge yet" : VERDICTS[audit.verdict]);
  setText(by("judged"), judged(audit));
  const entries = [
    ...audit.findings.map((finding) => ({
      key: [finding.rule, ...finding.events].join(" "),
      title: `${finding.rule} ${finding.kind}, ${timeOfDay(finding.from)}`,
      lines: [`Seen: ${finding.seen}.`, `Expected: ${finding.expected}.`],
    })),
    ...audit.gaps.map((gap, index) => ({
      key: `gap ${index}`,
      title: `${gap.rule} unknown`,
      lines: [`${gap.gap}.`],
    })),
  ];
  reconcile(
    by("findings"),
    entries,
    (entry) => entry.key,
    () => make("li", {}, make("h3"), make("div")),
    (item, entry) => {
      setText(item.children[0], entry.title);
      setLines(item.children[1], entry.lines);
    },
  );
}

function judged(audit) {
  if (audit.behind) return `Catching up: ${plural(audit.behind, "event is", "events are")} still to be read.`;
  if (audit.verdict === "none") {
    return "API calls are not recorded (setting cloudtrail), so the policy that was in force isn't known.";
  }
  const decisions = plural(audit.decisions, "decision", "decisions");
  const found = [plural(audit.violations, "violation", "violations"), `${audit.unknown} unknown`];
  if (audit.divergences) found.push(plural(audit.divergences, "divergence", "divergences"));
  return `${decisions} up to ${timeOfDay(asTime(audit.judgedUntil))}: ${found.join(", ")}.`;
}

function showChoices(queue) {
  setOptions(by("share"), queue.shares.map((share) => ({ value: share.name, text: share.name })));
  setOptions(by("unit"), queue.units.map((unit) => ({ value: unit.unit, text: unit.unit })));
}

// -- news, for those who don't see the page change ---------------------------------------------------

function announce(text) {
  setText(by("news"), text);
}

function tellNews(before, after) {
  if (!before?.queue || before.queue.arn !== after.queue?.arn) return;
  const known = new Set(before.queue.preemptions.map((entry) => `${entry.at} ${entry.job}`));
  const news = after.queue.preemptions
    .filter((entry) => !known.has(`${entry.at} ${entry.job}`))
    .map((entry) => `${entry.name} of ${entry.share} is being preempted (${entry.kind}).`);
  if (before.queue.audit.verdict !== after.queue.audit.verdict) {
    news.push(`The audit's verdict is ${after.queue.audit.verdict}.`);
  }
  if (news.length) announce(news.slice(0, 3).join(" "));
}

// -- actions -----------------------------------------------------------------------------------------

// Lets a form do something: an error is shown in it, in the endpoint's words.
function onSubmit(form, act) {
  const error = form.querySelector(".error");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      announce(await act());
      setText(error, "");
      form.closest("dialog")?.close();
    } catch (problem) {
      setText(error, isSilence(problem) ? "The endpoint doesn't answer: look whether it was done, then try again." : problem.message);
    }
    await refresh();
  });
}

function operate(operation, request, more = {}) {
  return ask("operations", { queue: state.queue.arn, operation, request, ...more });
}

const numberIn = (id) => (Number.isNaN(by(id).valueAsNumber) ? undefined : by(id).valueAsNumber);

onSubmit(by("step"), async () => {
  const { now } = await ask("clock", { advance: numberIn("seconds") ?? null });
  return `It is ${timeOfDay(asTime(now))}.`;
});

onSubmit(by("submit"), async () => {
  const name = by("name").value;
  const config = { InstanceType: by("unit").value, InstanceCount: numberIn("instances"), VolumeSizeInGB: 30 };
  const request = {
    jobName: name,
    jobQueue: state.queue.arn,
    serviceJobType: "SAGEMAKER_TRAINING",
    serviceRequestPayload: JSON.stringify({ ResourceConfig: config }),
    quotaShareName: by("share").value || undefined,
    schedulingPriority: numberIn("priority"),
  };
  await operate("SubmitServiceJob", request, { runningSeconds: numberIn("running-seconds") });
  by("name").value = name.replace(/\d*$/, (number) => (number === "" ? "-2" : String(Number(number) + 1)));
  return `${name} is submitted.`;
});

let job = null;

onSubmit(by("change-priority").firstElementChild, async () => {
  const priority = numberIn("new-priority");
  await operate("UpdateServiceJob", { jobId: job.id, schedulingPriority: priority });
  return `The priority of ${job.name} is ${priority}.`;
});

onSubmit(by("terminate").firstElementChild, async () => {
  await operate("TerminateServiceJob", { jobId: job.id, reason: by("reason").value });
  return `${job.name} is terminated.`;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.action) openDialog(button.dataset.action, button.dataset.job);
  if (button && "close" in button.dataset) button.closest("dialog").close();
});

function openDialog(action, id) {
  const { shares, submitted, running } = state.queue;
  job = [...running, ...submitted, ...shares.flatMap((share) => share.front)].find((entry) => entry.id === id);
  const dialog = by(action);
  setText(dialog.querySelector(".error"), "");
  if (action === "terminate") {
    setText(by("terminate-title"), `Terminate ${job.name}`);
    by("reason").value = "terminated from the live view";
  } else {
    setText(by("change-priority-title"), `Priority of ${job.name}`);
    by("new-priority").value = job.priority;
  }
  dialog.showModal();
}

by("queue").addEventListener("change", () => {
  location.hash = encodeURIComponent(by("queue").value);
});
window.addEventListener("hashchange", refresh);

// -- from now on -------------------------------------------------------------------------------------

for (;;) {
  await refresh();
  await new Promise((resume) => setTimeout(resume, PERIOD));
}
