// An organization of a test's own on the server that all tests share.
import { millrace, theServer, type Client } from '../millrace.ts'

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await millrace([...args, '--json'], theServer().settings)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** Returns the token of a new person in the organization. */
export async function aPerson(slug: string, role: 'admin' | 'member', name: string): Promise<string> {
  const email = `${name.toLowerCase()}@${slug}.example`
  await run('user', 'create', '--email', email, '--name', name, '--org', slug, '--role', role)
  const created = await run('token', 'create', '--user', email, '--scope', 'all')
  return (JSON.parse(created) as { token: string }).token
}

let organizations = 0

export interface NewOrganization {
  server: Client
  slug: string
  /** The token of its administrator. */
  admin: string
  /** Its path in the API. */
  api: string
  url: string
}

export async function anOrganization(): Promise<NewOrganization> {
  const server = theServer()
  const slug = `org-${process.pid}-${Date.now().toString(36)}-${organizations++}`
  await run('org', 'create', slug, '--name', 'Before')
  const admin = await aPerson(slug, 'admin', 'Grace')
  return { server, slug, admin, api: `/v2/organizations/${slug}`, url: server.url }
}
