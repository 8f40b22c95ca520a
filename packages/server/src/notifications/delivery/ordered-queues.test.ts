import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { anOrganization } from '../../../test/builders.ts'
import { newId } from '../../lib/ids.ts'
import { claimQueues, type OrderedQueue, type Share } from './ordered-queues.ts'

const app = useApp()

beforeEach(() => app.db.deleteFrom('notification_queues').execute())

/** A recipient with that many queues that are due. */
async function aRecipient(queues: number): Promise<string> {
  const { id: organizationId } = await anOrganization(app)
  const [id, dueAt] = [newId(), new Date(0).toISOString()]
  const rows = Array.from({ length: queues }, (_, n) => ({
    owner_id: id,
    ordered_queue: String(n),
    organization_id: organizationId,
    due_at: dueAt,
  }))
  await app.db.insertInto('notification_queues').values(rows).execute()
  return id
}

const claim = (shared: number, shares: ReadonlyArray<[string, Share]> = []) =>
  claimQueues(app.db, new Date(), { shared, perRecipient: 16, shares: new Map(shares), held: [] })

const countOf = (queues: readonly OrderedQueue[], recipient: string) =>
  queues.filter(({ owner_id: id }) => id === recipient).length

describe('claiming ordered queues', () => {
  it('gives every recipient its reserved slot, also when no shared slot is left', async () => {
    const recipients = [await aRecipient(3), await aRecipient(40), await aRecipient(1)]
    const claimed = await claim(0)
    expect(recipients.map((recipient) => countOf(claimed, recipient))).toEqual([1, 1, 1])
  })

  it('gives a recipient no more than its share, and no reserved slot of another', async () => {
    const [hanging, failing, fresh] = [await aRecipient(40), await aRecipient(40), await aRecipient(40)]
    const claimed = await claim(4, [
      [hanging, { free: 0, hasReserved: false }],
      [failing, { free: 1, hasReserved: true }],
    ])
    expect([hanging, failing, fresh].map((recipient) => countOf(claimed, recipient))).toEqual([0, 1, 5])
    const again = await claim(0, [[failing, { free: 15, hasReserved: false }]])
    expect([hanging, failing, fresh].map((recipient) => countOf(again, recipient))).toEqual([1, 0, 1])
  })

  it('deals out shared slots in turn', async () => {
    const recipients = [await aRecipient(40), await aRecipient(40), await aRecipient(40)]
    const claimed = await claim(9)
    expect(recipients.map((recipient) => countOf(claimed, recipient))).toEqual([4, 4, 4])
  })

  it('does not claim a queue that the process still holds, even when its lease has ended', async () => {
    const recipient = await aRecipient(2)
    const held = [{ owner_id: recipient, ordered_queue: '0' }]
    const slots = { shared: 128, perRecipient: 16, shares: new Map<string, Share>() }
    const claimed = await claimQueues(app.db, new Date(), { ...slots, held })
    expect(claimed).toEqual([{ owner_id: recipient, ordered_queue: '1' }])
    expect(await claim(128)).toEqual(held)
  })

  it('claims at most the usual number of queues of one recipient, and none that is leased', async () => {
    const recipient = await aRecipient(40)
    const first = await claim(128)
    const second = await claim(128)
    expect([first.length, second.length]).toEqual([16, 16])
    expect(new Set([...first, ...second].map(({ ordered_queue: name }) => name)).size).toBe(32)
    expect(countOf(await claim(128), recipient)).toBe(8)
  })
})
