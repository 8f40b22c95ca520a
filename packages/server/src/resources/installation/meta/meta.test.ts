import { describe, expect, it } from 'vitest'
import { startApp, useApp } from '../../../../test/app.ts'
import { readConfig } from '../../../config/config.ts'

const app = useApp()

describe('GET /v2/meta', () => {
  it('needs no token, and ignores what clients send to every endpoint', async () => {
    const answer = await app.request('GET', '/v2/meta?per_page=100', { token: 'nonsense' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ webhook_ips: [] })
  })

  it('lists the ranges the operator has set', async () => {
    const env = { MILLRACE_WEBHOOK_IPS: '192.0.2.0/24, 2001:db8::/32' }
    const second = await startApp({ env }, app.database)
    const answer = await second.request('GET', '/v2/meta')
    expect(answer.body).toEqual({ webhook_ips: ['192.0.2.0/24', '2001:db8::/32'] })
    await second.close()
  })

  it('is not served with ranges that are none', () => {
    expect(readConfig({ MILLRACE_WEBHOOK_IPS: '192.0.2.0/24 hooks.example' })).toEqual({
      ok: false,
      problems: ['MILLRACE_WEBHOOK_IPS has "hooks.example", which is not an address range.'],
    })
  })
})
