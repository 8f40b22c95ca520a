import { integer, postgresUrl, subject, type Reader } from './settings.ts'

export const databaseSettings = subject('The database', {
  DATABASE_URL: postgresUrl(
    '`postgres://…`. It may lead to PgBouncer; see [scaling.md](scaling.md)',
    'embedded',
  ),
  MILLRACE_DATABASE_DIRECT_URL: postgresUrl(
    'With a pooler in `DATABASE_URL`: the address of PostgreSQL itself',
    'the same',
  ),
  MILLRACE_DATABASE_CONNECTIONS: integer(
    { absent: 20, from: 4, to: 1000 },
    'The most connections of one process to `DATABASE_URL`, from 4',
  ),
  MILLRACE_DATABASE_CONNECT_SECONDS: integer(
    { absent: 8, from: 1, to: 60 },
    'How long to wait for a connection to the database',
  ),
  MILLRACE_DATABASE_STATEMENT_SECONDS: integer(
    { absent: 10, from: 1, to: 600 },
    'How long one statement of a request may take. A replica needs two seconds more to detect a silent database',
  ),
})

type DatabaseAddress =
  | { readonly kind: 'embedded' }
  /** `directUrl` leads to the same database past a pooler; null: `url` does. */
  | { readonly kind: 'url'; readonly url: string; readonly directUrl: string | null }

export function readDatabase(reader: Reader) {
  const values = reader.read(databaseSettings)
  const { DATABASE_URL: url, MILLRACE_DATABASE_DIRECT_URL: directUrl } = values
  if (directUrl !== null && url === null) {
    reader.problems.push(
      'MILLRACE_DATABASE_DIRECT_URL needs DATABASE_URL, the address of the pooler: set both or none.',
    )
  }
  const database: DatabaseAddress = url === null ? { kind: 'embedded' } : { kind: 'url', url, directUrl }
  return {
    database,
    databaseConnections: values.MILLRACE_DATABASE_CONNECTIONS,
    databaseLimits: {
      connectSeconds: values.MILLRACE_DATABASE_CONNECT_SECONDS,
      statementSeconds: values.MILLRACE_DATABASE_STATEMENT_SECONDS,
    },
  }
}
