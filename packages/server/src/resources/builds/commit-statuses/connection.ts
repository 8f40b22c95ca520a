// The connection of a pipeline's repository, as queries with `repository_connections c` select it.
import { sql } from 'kysely'
import type { Credentials } from '../../../source-hosts/host.ts'
import type { ConnectionType } from '../../pipelines/repository_connections/schema.ts'

export type Connection = Credentials & { type: ConnectionType }

export type ConnectionRow = Omit<Connection, 'id' | 'type' | 'api_url'> & {
  connection_id: string | null
  type: ConnectionType | null
  api_url: string | null
}

export const connectionColumns = sql`
  c.id as connection_id, c.type, c.api_url, c.token_sealed, c.token_key_id, c.app_id, c.installation_id,
  c.private_key_sealed, c.private_key_id, c.private_key_hint`

export const readConnection = (row: ConnectionRow): Connection | null =>
  row.connection_id === null || row.type === null || row.api_url === null
    ? null
    : { ...row, id: row.connection_id, type: row.type, api_url: row.api_url }
