// A user who is logged in to the shared server.
import { expect } from 'vitest'
import { aDirectory, millrace, theServer, type Ended, type Json, type Settings } from './millrace.ts'

interface User {
  /** For commands. */
  settings: Settings
  token: string
  url: string
  /** Creates something in the organization. */
  post(path: string, body: object): Promise<Json>
}

/** The administrator of a new organization, who needs no login because of the environment. */
export async function aUser(slug: string): Promise<User> {
  const { url, token, settings: operator } = theServer()
  await json(['org', 'create', slug, '--name', `The ${slug}`], operator)
  const person = ['--email', 'admin@localhost', '--name', 'Administrator', '--role', 'admin']
  await json(['user', 'create', ...person, '--org', slug], operator)
  const settings = {
    XDG_CONFIG_HOME: aDirectory(),
    MILLRACE_DATA_DIR: aDirectory(),
    MILLRACE_URL: url,
    MILLRACE_TOKEN: token,
    MILLRACE_ORG: slug,
  }
  return { settings, token, url, post: poster(slug, token) }
}

/** Like aUser, with a person and a token of its own, and logged in. */
export async function aLoggedInUser(slug: string) {
  const { url, settings: operator } = theServer()
  await json(['org', 'create', slug, '--name', `The ${slug}`], operator)
  const email = `${slug}@example.com`
  const person = ['--email', email, '--name', 'Ada', '--org', slug, '--role', 'admin']
  await json(['user', 'create', ...person], operator)
  const issued = await json(['token', 'create', '--user', email, '--scope', 'all'], operator)
  const token = String(issued['token'])
  const settings = { XDG_CONFIG_HOME: aDirectory(), MILLRACE_DATA_DIR: aDirectory() }
  const input = `${token}\n`
  const ended = await millrace(['login', '--url', url, '--token-stdin'], settings, { input })
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  return { settings, token, url, post: poster(slug, token) }
}

const poster = (slug: string, token: string) => async (path: string, body: object) => {
  const answer = await theServer().post(`/v2/organizations/${slug}/${path}`, body, token)
  expect(answer.status).toBe(201)
  return answer.body
}

/** The JSON value that a command prints. */
export async function json(args: readonly string[], settings: Settings, input?: string): Promise<Json> {
  const ended = await millrace([...args, '--json'], settings, input === undefined ? {} : { input })
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  return JSON.parse(ended.stdout) as Json
}

/** The error text of a command that exits with 1 and prints nothing else. */
export function refusalOf({ code, stdout, stderr }: Ended): string {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  return stderr
}
