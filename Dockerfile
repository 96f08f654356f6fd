# TopoRank with its scorer and its compiled code: builds with a network, runs without. See docs/container.md.
FROM python:3.11-slim-bookworm

# Compiled code fits every processor of the architecture, whichever built the image.
ENV NUMBA_CPU_NAME=generic \
    PIP_NO_CACHE_DIR=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PATH="/opt/venv/bin:$PATH" \
    HOME=/tmp \
    USER=toporank

# Where pip finds a smaller build of torch, if you name it.
ARG PIP_EXTRA_INDEX_URL

WORKDIR /opt/toporank
COPY . .
RUN python3 -m venv /opt/venv \
    && pip install -r requirements.txt \
    && python -m toporank compile \
    && useradd --uid 1000 --no-create-home toporank \
    && install -d -o toporank /work

USER 1000
