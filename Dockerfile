# One image for the API, the worker, migrations and administration; the targets `api` and `worker` differ in what they
# start and in what their health check asks. docs/operate/deploy.md.
FROM node:26.10.0-bookworm-slim AS base
# From npm 11 on, `allowScripts` of package.json decides which packages may run a script when they are installed.
RUN npm install --global npm@11.19.1
WORKDIR /app

FROM base AS build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM base AS production-dependencies
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:26.10.0-bookworm-slim AS runtime
# Certificates: Temporal's client reads the system's, which the slim image lacks. tini: the first process of a container
# gets no default action for signals, and nobody else would wait for orphans.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY package.json ./
COPY --from=production-dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# A volume that is mounted here for the first time takes over whose the folder is.
RUN install -d -o node -g node /var/lib/workflow-files
USER node
ENTRYPOINT ["/usr/bin/tini", "--"]

FROM runtime AS worker
EXPOSE 9464
# Alive, not ready: where unhealthy containers are replaced, one whose Temporal is away must stay.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.WORKER_METRICS_PORT || 9464) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/activities/worker/main.js"]

FROM runtime AS api
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/api/main.js"]
