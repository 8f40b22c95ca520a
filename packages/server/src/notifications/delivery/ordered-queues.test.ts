import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import { anOrganization } from '../../../test/builders.ts'
import { newId } from '../../lib/ids.ts'
import { claimLanes, type Lane, type Share } from './ordered-queues.ts'

const app = useApp()

beforeEach(() => app.db.deleteFrom('notification_lanes').execute())

/** An owner with so many lanes that are due. */
async function anOwner(lanes: number): Promise<string> {
  const { id: organizationId } = await anOrganization(app)
  const [id, dueAt] = [newId(), new Date(0).toISOString()]
  const rows = Array.from({ length: lanes }, (_, n) => ({
    owner_id: id,
    lane: String(n),
    organization_id: organizationId,
    due_at: dueAt,
  }))
  await app.db.insertInto('notification_lanes').values(rows).execute()
  return id
}

const claim = (shared: number, shares: ReadonlyArray<[string, Share]> = []) =>
  claimLanes(app.db, new Date(), { shared, usual: 16, shares: new Map(shares), held: [] })

const countOf = (lanes: readonly Lane[], owner: string) =>
  lanes.filter(({ owner_id: id }) => id === owner).length

describe('claiming lanes', () => {
  it('gives everybody a place of their own, although nothing that is shared is left', async () => {
    const owners = [await anOwner(3), await anOwner(40), await anOwner(1)]
    const claimed = await claim(0)
    expect(owners.map((owner) => countOf(claimed, owner))).toEqual([1, 1, 1])
  })

  it('gives nothing more to those who have taken theirs, and nothing of theirs to others', async () => {
    const [hanging, failing, fresh] = [await anOwner(40), await anOwner(40), await anOwner(40)]
    const claimed = await claim(4, [
      [hanging, { free: 0, hasOwn: false }],
      [failing, { free: 1, hasOwn: true }],
    ])
    expect([hanging, failing, fresh].map((owner) => countOf(claimed, owner))).toEqual([0, 1, 5])
    const again = await claim(0, [[failing, { free: 15, hasOwn: false }]])
    expect([hanging, failing, fresh].map((owner) => countOf(again, owner))).toEqual([1, 0, 1])
  })

  it('lets what is shared go round', async () => {
    const owners = [await anOwner(40), await anOwner(40), await anOwner(40)]
    const claimed = await claim(9)
    expect(owners.map((owner) => countOf(claimed, owner))).toEqual([4, 4, 4])
  })

  it('takes none again that has not been put down, although its lease has ended', async () => {
    const owner = await anOwner(2)
    const held = [{ owner_id: owner, lane: '0' }]
    const places = { shared: 128, usual: 16, shares: new Map<string, Share>() }
    const claimed = await claimLanes(app.db, new Date(), { ...places, held })
    expect(claimed).toEqual([{ owner_id: owner, lane: '1' }])
    expect(await claim(128)).toEqual(held)
  })

  it('takes no more of one than is usual, and none that somebody holds', async () => {
    const owner = await anOwner(40)
    const first = await claim(128)
    const second = await claim(128)
    expect([first.length, second.length]).toEqual([16, 16])
    expect(new Set([...first, ...second].map(({ lane }) => lane)).size).toBe(32)
    expect(countOf(await claim(128), owner)).toBe(8)
  })
})
