// Waiting work, taken in turns: one item of each organization, and within an organization one item of each sender. Between
// two items of an organization, every other organization gets at most one.
import type { Owner } from './holdings.ts'

type Waiting<Item> = Map<string, Map<string, Set<Item>>>

export class FairQueue<Item extends { owner: Owner }> {
  /** By organization and sender. Both maps are in the order of the next turns. */
  private readonly waiting: Waiting<Item> = new Map()
  private count = 0

  get size(): number {
    return this.count
  }

  add(item: Item): void {
    const { organizationId, sender } = item.owner
    const ofOrganization = this.waiting.get(organizationId) ?? new Map<string, Set<Item>>()
    const ofSender = ofOrganization.get(sender) ?? new Set<Item>()
    if (ofSender.has(item)) return
    ofSender.add(item)
    ofOrganization.set(sender, ofSender)
    this.waiting.set(organizationId, ofOrganization)
    this.count++
  }

  take(): Item | undefined {
    for (const [organizationId, ofOrganization] of this.waiting) {
      for (const [sender, ofSender] of ofOrganization) {
        for (const item of ofSender) {
          this.delete(item)
          moveToEnd(ofOrganization, sender)
          moveToEnd(this.waiting, organizationId)
          return item
        }
      }
    }
    return undefined
  }

  /** False: it does not wait any more. */
  delete(item: Item): boolean {
    const { organizationId, sender } = item.owner
    const ofOrganization = this.waiting.get(organizationId)
    const ofSender = ofOrganization?.get(sender)
    if (ofOrganization === undefined || ofSender?.delete(item) !== true) return false
    if (ofSender.size === 0) ofOrganization.delete(sender)
    if (ofOrganization.size === 0) this.waiting.delete(organizationId)
    this.count--
    return true
  }
}

function moveToEnd<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
