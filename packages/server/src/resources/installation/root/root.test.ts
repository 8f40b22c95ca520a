import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'

const app = useApp()

describe('GET /', () => {
  it('greets programs, with the time', async () => {
    const before = Math.floor(app.ctx.now().getTime() / 1000)
    const answer = await app.request('GET', '/', { headers: { Accept: '*/*' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ message: '🛠', timestamp: expect.any(Number) })
    expect(Number(answer.body.timestamp)).toBeGreaterThanOrEqual(before)
    expect(Number(answer.body.timestamp)).toBeLessThanOrEqual(app.ctx.now().getTime() / 1000)
  })
})
