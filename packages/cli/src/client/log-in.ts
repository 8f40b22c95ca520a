// Gets a token, checks it with its server, and stores it.
import { hostname } from 'node:os'
import type { AccessToken } from '@millrace/server/wire.ts'
import { print } from '../command.ts'
import { Refused } from '../refused.ts'
import { apiOf, listOrganizations } from './api.ts'
import { startBrowserLogin, type BrowserLogin } from './browser-login.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import type { ClientOptions } from './command.ts'
import { RefusedByServer } from './failures.ts'
import { isLoopback, profilesFile, readProfiles, readUrl, writeProfiles, type Access } from './profiles.ts'
import { ask, askHidden, isInteractive, readInput } from './prompt.ts'
import { oneLine } from './text.ts'
import { describeExpiry } from './times.ts'

export interface LoginOptions extends ClientOptions {
  url?: string
  tokenStdin?: true
  /** True without a value: ask for it. */
  token?: string | true
}

export async function logIn(options: LoginOptions): Promise<void> {
  const url = await chooseUrl(options)
  if (url.startsWith('http:') && !isLoopback(url)) {
    console.error(`Warning: everybody on the way to ${url} can read the token. Prefer https.`)
  }
  const access: Access = {
    url,
    token: await getToken(url, options),
    org: null,
    source: 'that was given',
  }
  const token = await apiOf(access).get<AccessToken>('/v2/access-token')
  const org = await chooseOrganization(access, options)
  const name = options.profile ?? nameOf(url)
  const stored = readProfiles()
  const profile = { url, token: access.token, org }
  writeProfiles({ current: name, profiles: { ...stored.profiles, [name]: profile } })
  const { user, scopes, expires_at } = token
  print(
    options,
    { profile: name, url, org, user, scopes, expires_at },
    [
      `Logged in to ${url} as ${oneLine(user.name)} (${oneLine(user.email)}).`,
      org === null
        ? 'You have several organizations: choose one with --org, MILLRACE_ORG or millrace profile use.'
        : `The organization is ${org}.`,
      ...(expires_at === null ? [] : [`The token expires ${describeExpiry(expires_at)}.`]),
      `The token is in ${profilesFile()}, in the profile ${name}, which is now the current one.`,
    ].join('\n'),
  )
}

const LOCAL_URL = 'http://127.0.0.1:3000'

async function chooseUrl({ url, profile }: LoginOptions): Promise<string> {
  if (url !== undefined) return readUrl(url)
  const { current, profiles } = readProfiles()
  const usual = profiles[profile ?? '']?.url ?? (process.env['MILLRACE_URL'] || profiles[current ?? '']?.url)
  if (usual !== undefined) return readUrl(usual)
  if (!isInteractive()) return LOCAL_URL
  return readUrl((await ask(`URL of the server [${LOCAL_URL}]: `)) || LOCAL_URL)
}

async function getToken(url: string, options: LoginOptions): Promise<string> {
  const token = await findToken(url, options)
  if (token === '') throw new Refused('The token is empty.')
  // A header can have no other characters.
  if (!/^[\u0021-\u007e]+$/.test(token)) throw new Refused('The token has characters that no token has.')
  return token
}

async function findToken(url: string, { tokenStdin, token }: LoginOptions): Promise<string> {
  if (tokenStdin) return (await readInput()).trim()
  if (typeof token === 'string') return token
  if (!isInteractive()) {
    throw new Refused(
      'There is no terminal to ask for a token: pipe it into millrace login --token-stdin, or set MILLRACE_TOKEN.',
    )
  }
  const name = `millrace on ${hostname()}`
  const page = `${url}/-/me/tokens?new=${encodeURIComponent(name)}`
  const login = token === undefined && hasBrowser() ? await startBrowserLogin(url, name) : null
  if (login !== null && (await openBrowser(login.page))) return askBoth(login, page)
  login?.stop()
  console.error(`Open ${page}: create the token that it proposes, and paste it here.`)
  return askHidden(question)
}

const question = 'Token (it is not shown): '

/** The browser may be on another machine, or never show the page. */
async function askBoth(login: BrowserLogin, page: string): Promise<string> {
  console.error(`Your browser asks whether millrace may log in: allow it there.`)
  console.error(`Or create a token at ${page} and paste it here.`)
  const answered = new AbortController()
  try {
    return await Promise.race([login.token, askHidden(question, answered.signal)])
  } finally {
    answered.abort()
    login.stop()
  }
}

/** null: there are several, and nobody to choose. */
async function chooseOrganization(access: Access, { org: given }: LoginOptions): Promise<string | null> {
  const wanted = given ?? (process.env['MILLRACE_ORG'] || undefined)
  const slugs = await listSlugs(access)
  if (slugs === null) return wanted ?? null
  if (wanted !== undefined) {
    if (slugs.includes(wanted)) return wanted
    throw new Refused(`The token does not reach ${wanted}, but ${slugs.map(oneLine).join(', ') || 'none'}.`)
  }
  const [first, ...others] = slugs
  if (first === undefined) throw new Refused('The token reaches no organization.')
  if (others.length === 0) return first
  if (!isInteractive()) return null
  const answer = (await ask(`Organization (${slugs.map(oneLine).join(', ')}) [${first}]: `)) || first
  if (slugs.includes(answer)) return answer
  throw new Refused(`There is no organization ${answer}.`)
}

/** null: the token may not list organizations. */
async function listSlugs(access: Access): Promise<string[] | null> {
  try {
    return (await listOrganizations(access)).map(({ slug }) => slug)
  } catch (error) {
    if (error instanceof RefusedByServer && error.status === 403) return null
    throw error
  }
}

const nameOf = (url: string) => new URL(url).host.replaceAll(/[[\]]/g, '')
