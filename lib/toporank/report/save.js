// Pictures and drawings of the page as files for slides: a drawing as SVG and as PNG, a picture as it is.

const STYLED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "display"];
const SHARPER = 3;

function save(name, address) {
  make("a", { href: address, download: name.replace(/[^\p{L}\p{N}.+-]+/gu, "_") }).click();
}

// An SVG that looks the same without the page's styles.

function standing(svg) {
  const copy = svg.cloneNode(true), copies = [copy, ...$("*", copy)], { width, height } = svg.getBoundingClientRect();
  [svg, ...$("*", svg)].forEach((node, k) => {
    const style = getComputedStyle(node);
    for (const name of STYLED) copies[k].style.setProperty(name, style.getPropertyValue(name));
  });
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(name, value);
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
}

async function painting(svg) {
  const image = new Image(), canvas = make("canvas"), { width, height } = svg.getBoundingClientRect();
  image.src = standing(svg);
  await image.decode();
  [canvas.width, canvas.height] = [SHARPER * width, SHARPER * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}

function saving(kind, act) {
  const button = make("button", { type: "button", class: "save" }, `Save ${kind}`);
  button.addEventListener("click", act);
  return button;
}

for (const figure of $("figure:not(.pane)")) {
  const [picture] = $("img", figure), [svg] = $("svg", figure);
  const name = `${document.title} ${(figure.querySelector("h3, figcaption")?.textContent ?? "").trim().slice(0, 60)}`;
  if (picture) figure.append(saving("PNG", () => save(`${name}.png`, picture.src)));
  else if (svg) figure.append(saving("SVG", () => save(`${name}.svg`, standing(svg))), saving("PNG", async () => save(`${name}.png`, await painting(svg))));
}
