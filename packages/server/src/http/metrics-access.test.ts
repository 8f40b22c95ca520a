import { describe, expect, it, onTestFinished } from 'vitest'
import { startApp, type AppOptions } from '../../test/app.ts'

async function metricsOf(env: AppOptions['env'], headers: Record<string, string> = {}) {
  const app = await startApp({ env: env ?? {} })
  onTestFinished(() => app.close())
  return (await app.request('GET', '/metrics', { headers })).status
}

const token = 'a token of monitoring'.replaceAll(' ', '-')

describe('abuse case R12: GET /metrics', () => {
  it('is open to the same machine, if the server listens on a loopback address', async () => {
    expect(await metricsOf({})).toBe(200)
    expect(await metricsOf({ HOST: '::1' })).toBe(200)
  })

  it.each(['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via'])(
    'is 401 through a proxy that sends %s',
    async (name) => {
      expect(await metricsOf({}, { [name]: '127.0.0.1' })).toBe(401)
    },
  )

  it.each(['0.0.0.0', '::', '10.1.2.3'])('is 401 where the server listens on %s', async (HOST) => {
    expect(await metricsOf({ HOST })).toBe(401)
  })

  it('needs MILLRACE_METRICS_TOKEN, if that is set', async () => {
    const env = { HOST: '0.0.0.0', MILLRACE_METRICS_TOKEN: token }
    expect(await metricsOf(env, { Authorization: `Bearer ${token}`, 'X-Forwarded-For': '10.0.0.1' })).toBe(
      200,
    )
    expect(await metricsOf(env, { Authorization: `Bearer ${token}x` })).toBe(401)
    expect(await metricsOf({ MILLRACE_METRICS_TOKEN: token })).toBe(401)
  })
})
