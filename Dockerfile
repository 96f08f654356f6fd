# TopoRank with its scorer and its compiled code: builds with a network, runs without. See docs/cluster.md.
FROM python:3.11-slim-bookworm

# Compiled code fits every processor of the architecture, whichever built the image.
ENV NUMBA_CPU_NAME=generic \
    NUMBA_CACHE_DIR=/opt/compiled \
    PIP_NO_CACHE_DIR=1 \
    PATH="/opt/venv/bin:$PATH" \
    HOME=/tmp \
    USER=toporank

# Where pip finds a smaller build of torch, if you name it.
ARG PIP_EXTRA_INDEX_URL

# Numba takes compiled code only where the source has the same time, of which images keep whole seconds, and only from a
# folder that it could write to, whoever runs the image.
WORKDIR /opt/toporank
COPY . .
RUN python3 -m venv /opt/venv \
    && pip install -r requirements-train.txt \
    && find lib -name "*.py" -exec touch -d 2000-01-01 {} + \
    && python -m compileall -q lib \
    && python -m toporank compile \
    && chmod -R a+rwX "$NUMBA_CACHE_DIR" \
    && install -d -m 777 /data

USER 1000
