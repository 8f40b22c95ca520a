# The images of Millrace. They hold no database: set DATABASE_URL. See docs/install.md.
#
#   docker build -t millrace .                       the server: serve, worker, migrate and all other commands
#   docker build -t millrace-agent --target agent .  the same with git and ssh: for agents, and for workers that poll
#                                                    repositories
#
# A ready package replaces the first stage: --build-context pack=FOLDER, with millrace-VERSION.tgz in the folder.
# To pin the base images by digest: --build-arg NODE_IMAGE=node:24.21.0-trixie-slim@sha256:…

ARG NODE_IMAGE=node:24.21.0-trixie-slim
ARG BASE_IMAGE=debian:13.7-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm run --silent pack -- /pack

FROM scratch AS pack
COPY --from=build /pack/*.tgz /

FROM ${NODE_IMAGE} AS install
COPY --from=pack /millrace-*.tgz /pack/
RUN npm install --global --prefix /opt/millrace --omit=optional --offline --no-audit --no-fund /pack/*.tgz

FROM ${BASE_IMAGE} AS runtime
COPY --from=install /usr/local/bin/node /usr/local/bin/node
COPY --from=install /opt/millrace /opt/millrace
# The ids are fixed, because volumes remember them.
RUN echo 'millrace:x:10001:10001:Millrace:/var/lib/millrace:/bin/sh' >> /etc/passwd \
 && echo 'millrace:x:10001:' >> /etc/group \
 && ln -s /opt/millrace/bin/millrace /usr/local/bin/millrace \
 && mkdir -p /var/lib/millrace \
 && chown 10001:10001 /var/lib/millrace \
 && chmod 0700 /var/lib/millrace
ENV NODE_ENV=production \
    HOME=/var/lib/millrace \
    HOST=0.0.0.0 \
    PORT=3000 \
    MILLRACE_DATA_DIR=/var/lib/millrace \
    MILLRACE_AGENTS=0 \
    MILLRACE_METRICS_LISTEN=0.0.0.0:9464
WORKDIR /var/lib/millrace
# The only folder besides /tmp that must be writable.
VOLUME /var/lib/millrace
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Millrace" \
      org.opencontainers.image.description="A self-hosted continuous-integration control plane" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

FROM runtime AS agent
# tini ends the processes that jobs leave behind, which Node as the first process would not.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates curl git openssh-client tini \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
ENV MILLRACE_AGENT_BUILD_PATH=/var/lib/millrace/builds
USER 10001:10001
ENTRYPOINT ["tini", "--", "millrace"]
CMD ["agent", "start"]

FROM runtime AS server
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.MILLRACE_METRICS_LISTEN || process.env.PORT).split(':').at(-1) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
USER 10001:10001
ENTRYPOINT ["millrace"]
CMD ["serve"]
