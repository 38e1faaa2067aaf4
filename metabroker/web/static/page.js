// Shows what /events tells. Every text that comes from elsewhere is written as text, never as HTML.
"use strict";
(() => {
  const SILENCE = 25000; // milliseconds without a word after which the link counts as lost
  const AGAIN = 3000; // milliseconds until a stream that the server refused is asked for again
  const PARTS = {
    ours: "held by metabroker", others: "held by others", free: "free", down: "out of service",
    unsure: "free, but not available now", unknown: "not known",
  };
  const byId = (id) => document.getElementById(id);
  let seen = null; // the latest overview
  let ahead = 0; // the daemon's clock less ours, in seconds
  let heard = Date.now();
  let lostAt = null;
  let source = null;

  // --- words --------------------------------------------------------------------------------

  const now = () => Date.now() / 1000 + ahead;

  function clock(moment, long) {
    const day = new Date(moment * 1000);
    const time = day.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: long ? "2-digit" : undefined, hour12: false });
    return day.toDateString() === new Date(now() * 1000).toDateString() ? time : `${day.toLocaleDateString([], { month: "short", day: "numeric" })} ${time}`;
  }

  function span(seconds) {
    const s = Math.max(0, Math.round(seconds));
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min`;
    const hours = Math.floor(s / 3600), minutes = Math.floor((s % 3600) / 60);
    if (hours < 48) return minutes ? `${hours} h ${minutes} min` : `${hours} h`;
    return `${Math.floor(hours / 24)} d`;
  }

  const count = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

  // --- the document -------------------------------------------------------------------------

  function make(tag, name, ...children) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  }

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  // Children by key: what stays is the same element, so that the focus stays where it is.
  function sync(parent, items, key, build, fill) {
    const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
    let at = parent.firstElementChild;
    for (const item of items) {
      const name = String(key(item));
      let child = old.get(name);
      old.delete(name);
      if (!child) {
        child = build(item);
        child.dataset.key = name;
      }
      if (child === at) at = at.nextElementSibling;
      else parent.insertBefore(child, at);
      fill(child, item);
    }
    const had = [...old.values()].find((child) => child.contains(document.activeElement));
    const place = had ? [...parent.children].indexOf(had) : -1;
    for (const child of old.values()) child.remove();
    if (had) refocus(parent, place);
  }

  // --- what is chosen: mine, words, groups ----------------------------------------------------

  const FIRST = 10; // jobs of a group, until all are asked for
  const open = new Set(); // groups of which all are shown

  function chosen(job) {
    if (byId("mine").checked && job.user !== seen.me) return false;
    const words = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = `${job.job} ${job.name} ${job.user} ${job.where || job.cluster || ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  const all = () => !byId("mine").checked && !byId("words").value.trim();

  function groups() {
    if (seen.jobs === null || byId("group").value === "queue") return seen.queues;
    const users = new Map();
    for (const job of seen.jobs.filter(chosen)) {
      const user = users.get(job.user) || { name: job.user, user: true, waiting: 0, held: 0, under_way: 0 };
      user[job.state === "HELD" ? "held" : "waiting"] += 1;
      users.set(job.user, user);
    }
    return [...users.values()].sort((a, b) => b.waiting - a.waiting || a.name.localeCompare(b.name));
  }

  function choose() {
    if (seen) draw();
  }

  // --- rows by keyboard: Tab comes to the list once, arrows go through it -----------------------

  const rowsOf = (list) => [...list.querySelectorAll(":scope > [tabindex]")];

  function refocus(list, place) {
    const rows = rowsOf(list);
    (rows[Math.min(place, rows.length - 1)] || byId("main")).focus();
  }

  function oneStop(list) {
    const rows = rowsOf(list);
    const current = rows.find((row) => row.tabIndex === 0) || rows[0];
    for (const row of rows) row.tabIndex = row === current ? 0 : -1;
  }

  function moved(event) {
    const row = event.target.closest(".rows > [tabindex]");
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const rows = rowsOf(row.parentElement), at = rows.indexOf(row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = rows[Math.max(0, Math.min(rows.length - 1, to))];
    row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  // --- clusters -----------------------------------------------------------------------------

  function newCluster() {
    const item = make("li", "", make("div", "title", make("h3"), make("small"), make("span", "health")),
      make("p", "free-of", make("b"), make("span")), make("div", "bar"), make("ul", "parts"), make("p", "note"));
    item.tabIndex = 0;
    item.querySelector(".bar").setAttribute("aria-hidden", "true");
    return item;
  }

  function fillCluster(item, cluster) {
    const parts = Object.keys(PARTS).filter((part) => cluster.parts[part] > 0);
    const find = (what) => item.querySelector(what);
    write(find("h3"), cluster.name);
    write(find("small"), cluster.system || "");
    item.className = cluster.health === "ok" ? "" : "bad";
    write(find(".free-of b"), cluster.parts.free === undefined ? "?" : String(cluster.parts.free));
    write(find(".free-of span"), ` free of ${count(cluster.processors, "processor", "processors")}`);
    sync(find(".bar"), parts, (part) => part, (part) => make("i", part),
      (bar, part) => bar.style.setProperty("--n", cluster.parts[part]));
    sync(find(".parts"), parts, (part) => part, (part) => make("li", part),
      (line, part) => write(line, `${cluster.parts[part]} ${PARTS[part]}`));
    write(find(".note"), cluster.note || "");
    ageCluster(item, cluster);
  }

  function ageCluster(item, cluster) {
    const known = cluster.seen !== null, age = known ? span(now() - cluster.seen) : "";
    let text = known ? `seen ${age} ago` : "not seen yet";
    if (cluster.health === "unreachable") text = known ? `unreachable since ${clock(cluster.seen)} (${age})` : "unreachable, never seen";
    if (cluster.health === "stale") text = `stale: last seen ${clock(cluster.seen)} (${age} ago)`;
    if (cluster.health === "drained") text = `drained: nothing new goes there; ${text}`;
    write(item.querySelector(".health"), text);
  }

  // --- the timeline -------------------------------------------------------------------------

  const STEPS = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 604800];

  function range(rows, present) {
    let past = 60, future = 60;
    for (const row of rows) {
      past = Math.max(past, present - (row.start ?? present));
      future = Math.max(future, (row.end ?? present + row.limit) - present);
    }
    future = Math.min(future, 86400);
    past = Math.min(Math.max(past, future / 6), Math.max(21600, future));
    return { from: present - past, to: present + future * 1.02 };
  }

  function percent(range, moment) {
    return `${(100 * Math.min(1, Math.max(0, (moment - range.from) / (range.to - range.from)))).toFixed(3)}%`;
  }

  function drawAxis(window_) {
    const axis = byId("axis"), present = now(), length = window_.to - window_.from;
    const most = Math.max(2, Math.floor(axis.clientWidth / 90));
    const step = STEPS.find((each) => length / each <= most) || length;
    const zone = new Date(present * 1000).getTimezoneOffset() * 60;
    const ticks = [{ at: present, text: `now ${clock(present)}`, name: "now" }];
    for (let at = Math.ceil((window_.from - zone) / step) * step + zone; at < window_.to; at += step) {
      const room = (Math.abs(at - present) / length) * axis.clientWidth;
      if (room > 85 && ((window_.to - at) / length) * axis.clientWidth > 40) ticks.push({ at, text: clock(at, step < 60), name: "" });
    }
    sync(axis, ticks, (tick) => tick.name || tick.at, (tick) => make("span", tick.name), (mark, tick) => {
      write(mark, tick.text);
      mark.style.setProperty("--at", percent(window_, tick.at));
    });
  }

  function newRow(row) {
    if (row.group) return make("li", "group");
    const track = make("div", "track", make("i"), make("i"));
    track.setAttribute("aria-hidden", "true");
    const item = make("li", "", make("p", "what", make("b"), make("span"), make("small")), track);
    item.tabIndex = -1;
    return item;
  }

  function fillRow(item, row) {
    if (row.group) return write(item, row.group);
    const part = row.components > 1 ? ` (${row.component + 1} of ${row.components})` : "";
    write(item.querySelector("b"), `${row.job} ${row.name}`);
    write(item.querySelector("span"), `${part} · ${row.user}`);
    write(item.querySelector("small"), `${count(row.processors, "proc", "procs")}, ${told(row)}`);
    return undefined;
  }

  function told(row) {
    const start = row.start === null ? "" : clock(row.start), end = row.end === null ? "" : clock(row.end);
    const why = row.reason ? `: ${row.reason}` : "";
    if (row.kind === "running") return start ? `running since ${start}, to ${end} at most` : "running";
    if (row.kind === "reserved") return start ? `reserved from ${start} to ${end}${why}` : `reserved${why}`;
    if (row.kind === "planned") return `planned for ${start}${why}`;
    return `${row.state.toLowerCase()}${why}`;
  }

  function place(item, row, window_) {
    const present = now();
    const start = row.start ?? present, end = Math.max(row.end ?? present + row.limit, start);
    const [whole, done] = item.querySelectorAll(".track i");
    whole.className = row.kind === "running" ? "limit" : row.kind;
    done.className = "running";
    done.hidden = row.kind !== "running";
    spread(whole, window_, start, end);
    spread(done, window_, start, Math.min(present, end));
  }

  function spread(bar, window_, from, to) {
    const left = percent(window_, from), right = percent(window_, to);
    bar.style.setProperty("--from", left);
    bar.style.setProperty("--wide", `${(parseFloat(right) - parseFloat(left)).toFixed(3)}%`);
  }

  function drawTimeline() {
    const rows = seen.timeline.filter(chosen), window_ = range(rows, now()), list = byId("rows");
    byId("timeline").hidden = rows.length === 0;
    byId("timeline").style.setProperty("--now", percent(window_, now()));
    if (rows.length) drawAxis(window_);
    const names = [...new Set([...seen.clusters.map((c) => c.name), ...rows.map((row) => row.cluster)])];
    const shown = [];
    for (const name of names) {
      const here = rows.filter((row) => row.cluster === name);
      if (here.length) shown.push({ group: name || "cluster not chosen yet" }, ...here);
    }
    sync(list, shown, (row) => (row.group ? `in ${row.group}` : `${row.job}.${row.component}`), newRow, (item, row) => {
      fillRow(item, row);
      if (!row.group) place(item, row, window_);
    });
    oneStop(list);
    const notes = [];
    if (!rows.length) notes.push(all() ? "Nothing runs, and nothing is reserved." : "None of the selected jobs runs or is reserved.");
    if (seen.more_rows) notes.push(`${count(seen.more_rows, "component more", "components more")}, not shown.`);
    write(byId("timeline-note"), notes.join(" "));
  }

  // --- queues -------------------------------------------------------------------------------

  function newQueue() {
    const button = make("button", "all");
    const box = make("div", "queue", make("div", "title", make("h3"), make("span", "health")), make("ol", "rows"), button, make("p", "more"));
    button.type = "button";
    button.addEventListener("click", () => {
      const key = box.dataset.key;
      open.has(key) ? open.delete(key) : open.add(key);
      choose();
    });
    return box;
  }

  function fillQueue(box, queue) {
    const known = (seen.jobs || []).filter((job) => (queue.user ? job.user : job.queue) === queue.name);
    const found = known.filter(chosen), whole = open.has(box.dataset.key);
    const jobs = whole ? found : found.slice(0, FIRST);
    const more = seen.jobs && !queue.user ? Math.max(0, queue.waiting + queue.held - known.length) : 0;
    const counts = [`${queue.waiting} waiting`];
    if (queue.held) counts.push(`${queue.held} held`);
    if (queue.under_way) counts.push(`${queue.under_way} under way`);
    write(box.querySelector("h3"), queue.name);
    write(box.querySelector(".health"), counts.join(", "));
    const list = box.querySelector(".rows"), button = box.querySelector(".all");
    list.setAttribute("aria-label", `Jobs ${queue.user ? "of" : "in queue"} ${queue.name}. Arrow keys move between rows.`);
    sync(list, jobs, (job) => job.job, newJob, fillJob);
    oneStop(list);
    button.hidden = found.length <= FIRST;
    button.setAttribute("aria-expanded", String(whole));
    write(button, whole ? `show the first ${FIRST}` : `show all ${found.length}`);
    write(box.querySelector(".more"), more ? `and ${count(more, "job", "jobs")} more` : "");
  }

  function newJob() {
    const item = make("li", "", make("span", "job"), make("span", "name", make("b"), " ", make("small")),
      make("span", "where"), make("span", "since"), make("span", "why"));
    item.tabIndex = -1;
    return item;
  }

  function fillJob(item, job) {
    const find = (what) => item.querySelector(what);
    write(find(".job"), String(job.job));
    write(find("b"), job.name);
    write(find("small"), job.user);
    write(find(".where"), `${job.where} procs`);
    const planned = job.planned === null ? "" : `planned for ${clock(job.planned)}; `;
    const starts = job.expected ? `starts ${clock(job.expected.earliest)} to ${clock(job.expected.latest)}; ` : "";
    write(find(".why"), planned + starts + (job.reason || (job.state === "HELD" ? "held" : "")));
    ageJob(item, job);
  }

  const ageJob = (item, job) => write(item.querySelector(".since"), `for ${span(now() - job.since)}`);

  // --- one job ------------------------------------------------------------------------------

  async function lookAt(number) {
    let job;
    try {
      job = await (await fetch(`job/${number}`)).json();
    } catch {
      job = { trouble: "there is no answer" };
    }
    const when = (moment) => (moment === null ? "" : clock(moment, true));
    const dialog = byId("job");
    write(byId("job-title"), job.trouble ? `Job ${number}` : `Job ${job.job} ${job.name}`);
    write(byId("job-state"), job.trouble || [job.state, job.reason].filter(Boolean).join(": "));
    const facts = job.trouble ? [] : [["user", job.user], ["queue", job.queue], ["asks for", `${job.where} processors`],
      ["time limit", span(job.time_limit)], ["submitted", when(job.submit_time)], ["started", when(job.start_time)],
      ["ended", when(job.end_time)], ["exit code", job.exit_code === null ? "" : String(job.exit_code)]];
    sync(byId("job-facts"), facts.filter((fact) => fact[1]), (fact) => fact[0],
      (fact) => make("div", "", make("dt", "", fact[0]), make("dd")), (item, fact) => write(item.lastChild, fact[1]));
    sync(byId("job-parts"), job.components || [], (part) => part.index, () => make("li"), (item, part) =>
      write(item, `${part.cluster || "no cluster yet"}: ${part.processors} processors, ${part.state.toLowerCase()}${part.detail ? `: ${part.detail}` : ""}`));
    sync(byId("job-events"), (job.events || []).map((event, at) => ({ ...event, at })), (event) => event.at,
      () => make("li", "", make("time"), " ", make("b"), " ", make("span")), (item, event) => {
        write(item.querySelector("time"), when(event.time));
        write(item.querySelector("b"), event.event);
        write(item.querySelector("span"), event.detail);
      });
    write(byId("job-left-out"), job.events_left_out ? `${job.events_left_out} events between the first ones and the newest are left out.` : "");
    if (!dialog.open) dialog.showModal();
  }

  function asked(event) {
    const row = event.target.closest(".rows > [tabindex]");
    if (!row || !seen || seen.jobs === null || (event.type === "keydown" && event.key !== "Enter")) return;
    const number = parseInt(row.dataset.key, 10);
    if (number) lookAt(number);
  }

  // --- all of it ----------------------------------------------------------------------------

  function draw() {
    const sum = (what) => seen.queues.reduce((n, queue) => n + queue[what], 0);
    const sums = [["under way", sum("under_way")], ["waiting", sum("waiting")], ["held", sum("held")]];
    write(byId("about"), `policy ${seen.policy} · version ${seen.version} · serving since ${clock(seen.since)}${seen.offline ? " · offline: simulated twins" : ""}`);
    sync(byId("sums"), sums, (pair) => pair[0], (pair) => make("div", "", make("dt", "", pair[0]), make("dd")),
      (item, pair) => write(item.lastChild, pair[1].toLocaleString("en")));
    sync(byId("clusters"), seen.clusters, (cluster) => cluster.name, newCluster, fillCluster);
    byId("choose").hidden = seen.jobs === null;
    byId("mine-label").hidden = !seen.me;
    sync(byId("queues"), groups(), (queue) => `${queue.user ? "user" : "queue"} ${queue.name}`, newQueue, fillQueue);
    byId("timeline-section").hidden = seen.jobs === null;
    if (seen.jobs !== null) drawTimeline();
    write(byId("queues-note"), seen.jobs === null
      ? "This address does not show single jobs. `metabroker page` shows them to you; `page: jobs` in the configuration shows them to everybody." : "");
    trouble(seen.trouble);
  }

  function trouble(text) {
    byId("trouble").hidden = !text;
    write(byId("trouble"), text || "");
  }

  function tick() {
    if (seen && document.body.dataset.link === "live") {
      const clusters = new Map(seen.clusters.map((cluster) => [cluster.name, cluster]));
      for (const item of byId("clusters").children) ageCluster(item, clusters.get(item.dataset.key));
      const jobs = new Map((seen.jobs || []).map((job) => [String(job.job), job]));
      for (const item of document.querySelectorAll(".queue .rows > li")) ageJob(item, jobs.get(item.dataset.key));
      if (seen.jobs !== null) drawTimeline();
    }
    if (Date.now() - heard > SILENCE) {
      lost();
      connect();
    }
  }

  // --- the link -----------------------------------------------------------------------------

  function live(event) {
    const what = JSON.parse(event.data);
    heard = Date.now();
    if (event.type === "beat") ahead = what.now - heard / 1000;
    return what;
  }

  function show(state, text) {
    document.body.dataset.link = state;
    write(byId("link"), text);
  }

  function lost(why) {
    lostAt = lostAt ?? now();
    show("lost", `not connected since ${clock(lostAt, true)}; trying again`);
    if (why) trouble(why);
  }

  function connect() {
    if (source) source.close();
    heard = Date.now();
    const mine = source = new EventSource("events");
    mine.addEventListener("overview", (event) => {
      seen = live(event);
      lostAt = null;
      show("live", "live");
      draw();
    });
    mine.addEventListener("trouble", (event) => lost(live(event).trouble));
    mine.addEventListener("beat", live);
    mine.addEventListener("error", () => {
      lost();
      // After a refusal a browser gives up by itself; after a cut it comes again by itself.
      if (mine.readyState === EventSource.CLOSED) setTimeout(() => mine === source && connect(), AGAIN);
    });
  }

  document.addEventListener("keydown", moved);
  document.addEventListener("keydown", asked);
  document.addEventListener("click", asked);
  byId("choose").addEventListener("input", choose);
  byId("choose").addEventListener("submit", (event) => event.preventDefault());
  setInterval(tick, 1000);
  connect();
})();
