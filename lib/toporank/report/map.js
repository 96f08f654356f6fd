// The map of decoys: a point each, drawn on a canvas since there may be thousands.

{
  const maps = JSON.parse(document.getElementById("map-data").textContent);
  const canvas = document.getElementById("map"), said = document.getElementById("map-said");
  const [of, by, way] = ["map-of", "map-by", "map-way"].map(id => document.getElementById(id));
  const MARGIN = 14, NEAR = 12, LISTED = 16, LARGEST = 2000, GOLDEN = (Math.sqrt(5) - 1) / 2, SLICE = 25;
  const TOO_FEW = `t-SNE needs ${TSNE.fewest} points or more.`;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const several = new Set(data.targets.map(target => target.set)).size > 1;
  const sets = [...new Set(data.targets.map(target => target.set))];
  let places = [], chosen = -1;

  let tones = {};  // of one drawing
  const tone = name => tones[name] ??= getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const hue = k => `hsl(${Math.round(205 + 137.5 * k) % 360} 58% ${[46, 62, 36][k % 3]}%)`;  // far apart for neighbours
  const PAINTS = {
    pred: ({ t, i }) => t.P?.[i] >= 0 ? tone(`--c${t.P[i]}`) : tone("--line"),
    truth: ({ t, i }) => t.Y?.[i] >= 0 ? tone(`--c${t.Y[i]}`) : tone("--line"),
    target: ({ t }) => hue(data.targets.indexOf(t)),
    set: ({ t }) => hue(sets.indexOf(t.set)),
  };

  function legends(withTraining) {
    const key = (paint, text) => { const item = make("li", { class: "key" }, text); item.style.setProperty("--tone", paint); return item; };
    const keys = by.value === "target" ? data.targets.map((t, k) => key(hue(k), t.name)) :
      by.value === "set" ? sets.map((name, k) => key(hue(k), name)) : data.classes.map((name, k) => key(`var(--c${k})`, name));
    const rest = keys.length > LISTED ? [make("li", {}, `and ${keys.length - LISTED} more`)] : [];
    const training = withTraining ? [key("var(--muted)", "a model of the training")] : [];
    document.getElementById("map-keys").replaceChildren(...keys.slice(0, LISTED), ...rest, ...training);
  }

  // t-SNE is made when asked for, and while it stays chosen, of at most LARGEST points: those whose multiple of the golden
  // section has a small enough fraction, which is an even sample whatever the order of decoys.

  const runs = new Map();
  const current = () => of.value === "" ? maps.all : maps.each[of.value];

  function wanted() {
    const shown = current(), n = shown.c[0].length;
    if (way.value !== "tsne" || n < TSNE.fewest) return null;
    if (!runs.has(shown)) {
      const points = shown.c[0].map((_, k) => k).filter(k => k * GOLDEN % 1 < LARGEST / n);
      const columns = shown.c.map(column => points.map(k => column[k]));
      runs.set(shown, { points, steps: tsne(columns), x: columns[0], y: columns[1], done: 0, busy: false });
    }
    return runs.get(shown);
  }

  function start() {
    const run = wanted();
    if (way.value === "tsne" && !run) said.textContent = TOO_FEW;
    if (!run || run.busy || run.done === 1) return;
    run.busy = true;
    said.textContent = `t-SNE of ${run.points.length} points has begun.`;
    requestAnimationFrame(function slice() {
      const before = Math.floor(4 * run.done), until = performance.now() + SLICE;
      run.busy = wanted() === run;
      if (!run.busy) return;
      while (run.done < 1 && performance.now() < until) Object.assign(run, run.steps.next().value);
      const quarters = Math.floor(4 * run.done);
      if (quarters > before) said.textContent = quarters === 4 ? "t-SNE is done." : `t-SNE is ${25 * quarters} % done.`;
      run.busy = run.done < 1;
      if (run.busy && still.matches) describe(); else plot();
      if (run.busy) requestAnimationFrame(slice);
    });
  }

  // What is drawn, in words.

  function describe() {
    const shown = current(), run = wanted(), n = shown.i.length, total = shown.c[0].length - n;
    const axes = `the axes hold ${shown.v[0]} % and ${shown.v[1]} % of the variance`;
    let text = `${n} models; ${way.value === "tsne" ? `${TOO_FEW} This is PCA: ` : ""}${axes}`;
    if (run) {
      const kept = run.points.filter(k => k < n).length, learned = run.points.length - kept;
      const part = (some, all) => some < all ? `${some} of ${all}` : all;
      const counts = part(kept, n) + " models" + (total ? ` and ${part(learned, total)} of the training` : "") + (kept < n ? ", an even sample" : "");
      const progress = run.done < 1 ? `${Math.floor(100 * run.done)} % done, ` : "";
      text = `${counts}; t-SNE, ${progress}perplexity ${Math.round(perplexityOf(run.points.length))}, of the ${shown.c.length} leading principal axes with ` +
        `${shown.v[2]} % of the variance. Neighbours are alike; distances between groups, and how wide they are, mean nothing.`;
    }
    document.getElementById("map-share").textContent = text;
  }

  function plot() {
    tones = {};
    const whole = of.value === "", shown = current(), run = wanted(), n = shown.i.length;
    const points = run?.points ?? shown.c[0].map((_, k) => k), [xs, ys] = run ? [run.x, run.y] : shown.c;
    const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const ends = values => [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    const [[west, east], [south, north]] = [ends(xs), ends(ys)];
    const step = Math.min((width - 2 * MARGIN) / (east - west || 1), (height - 2 * MARGIN) / (north - south || 1));
    const at = points.map((point, k) => ({
      point, x: width / 2 + step * (xs[k] - (west + east) / 2), y: height / 2 - step * (ys[k] - (south + north) / 2),
    }));
    places = at.filter(({ point }) => point < n).map(({ point, ...place }) => ({
      ...place, t: data.targets[whole ? shown.t[point] : of.value], i: shown.i[point],
    }));
    const learned = at.filter(({ point }) => point >= n);
    const context = canvas.getContext("2d"), radius = places.length > 1000 ? 2 : places.length > 200 ? 3 : 5;
    context.scale(scale, scale);
    const point = (x, y, size) => { context.beginPath(); context.arc(x, y, size, 0, 2 * Math.PI); context.fill(); };
    context.fillStyle = tone("--muted");
    context.globalAlpha = 0.35;
    for (const { x, y } of learned) point(x, y, 2);
    context.globalAlpha = 0.8;
    for (let k = places.length - 1; k >= 0; k--) {
      context.fillStyle = PAINTS[by.value](places[k]);
      point(places[k].x, places[k].y, radius);
    }
    context.globalAlpha = 1;
    if (chosen >= 0) {
      context.strokeStyle = tone("--ink");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(places[chosen].x, places[chosen].y, radius + 3, 0, 2 * Math.PI);
      context.stroke();
    }
    describe();
    legends(learned.length > 0);
  }

  function say(k) {
    chosen = k;
    plot();
    const { t, i } = places[k] ?? {};
    said.textContent = t ? `${t.name}/${t.d[i]}${several ? ` (${t.set})` : ""}: predicted ${fixed(t.p?.[i])}${t.y?.[i] == null ? "" : `, true ${fixed(t.y[i])}`}` : "";
  }

  function nearest(event) {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = NEAR ** 2;
    places.forEach((place, k) => {
      const far = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (far < least) [best, least] = [k, far];
    });
    if (best !== chosen) say(best);
  }

  for (const place of Object.keys(maps.each)) of.append(make("option", { value: place }, data.targets[place].name + (several ? ` (${data.targets[place].set})` : "")));
  for (const choice of [of, way]) choice.addEventListener("change", () => { say(-1); start(); });
  by.addEventListener("change", plot);
  canvas.addEventListener("pointermove", nearest);
  canvas.addEventListener("keydown", event => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    say((Math.max(chosen, move < 0 ? 0 : -1) + move + places.length) % places.length);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", plot);
  new ResizeObserver(plot).observe(canvas);
}
