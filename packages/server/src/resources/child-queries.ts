// The queries that the children of a cluster or a team share. A child is a row that a URL names below its parent.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../db/pool.ts'
import { notFound } from '../lib/errors.ts'

interface Child {
  table: string
  /** The table's alias in `select`. */
  alias: string
  /** A statement up to its `where`. */
  select: RawBuilder<unknown>
  parent: 'cluster_id' | 'team_id'
  /** The column with the id in the URL, if it is not `id`. */
  key?: string
  /** The message of the 404. */
  missing: string
  /** How `lock` locks the row. The default lets other transactions insert rows that refer to it. */
  strength?: 'no key update' | 'update'
}

export function childQueries<Row>({
  table,
  alias,
  select,
  parent,
  key = 'id',
  missing,
  strength = 'no key update',
}: Child) {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  const isIn = (orgId: string, parentId: string) =>
    sql`${column('organization_id')} = ${orgId} and ${column(parent)} = ${parentId}`
  const from = sql`from ${sql.table(table)} as ${sql.ref(alias)}`

  async function get(db: Db, orgId: string, parentId: string, id: string): Promise<Row> {
    const { rows } = await sql<Row>`
      ${select} where ${isIn(orgId, parentId)} and ${column(key)} = ${id}`.execute(db)
    const [row] = rows
    if (row === undefined) throw notFound(missing)
    return row
  }

  return {
    get,

    /** Oldest first. */
    async list(
      db: Db,
      orgId: string,
      parentId: string,
      page: { limit: number; offset: number },
    ): Promise<Row[]> {
      const { rows } = await sql<Row>`
        ${select} where ${isIn(orgId, parentId)}
        order by ${column('created_at')}, ${column(key)} limit ${page.limit} offset ${page.offset}`.execute(
        db,
      )
      return rows
    },

    /** Until the transaction ends, no other transaction updates or deletes the row. */
    async lock(trx: Trx, orgId: string, parentId: string, id: string): Promise<Row> {
      await sql`
        select ${from} where ${isIn(orgId, parentId)} and ${column(key)} = ${id}
        for ${sql.raw(strength)}`.execute(trx)
      return get(trx, orgId, parentId, id)
    },

    /** Throws when a simultaneous request has deleted the row already. */
    async delete(trx: Trx, orgId: string, parentId: string, id: string): Promise<void> {
      const { numAffectedRows } = await sql`
        delete ${from} where ${isIn(orgId, parentId)} and ${column(key)} = ${id}`.execute(trx)
      if (numAffectedRows === 0n) throw notFound(missing)
    },
  }
}
