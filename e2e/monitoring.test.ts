import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../testbed/src/free-port.ts'
import { anEmptyDatabase } from './databases.ts'
import { aDirectory, eventually, millrace, startServer, stop } from './millrace.ts'

/** Keeps the bodies of requests with their paths. */
async function aCollector() {
  const received: Array<{ path: string; type: string; body: string }> = []
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { url: path = '', headers } = request
      received.push({ path, type: headers['content-type'] ?? '', body: body.toString('latin1') })
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

it('millrace worker serves health and metrics, and every process sends traces', async () => {
  const collector = await aCollector()
  const port = await freePort()
  const settings = {
    DATABASE_URL: await anEmptyDatabase('monitoring'),
    MILLRACE_DATA_DIR: aDirectory(),
    MILLRACE_DRAIN_SECONDS: '0',
    MILLRACE_METRICS_TOKEN: 'a-token-of-monitoring',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'ci',
  }
  const api = await startServer(settings, 'serve')
  const worker = await startServer({ ...settings, MILLRACE_METRICS_LISTEN: `127.0.0.1:${port}` }, 'worker')
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    return { status: response.status, text: await response.text() }
  }
  expect(await get('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' })
  expect(await get('/readyz')).toEqual({ status: 200, text: '{"status":"ready"}' })
  expect((await get('/metrics')).status).toBe(401)
  const authorization = `Bearer ${settings.MILLRACE_METRICS_TOKEN}`
  const text = await eventually('pollers have run', async () => {
    const metrics = await get('/metrics', { authorization })
    const isWhole = ['millrace_poller_duration_seconds_count{', 'millrace_relay_lag_seconds '].every(
      (start) => metrics.text.includes(`\n${start}`),
    )
    return isWhole && metrics.text
  })
  expect(text).toMatch(/^millrace_info\{version="[^"]+",roles="worker"\} 1$/m)
  expect(text).toMatch(/^millrace_relay_lag_seconds \d/m)
  expect(text).toMatch(/^millrace_database_connection_wait_seconds_count\{pool="background"\} [1-9]/m)

  const other = { ...settings, MILLRACE_METRICS_LISTEN: `127.0.0.1:${port}` }
  const refused = await millrace(['worker'], other)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(
    `MILLRACE_METRICS_LISTEN 127.0.0.1:${port} cannot be listened on (EADDRINUSE)`,
  )

  expect((await api.get('/v2/organizations/default/clusters', 'mrt_unknown')).status).toBe(401)
  // What was not sent yet is sent by the stop.
  expect([(await stop(api)).code, (await stop(worker)).code]).toEqual([0, 0])
  const traced = collector.received.find(({ body }) => body.includes('GET /v2/organizations/:org/clusters'))
  expect(traced).toMatchObject({ path: '/v1/traces', type: 'application/x-protobuf' })
  expect(traced?.body).toContain('SELECT')
  expect(traced?.body).toContain('ci')
})
