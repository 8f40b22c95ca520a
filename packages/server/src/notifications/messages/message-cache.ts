// Cache of recently read messages. Messages never change, and every delivery of a message reads it.
import { sql } from 'kysely'
import type { Db } from '../../db/pool.ts'
import { SizedCache } from '../../lib/sized-cache.ts'
import type { Message, MessageData } from './message.ts'

/** In characters of their JSON. */
const mostKept = 16 * 1024 * 1024

export interface MessageCache {
  /** By id; deleted messages are left out. */
  find(ids: ReadonlySet<string>): Promise<Map<string, Message>>
}

interface Row {
  id: string
  event: Message['event']
  occurred_at: string
  data: string
}

export function openMessageCache(db: Db): MessageCache {
  const kept = new SizedCache<string, Message>(mostKept)
  const keep = ({ id, event, occurred_at: occurredAt, data }: Row): Message => {
    const message = { id, event, occurredAt, ...(JSON.parse(data) as MessageData) }
    kept.set(id, message, data.length)
    return message
  }
  return {
    async find(ids) {
      const found = new Map<string, Message>()
      const missing: string[] = []
      for (const id of ids) {
        const message = kept.get(id)
        if (message === undefined) missing.push(id)
        else found.set(id, message)
      }
      if (missing.length === 0) return found
      const { rows } = await sql<Row>`
        select id, event, occurred_at, data::text as data from notification_messages
        where id = any (${missing}::uuid[])`.execute(db)
      for (const row of rows) found.set(row.id, keep(row))
      return found
    },
  }
}
