// The map of decoys: a point each, drawn on a canvas since there may be thousands.

{
  const maps = JSON.parse(document.getElementById("map-data").textContent);
  const canvas = document.getElementById("map"), said = document.getElementById("map-said");
  const [of, by] = ["map-of", "map-by"].map(id => document.getElementById(id));
  const MARGIN = 14, NEAR = 12, LISTED = 16;
  const several = new Set(data.targets.map(target => target.set)).size > 1;
  const sets = [...new Set(data.targets.map(target => target.set))];
  let places = [], chosen = -1;

  const tone = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
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
    const training = withTraining ? [key("var(--muted)", "a decoy of the training")] : [];
    document.getElementById("map-keys").replaceChildren(...keys.slice(0, LISTED), ...rest, ...training);
  }

  function plot() {
    const whole = of.value === "", shown = whole ? maps.all : maps.each[of.value];
    const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const learned = shown.X ?? [], most = (...lists) => lists.flat().reduce((a, b) => Math.max(a, b), 1);
    const span = [most(shown.x, learned), most(shown.y, shown.Y ?? [])];
    const step = Math.min((width - 2 * MARGIN) / span[0], (height - 2 * MARGIN) / span[1]);
    const left = (width - step * span[0]) / 2, bottom = (height + step * span[1]) / 2;
    places = shown.i.map((i, k) => ({
      t: data.targets[whole ? shown.t[k] : of.value], i, x: left + step * shown.x[k], y: bottom - step * shown.y[k],
    }));
    const context = canvas.getContext("2d"), radius = places.length > 1000 ? 2 : places.length > 200 ? 3 : 5;
    context.scale(scale, scale);
    const point = (x, y, size) => { context.beginPath(); context.arc(x, y, size, 0, 2 * Math.PI); context.fill(); };
    context.fillStyle = tone("--muted");
    context.globalAlpha = 0.35;
    learned.forEach((x, k) => point(left + step * x, bottom - step * shown.Y[k], 2));
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
    document.getElementById("map-share").textContent = `${places.length} decoys; the axes hold ${shown.v[0]} % and ${shown.v[1]} % of the variance`;
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
  of.addEventListener("change", () => say(-1));
  by.addEventListener("change", plot);
  canvas.addEventListener("pointermove", nearest);
  canvas.addEventListener("keydown", event => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    say((chosen + move + places.length) % places.length);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", plot);
  new ResizeObserver(plot).observe(canvas);
}
