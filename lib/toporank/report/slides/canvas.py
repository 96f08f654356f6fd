"""A drawing for a slide: shapes and texts on a canvas, written as SVG, which needs nothing, or as PNG by matplotlib."""

from __future__ import annotations

import base64
import importlib.util
import io
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from toporank.errors import ConfigError

INK, MUTED, LINE = "#1b2530", "#5b6875", "#d5dce0"
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
ANCHORS = {"start": "left", "middle": "center", "end": "right"}
"""Of SVG, and what matplotlib calls them."""
POINTS = 72 / 100
"""Of a pixel, at 100 pixels an inch."""
NO_MATPLOTLIB = "pip install 'toporank[train]', or -r requirements-train.txt in a clone; or take --format svg"

Points = Sequence[tuple[float, float]]


class Shape(NamedTuple):
    """A polygon, or a line where it is not filled. Colours as `#rrggbb`, lengths in pixels. thick : of the line."""

    points: Points
    fill: str = ""
    stroke: str = ""
    thick: float = 0.0
    opacity: float = 1.0
    closed: bool = True


class Dot(NamedTuple):
    """A circle."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str = ""
    thick: float = 0.0


class Text(NamedTuple):
    """A line of text. y : of its baseline. turned : it runs upwards."""

    x: float
    y: float
    text: str
    size: float
    fill: str = INK
    anchor: str = "start"
    bold: bool = False
    turned: bool = False


class Picture(NamedTuple):
    """Pixels in a rectangle. pixels : uint8, (h, w, 3) or with alpha (h, w, 4). smooth : blurred where enlarged."""

    x: float
    y: float
    width: float
    height: float
    pixels: np.ndarray
    smooth: bool = True


class Canvas:
    """What is drawn, in this order, on a white ground. width, height : pixels."""

    def __init__(self, width: float, height: float, label: str):
        """label : what the drawing shows, in words."""
        self.width, self.height, self.label = width, height, label
        self.drawn: list[Shape | Dot | Text | Picture] = []

    def polygon(self, points: Points, fill: str = "", **style: float | str) -> None:
        """A closed shape."""
        self.drawn.append(Shape([*points], fill, **style))

    def line(self, points: Points, stroke: str = LINE, thick: float = 1.0, opacity: float = 1.0) -> None:
        """An open line."""
        self.drawn.append(Shape([*points], "", stroke, thick, opacity, closed=False))

    def box(self, x: float, y: float, width: float, height: float, fill: str = "", **style: float | str) -> None:
        """A rectangle."""
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], fill, **style)

    def dot(self, x: float, y: float, radius: float, fill: str, stroke: str = "", thick: float = 0.0) -> None:
        """A circle."""
        self.drawn.append(Dot(x, y, radius, fill, stroke, thick))

    def text(self, x: float, y: float, text: str, size: float, **style: str | bool) -> None:
        """A line of text."""
        self.drawn.append(Text(x, y, text, size, **style))

    def picture(self, x: float, y: float, width: float, height: float, pixels: np.ndarray, smooth: bool = True) -> None:
        """Pixels, (h, w, 3) or (h, w, 4)."""
        self.drawn.append(Picture(x, y, width, height, pixels, smooth))

    def colour_bar(self, x: float, y: float, width: float, height: float, colours: Sequence[str]) -> None:
        """A horizontal scale from the first colour to the last."""
        pixels = (255 * blended(colours, np.linspace(0, 1, 256)[None])).round().astype(np.uint8)
        self.picture(x, y, width, height, pixels)


def rgb(colour: str) -> np.ndarray:
    """`#rrggbb` as three numbers from 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def blended(colours: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Colours of values from 0 to 1 on a scale of equal steps: (…,) → (…, 3), from 0 to 1."""
    table, at = np.array([rgb(colour) for colour in colours]), np.linspace(0, 1, len(colours))
    return np.stack([np.interp(values, at, table[:, channel]) for channel in range(3)], axis=-1)


def hexed(colour: Iterable[float]) -> str:
    """Three numbers from 0 to 1 as `#rrggbb`."""
    return "#" + "".join(f"{round(255 * value):02x}" for value in colour)


def shade(colours: Sequence[str], value: float) -> str:
    """The colour of a value from 0 to 1 on a scale."""
    return hexed(blended(colours, np.array(value)))


def png_bytes(pixels: np.ndarray) -> bytes:
    """A PNG file of uint8 pixels, (h, w, 3) or (h, w, 4)."""
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # the first byte of a row says that it is not filtered
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(kind, data) for kind, data in parts)


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_address(pixels: np.ndarray) -> str:
    """Pixels as an address that has them in it, for `src` and `href`."""
    return f"data:image/png;base64,{base64.b64encode(png_bytes(pixels)).decode()}"


# ---- slides ----------------------------------------------------------------------------------------------

SIDE = 60.0
"""Of a slide, free."""


def titled(canvas: Canvas, title: str, lines: Sequence[str]) -> float:
    """Write the head of a slide; returns where the rest begins."""
    canvas.text(SIDE, 70, fitting(title, 34, canvas.width - 2 * SIDE, bold=True), 34, bold=True)
    for nth, line in enumerate(lines):
        canvas.text(SIDE, 108 + 30 * nth, fitting(line, 22, canvas.width - 2 * SIDE), 22, fill=MUTED)
    return 108.0 + 30 * len(lines)


def wide(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is, in pixels."""
    return sum(0.36 if letter in "ijl.,:;|' -()" else 0.63 for letter in text) * size * (1.12 if bold else 1.0)


def fitting(text: str, size: float, width: float, bold: bool = False) -> str:
    """The text, without its middle where it is too wide."""
    if wide(text, size, bold) <= width:
        return text
    kept = len(text)
    while kept > 4 and wide(text[:kept] + "…", size, bold) > width:
        kept -= 1
    return f"{text[: kept // 2]}…{text[-((kept - 1) // 2) :]}"


# ---- SVG --------------------------------------------------------------------------------------------------


def svg(canvas: Canvas) -> str:
    """A canvas as an SVG file; the same canvas gives the same text.

    Pictures have the older `xlink:href`, since programs for slides know no other.
    """
    size = f'width="{canvas.width:g}" height="{canvas.height:g}" viewBox="0 0 {canvas.width:g} {canvas.height:g}"'
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    head = f'<svg {names} {size} role="img" font-family="{FONT}">'
    ground = f'<rect width="{canvas.width:g}" height="{canvas.height:g}" fill="#ffffff"/>'
    parts = [head, f"<title>{escape(canvas.label)}</title>", ground, *map(_element, canvas.drawn), "</svg>"]
    return "\n".join(parts) + "\n"


def _element(item: Shape | Dot | Text | Picture) -> str:
    return {Shape: _shape, Dot: _dot, Text: _text, Picture: _picture}[type(item)](item)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _stroke(stroke: str, thick: float) -> str:
    if not stroke:
        return ""
    return f' stroke="{stroke}" stroke-width="{_n(thick)}" stroke-linejoin="round" stroke-linecap="round"'


def _shape(item: Shape) -> str:
    path = "L".join(f"{_n(x)} {_n(y)}" for x, y in item.points)
    opacity = "" if item.opacity == 1 else f' opacity="{_n(item.opacity)}"'
    end = "Z" if item.closed else ""
    return f'<path d="M{path}{end}" fill="{item.fill or "none"}"{_stroke(item.stroke, item.thick)}{opacity}/>'


def _dot(item: Dot) -> str:
    place = f'cx="{_n(item.x)}" cy="{_n(item.y)}" r="{_n(item.radius)}"'
    return f'<circle {place} fill="{item.fill}"{_stroke(item.stroke, item.thick)}/>'


def _text(item: Text) -> str:
    turn = f' transform="rotate(-90 {_n(item.x)} {_n(item.y)})"' if item.turned else ""
    weight = ' font-weight="bold"' if item.bold else ""
    style = f'font-size="{_n(item.size)}" fill="{item.fill}" text-anchor="{item.anchor}"{weight}{turn}'
    return f'<text x="{_n(item.x)}" y="{_n(item.y)}" {style}>{escape(item.text)}</text>'


def _picture(item: Picture) -> str:
    place = f'x="{_n(item.x)}" y="{_n(item.y)}" width="{_n(item.width)}" height="{_n(item.height)}"'
    edges = "" if item.smooth else ' style="image-rendering:pixelated"'
    return f'<image {place} preserveAspectRatio="none" xlink:href="{data_address(item.pixels)}"{edges}/>'


# ---- PNG --------------------------------------------------------------------------------------------------


def check_matplotlib() -> None:
    """Raise ConfigError, which says what to install, where matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError("PNG pictures need matplotlib", where="--format png", remedy=NO_MATPLOTLIB)


def png(canvas: Canvas) -> bytes:
    """A canvas as a PNG file of its size. Raises ConfigError without matplotlib."""
    check_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context({"font.family": "DejaVu Sans", "text.parse_math": False}):
        figure = Figure(figsize=(canvas.width / 100, canvas.height / 100), dpi=100, facecolor="#ffffff")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        for order, item in enumerate(canvas.drawn):
            _paint(axes, item, order)
        axes.set(xlim=(0, canvas.width), ylim=(canvas.height, 0))
        file = io.BytesIO()
        FigureCanvasAgg(figure).print_png(file, metadata={"Description": canvas.label, "Software": None})
    return file.getvalue()


def _paint(axes, item: Shape | Dot | Text | Picture, order: int) -> None:
    from matplotlib.patches import Circle, Polygon

    if isinstance(item, Picture):
        box = (item.x, item.x + item.width, item.y + item.height, item.y)
        how = "antialiased" if item.smooth else "nearest"
        axes.imshow(item.pixels, extent=box, interpolation=how, aspect="auto", zorder=order)
    elif isinstance(item, Text):
        weight, turn = "bold" if item.bold else "normal", 90 if item.turned else 0
        style = {"color": item.fill, "fontsize": 0.94 * item.size * POINTS, "fontweight": weight, "rotation": turn}
        sides = {"ha": ANCHORS[item.anchor], "va": "baseline", "rotation_mode": "anchor"}
        axes.text(item.x, item.y, item.text, **style, **sides, zorder=order)
    elif isinstance(item, Dot):
        edge = {"edgecolor": item.stroke or "none", "linewidth": item.thick * POINTS}
        axes.add_patch(Circle((item.x, item.y), item.radius, facecolor=item.fill, zorder=order, **edge))
    else:
        edge = {"edgecolor": item.stroke or "none", "linewidth": item.thick * POINTS, "joinstyle": "round"}
        face = item.fill or "none"
        shape = Polygon(item.points, closed=item.closed, facecolor=face, alpha=item.opacity, zorder=order, **edge)
        shape.set_capstyle("round")
        axes.add_patch(shape)
