// One caller's stream of changes. It stores which resources have changed, not what became of them, so a slow reader costs
// little memory and always gets the newest state.
import { Readable } from 'node:stream'
import type { Membership } from '../../../http/route.ts'
import { isInFront, type Cursor } from './cursor.ts'
import type { ChangedResource, ResourceKind } from './queries.ts'

export interface StreamRequest {
  organizationId: string
  userId: string
  /** Jobs and graphs of these builds only. */
  buildIds: readonly string[]
  /** null: from now on. */
  after: Cursor | null
  /** null: the caller's access has ended. */
  reauthorize: () => Promise<Membership | null>
}

export interface Limits {
  /** More changed resources than this are not sent: the reader is told to fetch everything again. */
  mostPending: number
  mostInMessage: number
  bufferBytes: number
  drainMs: number
  aliveMs: number
  endsAfterMs: number
}

export const usualLimits: Limits = {
  mostPending: 5000,
  mostInMessage: 500,
  bufferBytes: 1024 * 1024,
  drainMs: 10_000,
  // Proxies close idle connections.
  aliveMs: 15_000,
  endsAfterMs: 600_000,
}

export type Pending = Pick<ChangedResource, 'kind' | 'id'>

/** The lists of a message. */
type Lists = Readonly<Partial<Record<ResourceKind, readonly string[]>>>

export class EventStream {
  readonly request: StreamRequest
  readonly readable: Readable
  private readonly limits: Limits
  private readonly openedAt = performance.now()
  private readonly pending = new Map<string, Pending>()
  /** Everything behind it was sent or is pending. */
  private position: Cursor | null
  /** Everything behind it was sent. */
  private sent: string | null
  private isResetDue = false
  private isEnded = false
  private writtenAt = performance.now()
  /** Since when the reader has not drained the buffer. */
  private fullSince: number | null = null

  constructor(request: StreamRequest, limits: Limits) {
    this.request = request
    this.limits = limits
    this.position = request.after
    this.sent = request.after?.text ?? null
    this.readable = new Readable({
      highWaterMark: limits.bufferBytes,
      read: () => {
        this.fullSince = null
      },
    })
    this.write('retry: 1000\n\n')
  }

  get isOpen(): boolean {
    return !this.isEnded && !this.readable.destroyed
  }

  get isReady(): boolean {
    return this.fullSince === null
  }

  /** From here on, the changes of `note` are complete. */
  start(cursor: Cursor): void {
    this.position = cursor
    if (this.sent !== null) return
    this.sent = cursor.text
    this.write(`event: hello\nid: ${cursor.text}\ndata: ${JSON.stringify({ cursor: cursor.text })}\n\n`)
  }

  /** Adds a resource, unless the reader has seen that change. */
  note({ kind, id, build_id, transaction }: ChangedResource): void {
    if (this.isResetDue || (this.position !== null && !isInFront(this.position, transaction))) return
    if (build_id !== null && !this.request.buildIds.includes(build_id)) return
    this.pending.set(`${kind} ${id}`, { kind, id })
    if (this.pending.size > this.limits.mostPending) this.reset()
  }

  /** All changes behind the cursor have been noted. */
  advance(cursor: Cursor): void {
    this.position = cursor
  }

  reset(): void {
    this.pending.clear()
    this.isResetDue = true
  }

  get hasNews(): boolean {
    return this.isResetDue || this.pending.size > 0
  }

  /** The resources of the next message. */
  next(): Pending[] {
    return [...this.pending.values()].slice(0, this.limits.mostInMessage)
  }

  /** Sends what became of resources that `next` returned. Without entries nothing is sent. */
  send(resources: readonly Pending[], lists: Lists): void {
    if (this.isResetDue) {
      this.sendReset()
      return
    }
    for (const { kind, id } of resources) this.pending.delete(`${kind} ${id}`)
    const entries = Object.entries(lists).filter(([, list]) => list.length > 0)
    if (entries.length === 0) return
    const data = entries.map(([kind, list]) => `"${kind}s":[${list.join(',')}]`).join(',')
    this.sendChanges(`{${data}}`)
  }

  /** To be called now and then. Ends a stream that is too old or whose reader is too slow. */
  tick(): void {
    const now = performance.now()
    if (this.fullSince !== null && now - this.fullSince > this.limits.drainMs) {
      this.readable.destroy()
    } else if (now - this.openedAt > this.limits.endsAfterMs) {
      this.end()
    } else if (this.isReady && now - this.writtenAt > this.limits.aliveMs) {
      // A reader of few changes should not fall far behind in the outbox.
      if (this.hasNews || this.position === null || this.sent === this.position.text)
        this.write(': still there\n\n')
      else this.sendChanges('{}')
    }
  }

  end(): void {
    if (!this.isOpen) return
    this.isEnded = true
    this.readable.push(null)
  }

  private sendReset(): void {
    const cursor = this.position?.text ?? this.sent
    if (cursor === null) return
    this.isResetDue = false
    this.sent = cursor
    this.write(`event: reset\nid: ${cursor}\ndata: ${JSON.stringify({ cursor })}\n\n`)
  }

  /** A message that leaves resources pending has the cursor of the one before it, so that a reader continues there. */
  private sendChanges(data: string): void {
    if (this.pending.size === 0 && this.position !== null) this.sent = this.position.text
    this.write(`event: changes\nid: ${this.sent}\ndata: ${data}\n\n`)
  }

  private write(text: string): void {
    this.writtenAt = performance.now()
    if (this.isOpen && !this.readable.push(text)) this.fullSince ??= performance.now()
  }
}
