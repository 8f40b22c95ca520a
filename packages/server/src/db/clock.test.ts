import { afterEach, expect, it, vi } from 'vitest'
import { useApp } from '../../test/app.ts'
import { followDatabaseClock } from './clock.ts'

const app = useApp()

afterEach(() => void vi.useRealTimers())

it.each([
  ['ahead', 600_000],
  ['back', -600_000],
])('goes on when the clock of the machine jumps %s', async (_, stepMs) => {
  const clock = await followDatabaseClock(app.database.pool)
  const before = clock.now().getTime()
  const startedAt = clock.startedAt().getTime()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + stepMs })
  const jumpMs = Math.abs(clock.now().getTime() - before)
  expect(jumpMs).toBeLessThan(300_000)
  expect(clock.startedAt().getTime()).toBe(startedAt)
  await clock.stop()
})
