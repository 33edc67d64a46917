# The yard in a container:
#   docker build -t mcpyard .
#   docker run -d -p 127.0.0.1:8712:8712 -v mcpyard:/data --name mcpyard mcpyard
#   docker exec mcpyard mcpyard login-link
# Several of them as one cluster: see docs/cluster.md and the folder deploy.
# Servers run inside it: an image that has their programs (Node, uv) is best made from this one.
# Behind a name of its own, end the second line with: up --host 0.0.0.0 --insecure --allow-host NAME

FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 yard && install -d -m 700 -o yard -g yard /data /certs
COPY requirements-image.txt /tmp/requirements.txt
RUN pip install --no-cache-dir --no-deps --require-hashes -r /tmp/requirements.txt
COPY --from=build /wheels /tmp/wheels
RUN pip install --no-cache-dir --no-deps /tmp/wheels/*.whl
USER yard
WORKDIR /home/yard
ENV MCPYARD_HOME=/data PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8712
# The published port is bound to loopback above; in there, every address has to be listened on.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8712/healthz', timeout=4)"]
ENTRYPOINT ["mcpyard"]
CMD ["up", "--host", "0.0.0.0", "--port", "8712", "--insecure", "--allow-host", "localhost"]
