// Gets a token, checks it with its server, and stores it.
import { hostname } from 'node:os'
import type { AccessToken } from '@millrace/server/wire.ts'
import { print } from '../command.ts'
import { Refused } from '../refused.ts'
import { apiOf, listOrganizations } from './api.ts'
import { startBrowserLogin } from './browser-login.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import type { ClientOptions } from './command.ts'
import { startDeviceLogin } from './device-login.ts'
import { RefusedByServer } from './failures.ts'
import type { Grant } from './oauth.ts'
import { isLoopback, profilesFile, readProfiles, readUrl, writeProfiles, type Access } from './profiles.ts'
import { ask, askHidden, isInteractive, readInput } from './prompt.ts'
import { oneLine } from './text.ts'
import { describeExpiry } from './times.ts'

export interface LoginOptions extends ClientOptions {
  url?: string
  tokenStdin?: true
  device?: true
  /** True without a value: ask for it. */
  token?: string | true
}

export async function logIn(options: LoginOptions): Promise<void> {
  const url = await chooseUrl(options)
  if (url.startsWith('http:') && !isLoopback(url)) {
    console.error(`Warning: everybody on the way to ${url} can read the token. Prefer https.`)
  }
  const { token: secret, renewal } = await getGrant(url, options)
  const access: Access = {
    url,
    token: secret,
    org: null,
    source: 'that was given',
  }
  const token = await apiOf(access).get<AccessToken>('/v2/access-token')
  const org = await chooseOrganization(access, options)
  const name = options.profile ?? nameOf(url)
  const stored = readProfiles()
  const profile = { url, token: access.token, org, ...(renewal === null ? {} : { renewal }) }
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
      ...(expires_at === null
        ? []
        : [
            `The token expires ${describeExpiry(expires_at)}${renewal === null ? '' : ', and is renewed when it is used'}.`,
          ]),
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

async function getGrant(url: string, options: LoginOptions): Promise<Grant> {
  const grant = await findGrant(url, options)
  if (grant.token === '') throw new Refused('The token is empty.')
  // A header can have no other characters.
  if (!/^[\u0021-\u007e]+$/.test(grant.token))
    throw new Refused('The token has characters that no token has.')
  return grant
}

/** A token that somebody has made. It is valid until it expires. */
const made = (token: string): Grant => ({ token, renewal: null })

async function findGrant(url: string, { tokenStdin, token, device }: LoginOptions): Promise<Grant> {
  if (tokenStdin) return made((await readInput()).trim())
  if (typeof token === 'string') return made(token)
  const name = `millrace on ${hostname()}`
  const page = `${url}/-/me/tokens?new=${encodeURIComponent(name)}`
  if (device) return awaitDevice(url, name, isInteractive() ? page : null)
  if (!isInteractive()) {
    throw new Refused(
      'There is no terminal to ask for a token: pipe it into millrace login --token-stdin, set MILLRACE_TOKEN, or log in with --device.',
    )
  }
  if (token !== undefined) return made(await askForToken(page))
  const login = hasBrowser() ? await startBrowserLogin(url, name) : null
  if (login !== null && (await openBrowser(login.page))) {
    console.error(`Your browser asks whether millrace may log in: allow it there.`)
    return askBoth(login, page)
  }
  login?.stop()
  return awaitDevice(url, name, page)
}

/** `tokenPage`: where the person can make a token instead. null: nobody can paste it here. */
async function awaitDevice(url: string, name: string, tokenPage: string | null): Promise<Grant> {
  const login = await startDeviceLogin(url, name)
  if (login === null) {
    if (tokenPage === null)
      throw new Refused(`${url} does not answer, or is too old for a login with --device.`)
    return made(await askForToken(tokenPage))
  }
  console.error(
    `Open ${oneLine(login.page)} in a browser, on any device, and enter the code ${oneLine(login.code)}`,
  )
  return tokenPage === null ? login.grant : askBoth(login, tokenPage)
}

const question = 'Token (it is not shown): '

function askForToken(page: string): Promise<string> {
  console.error(`Open ${page}: create the token that it proposes, and paste it here.`)
  return askHidden(question)
}

/** The person may decide in the browser, or have none. */
async function askBoth(login: { grant: Promise<Grant>; stop(): void }, page: string): Promise<Grant> {
  console.error(`Or create a token at ${page} and paste it here.`)
  const answered = new AbortController()
  try {
    return await Promise.race([login.grant, askHidden(question, answered.signal).then(made)])
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
