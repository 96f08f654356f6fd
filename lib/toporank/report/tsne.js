// t-SNE: places in a plane at which neighbours stay neighbours (van der Maaten & Hinton, J. Mach. Learn. Res. 9, 2579, 2008).

const TSNE = { fewest: 10, perplexity: 30, steps: 750, early: 250, exaggeration: 12 };

// A generator, so that its caller decides how long it works at a time: each next() is a point or a step of descent, and
// yields how much is done, from 0 to 1, and places x and y, always the same arrays. `columns` are coordinates of all
// points along the first axis, the second and so on, of which the first two are where points start.

function* tsne(columns) {
  const n = columns[0].length, pairs = new Float32Array(n * (n - 1) / 2);
  const x = started(columns[0]), y = started(columns[1], columns[0]);
  for (let i = 0; i < n; i++) {
    addNeighbours(pairs, columns, i);
    yield { done: 0.1 * i / n, x, y };
  }
  const ways = [x, y].map(place => ({ place, pull: new Float64Array(n), push: new Float64Array(n), speed: new Float64Array(n), gain: new Float64Array(n).fill(1) }));
  for (let step = 1; step <= TSNE.steps; step++) {
    const early = step <= TSNE.early, total = forces(pairs, ...ways);
    for (const way of ways) descend(way, early ? TSNE.exaggeration : 1, total, early ? 0.5 : 0.8);
    yield { done: 0.1 + 0.9 * step / TSNE.steps, x, y };
  }
}

const perplexityOf = n => Math.min(TSNE.perplexity, (n - 1) / 3);

// Where points start: as along a principal axis, but so close together that every group can still pass every other.

function started(column, leading = column) {
  const n = column.length, mean = values => values.reduce((a, b) => a + b, 0) / n;
  const middle = mean(column), centre = mean(leading);
  const spread = Math.sqrt(mean(leading.map(value => (value - centre) ** 2))) || 1;
  return Float64Array.from(column, value => 1e-4 * (value - middle) / spread);
}

// Adds how likely point i takes each other point for its neighbour, a Gaussian of distance as wide as gives the
// perplexity; after all points, `pairs` holds what both think of each other, 1 in all, of 0 and 1, 0 and 2, … 1 and 2, ….

function addNeighbours(pairs, columns, i) {
  const n = columns[0].length, wanted = Math.log(perplexityOf(n)), far = new Float64Array(n), near = new Float64Array(n);
  for (const column of columns) for (let j = 0; j < n; j++) far[j] += (column[j] - column[i]) ** 2;
  far[i] = Infinity;
  const least = far.reduce((a, b) => Math.min(a, b));
  let mean = 0;
  for (let j = 0; j < n; j++) if (j !== i) mean += (far[j] -= least) / n;
  let sharpness = 1 / (mean || 1), low = 0, high = Infinity, sum = 0;
  for (let attempt = 0; attempt < 50; attempt++) {
    let weighted = sum = 0;
    for (let j = 0; j < n; j++) {
      if (j === i) continue;
      near[j] = Math.exp(-sharpness * far[j]);
      sum += near[j];
      weighted += near[j] * far[j];
    }
    const excess = Math.log(sum) + sharpness * weighted / sum - wanted;
    if (Math.abs(excess) < 1e-5) break;
    if (excess > 0) low = sharpness; else high = sharpness;
    sharpness = high === Infinity ? 2 * sharpness : (low + high) / 2;
  }
  for (let j = 0; j < n; j++) {
    const [a, b] = i < j ? [i, j] : [j, i];
    if (j !== i) pairs[a * n - a * (a + 1) / 2 + b - a - 1] += near[j] / sum / n;
  }
}

// Sums of pull and push on each point; returned is what the pushes are to be divided by.

function forces(pairs, across, up) {
  const n = across.place.length, x = across.place, y = up.place;
  const pullX = across.pull.fill(0), pushX = across.push.fill(0), pullY = up.pull.fill(0), pushY = up.push.fill(0);
  let total = 0, k = 0;
  for (let i = 0; i < n; i++) {
    const xi = x[i], yi = y[i];
    let a = 0, b = 0, c = 0, d = 0;
    for (let j = i + 1; j < n; j++) {
      const dx = xi - x[j], dy = yi - y[j], near = 1 / (1 + dx * dx + dy * dy);
      const pull = pairs[k++] / 2 * near, push = near * near;
      total += 2 * near;
      a += pull * dx; pullX[j] -= pull * dx;
      b += pull * dy; pullY[j] -= pull * dy;
      c += push * dx; pushX[j] -= push * dx;
      d += push * dy; pushY[j] -= push * dy;
    }
    pullX[i] += a; pullY[i] += b; pushX[i] += c; pushY[i] += d;
  }
  return total;
}

// One step down the gradient of every point, with momentum, longer for those that keep their direction.

function descend({ place, pull, push, speed, gain }, exaggeration, total, momentum) {
  const n = place.length, rate = n / TSNE.exaggeration;  // Belkina et al., Nat. Commun. 10, 5415, 2019
  for (let i = 0; i < n; i++) {
    const slope = 4 * (exaggeration * pull[i] - push[i] / total);
    gain[i] = slope * speed[i] > 0 ? Math.max(0.01, 0.8 * gain[i]) : gain[i] + 0.2;
    place[i] += speed[i] = momentum * speed[i] - rate * gain[i] * slope;
  }
}
