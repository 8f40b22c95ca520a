// Databases for tests of several processes, in the PostgreSQL of the shared server.
import pg from 'pg'
import { databaseUrl, theServer } from './millrace.ts'

export async function anEmptyDatabase(name: string): Promise<string> {
  const server = theServer()
  const client = new pg.Client({ connectionString: databaseUrl(server) })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return databaseUrl(server, name)
}
