// Counts what callers hold at the same time (work, streams, requests), with a limit for each sender, for each organization,
// and for all together.
import { ApiError, unavailable } from './errors.ts'

export interface Owner {
  organizationId: string
  /** A user, a job, or what else acts on its own: the limits of one sender concern no other. */
  sender: string
}

export interface Limits {
  perSender: number
  perOrganization: number
  all: number
}

export class Holdings {
  readonly limits: Limits
  /** What is held, as a phrase in the plural. */
  private readonly name: string
  private readonly bySender = new Map<string, number>()
  private readonly byOrganization = new Map<string, number>()
  private total = 0
  private refusals = 0

  constructor(name: string, limits: Limits) {
    this.name = name
    this.limits = limits
  }

  get held(): number {
    return this.total
  }

  get refused(): number {
    return this.refusals
  }

  /** Returns a function that gives it back; calling that again does nothing. Throws when a limit is reached. */
  take({ organizationId, sender }: Owner): () => void {
    const key = `${organizationId} ${sender}`
    this.refuseMore(this.bySender.get(key) ?? 0, this.byOrganization.get(organizationId) ?? 0)
    add(this.bySender, key, 1)
    add(this.byOrganization, organizationId, 1)
    this.total++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      add(this.bySender, key, -1)
      add(this.byOrganization, organizationId, -1)
      this.total--
    }
  }

  private refuseMore(ofSender: number, ofOrganization: number): void {
    const { perSender, perOrganization, all } = this.limits
    const more = `Ask again when some of them have ended.`
    if (ofSender >= perSender)
      throw this.refuse(`You have ${perSender} ${this.name} at once. ${more}`, perSender)
    if (ofOrganization >= perOrganization)
      throw this.refuse(
        `The organization has ${perOrganization} ${this.name} at once. ${more}`,
        perOrganization,
      )
    if (this.total < all) return
    this.refusals++
    throw unavailable(`The server has ${all} ${this.name} at once. Asking again is safe.`)
  }

  private refuse(message: string, limit: number): ApiError {
    this.refusals++
    return new ApiError(429, message, { details: { limit, reset: retrySeconds } })
  }
}

const retrySeconds = 2

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
