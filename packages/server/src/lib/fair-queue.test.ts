import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'

interface Item {
  owner: { organizationId: string; sender: string }
}

const organizations = ['A', 'B', 'C', 'D']
const anOwner = fc.record({
  organizationId: fc.constantFrom(...organizations),
  sender: fc.constantFrom('x', 'y', 'z'),
})
/** null: take the next one; a number: delete one of those that were added. */
const actions = fc.array(
  fc.oneof({ weight: 4, arbitrary: anOwner }, fc.constant(null), fc.integer({ min: 0, max: 50 })),
  { maxLength: 120 },
)

/** Carries out the actions, and takes what is left. Returns all items that were added, in the order they were taken. */
function play(given: ReadonlyArray<Item['owner'] | null | number>) {
  const queue = new FairQueue<Item>()
  const added: Item[] = []
  const deleted = new Set<Item>()
  const taken: Array<{ item: Item; waiting: Item[] }> = []
  const waiting = () => added.filter((item) => !deleted.has(item) && !taken.some((one) => one.item === item))
  const take = () => {
    const before = waiting()
    const item = queue.take()
    if (item !== undefined) taken.push({ item, waiting: before })
    if ((item === undefined) !== (before.length === 0)) throw new Error('What waits was not given.')
  }
  for (const action of given) {
    if (action === null) take()
    else if (typeof action === 'number') {
      const item = added[action]
      if (item === undefined) continue
      const wasWaiting = waiting().includes(item)
      const isDeleted = queue.delete(item)
      if (isDeleted !== wasWaiting) throw new Error('Only what waits can be deleted.')
      if (isDeleted) deleted.add(item)
    } else {
      const item = { owner: action }
      added.push(item)
      queue.add(item)
    }
    if (queue.size !== waiting().length) throw new Error('The size is wrong.')
  }
  while (queue.size > 0) take()
  return { added, deleted, taken }
}

const organizationOf = ({ owner }: Item) => owner.organizationId
const senderOf = ({ owner }: Item) => `${owner.organizationId} ${owner.sender}`

/** While one of a key waits, every other key that waits gets at most one turn before it, and then it is its own turn. */
function findUnfairTurn(
  taken: ReturnType<typeof play>['taken'],
  keyOf: (item: Item) => string,
): string | null {
  const turnsSince = new Map<string, string[]>()
  for (const { item, waiting } of taken) {
    const keys = new Set(waiting.map(keyOf))
    for (const known of turnsSince.keys()) if (!keys.has(known)) turnsSince.delete(known)
    const taken = keyOf(item)
    for (const key of keys) {
      if (key === taken) turnsSince.set(key, [])
      else {
        const turns = [...(turnsSince.get(key) ?? []), taken]
        if (new Set(turns).size < turns.length) return `${turns.join()} before ${key}`
        turnsSince.set(key, turns)
      }
    }
  }
  return null
}

describe('a queue in turns', () => {
  it('loses nothing, repeats nothing, and never gives what was deleted', () => {
    fc.assert(
      fc.property(actions, (given) => {
        const { added, deleted, taken } = play(given)
        const items = taken.map(({ item }) => item)
        expect(new Set(items).size).toBe(items.length)
        expect(new Set(items)).toEqual(new Set(added.filter((item) => !deleted.has(item))))
      }),
    )
  })

  it('lets no organization wait for more than one item of each other one', () => {
    fc.assert(
      fc.property(actions, (given) => {
        expect(findUnfairTurn(play(given).taken, organizationOf)).toBeNull()
      }),
    )
  })

  it('lets no sender wait for more than one item of each other sender of its organization', () => {
    fc.assert(
      fc.property(actions, (given) => {
        const { taken } = play(given)
        for (const organization of organizations) {
          const isOwn = (item: Item) => organizationOf(item) === organization
          const own = taken
            .filter(({ item }) => isOwn(item))
            .map(({ item, waiting }) => ({ item, waiting: waiting.filter(isOwn) }))
          expect(findUnfairTurn(own, senderOf)).toBeNull()
        }
      }),
    )
  })

  it('keeps the order of one sender', () => {
    fc.assert(
      fc.property(actions, (given) => {
        const { added, taken } = play(given)
        for (const key of new Set(added.map(senderOf))) {
          const places = taken
            .filter(({ item }) => senderOf(item) === key)
            .map(({ item }) => added.indexOf(item))
          expect(places).toEqual(places.toSorted((a, b) => a - b))
        }
      }),
    )
  })
})
