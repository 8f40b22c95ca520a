// The slots of recipients in this process. Every recipient has one reserved slot. Beyond that, recipients share further
// slots, a few each. So a receiver that hangs delays no other: it occupies its reserved slot and, for the time of one
// attempt, a small part of the shared ones. A recipient is always in one of these modes:
//
//   idle       Nothing is sent to it, and its last attempt succeeded. It has no entry here.
//   answering  At most four attempts in a row have failed. It may take shared slots.
//   failing    Its last five attempts failed. It has only its reserved slot.
//
//   idle -> answering     answering -> failing | idle     failing -> answering, after one success
//
// Of the recipients whose last attempt failed and to which nothing is sent now, only the latest are remembered. Others are idle.
import assert from 'node:assert/strict'
import type { Capacity } from './ordered-queues.ts'

const sharedSlots = 128
const queuesPerRecipient = 16
const mostFailures = 5
const mostRemembered = 1000

interface Recipient {
  /** The number of its queues that are sent now. */
  inFlight: number
  /** The number of failed attempts since the last success. */
  failures: number
}

export class Recipients {
  private readonly byId = new Map<string, Recipient>()
  /** Those with failures and without deliveries in flight, in the order of their last ones. */
  private readonly waiting = new Set<string>()

  /** The slots that are free. */
  capacity(): Omit<Capacity, 'held'> {
    const busy = [...this.byId]
    const used = busy.reduce((sum, [, { inFlight }]) => sum + Math.max(0, inFlight - 1), 0)
    const shares = busy.map(([id, { inFlight, failures }]) => {
      const most = failures >= mostFailures ? 1 : queuesPerRecipient
      return [id, { free: Math.max(0, most - inFlight), hasReserved: inFlight === 0 }] as const
    })
    return { shared: sharedSlots - used, perRecipient: queuesPerRecipient, shares: new Map(shares) }
  }

  takeSlot(id: string): void {
    const recipient = this.byId.get(id) ?? { inFlight: 0, failures: 0 }
    this.byId.set(id, recipient)
    this.waiting.delete(id)
    recipient.inFlight += 1
  }

  noteAttempt(id: string, hasFailed: boolean): void {
    const recipient = this.busy(id)
    recipient.failures = hasFailed ? recipient.failures + 1 : 0
  }

  releaseSlot(id: string): void {
    const recipient = this.busy(id)
    recipient.inFlight -= 1
    if (recipient.inFlight > 0) return
    if (recipient.failures === 0) this.byId.delete(id)
    else this.remember(id)
  }

  private remember(id: string): void {
    this.waiting.add(id)
    const [oldest] = this.waiting
    if (oldest === undefined || this.waiting.size <= mostRemembered) return
    this.waiting.delete(oldest)
    this.byId.delete(oldest)
  }

  private busy(id: string): Recipient {
    const recipient = this.byId.get(id)
    assert(recipient !== undefined && recipient.inFlight > 0)
    return recipient
  }
}
