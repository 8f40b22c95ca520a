import { expect, it } from 'vitest'
import { eventually } from '../../../test/eventually.ts'
import { Waiter, type Waiting, type Woken } from './waiter.ts'

const agent = {
  id: 'a',
  organizationId: 'o',
  clusterId: 'c',
  queueId: 'q',
  tags: [],
  priority: null,
  lastJobPassedAt: null,
  isQueueFair: false,
}

function wait(waiting: Partial<Waiting>) {
  const answers: Woken[] = []
  const waiter = new Waiter(
    agent,
    { isIdle: true, ms: 60_000, signal: new AbortController().signal, ...waiting },
    { number: 0, at: 0 },
    (woken) => answers.push(woken),
  )
  return { waiter, answers }
}

it('a request whose time is over is not answered before it was offered a job', async () => {
  const { waiter, answers } = wait({ ms: 0 })
  await eventually('its time is over', async () => waiter.isOverdue)
  waiter.offer()
  expect(waiter.isOverdue).toBe(true)
  expect(answers).toEqual([])
  waiter.answer({ kind: 'assigned', jobId: 'j', buildId: 'b' })
  expect(answers).toEqual([{ kind: 'assigned', jobId: 'j', buildId: 'b' }])
})

it('a request that was offered what there is ends with its time', async () => {
  const { waiter, answers } = wait({ ms: 0 })
  waiter.offer()
  expect(waiter.isOffered).toBe(true)
  await eventually('its time is over', async () => answers.length > 0)
  expect(answers).toEqual([{ kind: 'nothing' }])
})

it('a request of a busy agent needs no offer', () => {
  const { waiter } = wait({ isIdle: false })
  expect(waiter).toMatchObject({ queueId: null, isOffered: true })
  waiter.answer({ kind: 'changed' })
})

it('a request that its client aborts has its answer, and gets no second one', () => {
  const client = new AbortController()
  const { waiter, answers } = wait({ signal: client.signal })
  client.abort()
  expect(answers).toEqual([{ kind: 'nothing' }])
  expect(() => waiter.answer({ kind: 'changed' })).toThrow('answered')
  expect(() => waiter.offer()).toThrow('answered')
})
