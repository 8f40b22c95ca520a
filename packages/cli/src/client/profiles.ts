// The servers that this user is logged in to, in one file that only this user can read.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { errorCode } from '../error-code.ts'
import { Refused } from '../refused.ts'
import type { Renewal } from './oauth.ts'

interface Profile {
  url: string
  token: string
  /** Absent: the token is valid until it expires. */
  renewal?: Renewal
  /** null: the user has several organizations and chose none. */
  org: string | null
}

interface Profiles {
  /** null: none. */
  current: string | null
  profiles: Record<string, Profile>
}

type Env = NodeJS.ProcessEnv

export function profilesFile(env: Env = process.env): string {
  // A relative XDG_CONFIG_HOME is invalid, by its specification.
  const home = env['XDG_CONFIG_HOME']
  const config = home?.startsWith('/') ? home : join(env['HOME'] ?? homedir(), '.config')
  return join(config, 'millrace', 'profiles.json')
}

export function readProfiles(env: Env = process.env): Profiles {
  const file = profilesFile(env)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
    protect(file)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { current: null, profiles: {} }
    throw new Refused(`${file} cannot be read (${errorCode(error)}).`)
  }
  const stored = parse(text)
  if (stored === null) throw new Refused(`${file} is damaged: delete it and run millrace login again.`)
  return stored
}

export function writeProfiles(profiles: Profiles, env: Env = process.env): void {
  const named = profilesFile(env)
  const folder = dirname(named)
  // The file appears whole or not at all. A link, such as one of a dotfiles folder, stays a link.
  const file = existsSync(named) ? realpathSync(named) : named
  const partial = `${file}.${process.pid}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
    writeFileSync(partial, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(partial, file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw new Refused(`${named} cannot be written (${errorCode(error)}).`)
  }
}

/** Where requests go and with which token. */
export interface Access {
  url: string
  token: string
  /** null: ask the server. */
  org: string | null
  /** For messages: where the token is from. */
  source: string
  /** The profile that the token is stored in. Absent: it was given. */
  profile?: string
  renewal?: Renewal
}

/**
 * `--profile` decides, then MILLRACE_URL and MILLRACE_TOKEN, then the current profile. A stored token is sent only to the
 * server that it was stored for.
 */
export function findAccess(
  { profile: name, org }: { profile?: string; org?: string },
  env: Env = process.env,
): Access {
  const stored = readProfiles(env)
  if (name !== undefined) {
    const profile = getProfile(stored, name)
    return { ...profile, org: org ?? profile.org, source: `of the profile ${name}`, profile: name }
  }
  const url = env['MILLRACE_URL'] ? readUrl(env['MILLRACE_URL']) : undefined
  const [found, profile] = findFor(stored, url) ?? []
  const token = env['MILLRACE_TOKEN'] || undefined
  const address = url ?? profile?.url
  if (address === undefined || (token ?? profile?.token) === undefined) {
    throw new Refused(missingLogin({ url, hasToken: token !== undefined, names: namesOf(stored) }, env))
  }
  const common = { url: address, org: org ?? (env['MILLRACE_ORG'] || profile?.org || null) }
  if (token !== undefined) return { ...common, token, source: 'in MILLRACE_TOKEN' }
  return {
    ...common,
    token: profile?.token ?? '',
    source: `of the profile ${found}`,
    ...(found === undefined ? {} : { profile: found }),
    ...(profile?.renewal === undefined ? {} : { renewal: profile.renewal }),
  }
}

export function getProfile(stored: Profiles, name: string): Profile {
  const profile = Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined
  if (profile !== undefined) return profile
  const names = namesOf(stored)
  throw new Refused(
    `There is no profile ${name}: ${names.length === 0 ? 'run millrace login' : `choose one of ${names.join(', ')}`}.`,
  )
}

/** The current profile, or the one of the given server; the current one of several. */
function findFor({ current, profiles }: Profiles, url: string | undefined): [string, Profile] | undefined {
  const entries = Object.entries(profiles)
  const usual = entries.find(([name]) => name === current)
  if (url === undefined || usual?.[1].url === url) return usual
  return entries.find(([, profile]) => profile.url === url)
}

const namesOf = ({ profiles }: Profiles) => Object.keys(profiles).toSorted()

/** Adds the scheme where it is missing, and removes the path of the API and the slash at the end. */
export function readUrl(text: string): string {
  const isLocal = /^(localhost|127\.|\[::1\])/i.test(text)
  const whole = /^https?:\/\//i.test(text) ? text : `${isLocal ? 'http' : 'https'}://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : null
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Refused(`${text} is not the URL of a server: it is such as https://ci.example.com.`)
  }
  return `${url.origin}${url.pathname.replace(/\/(v2\/?)?$/, '')}`
}

export function isLoopback(url: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
}

interface Missing {
  url: string | undefined
  hasToken: boolean
  names: readonly string[]
}

function missingLogin({ url, hasToken, names }: Missing, env: Env): string {
  if (hasToken) return 'MILLRACE_TOKEN is set, but no server: set MILLRACE_URL too, or run millrace login.'
  const lines = [
    url === undefined
      ? 'You are not logged in to a server. Log in with your browser or a token:'
      : `You are not logged in to ${url}. Log in with your browser or a token:`,
    '',
    `  millrace login --url ${url ?? 'https://ci.example.com'}`,
  ]
  const folder = resolve(env['MILLRACE_DATA_DIR'] || 'data')
  const isHere = url === undefined || isLoopback(url)
  if (isHere && ['postgres', 'postgres.location'].some((name) => existsSync(join(folder, name)))) {
    const local = url ?? `http://127.0.0.1:${env['PORT'] || '3000'}`
    lines.push(
      '',
      `The server with its data in ${folder} can make a token for you. While it runs:`,
      '',
      `  millrace token create --user admin@localhost --scope all | millrace login --url ${local} --token-stdin`,
    )
  }
  if (names.length > 0) lines.push('', `There are other logins: ${names.join(', ')}. --profile chooses one.`)
  return lines.join('\n')
}

/** Removes the access of other users, for example after the file was copied. */
function protect(file: string): void {
  if ((statSync(file).mode & 0o077) === 0) return
  chmodSync(file, 0o600)
  console.error(`Other users could read ${file}. Now only you can.`)
}

function parse(text: string): Profiles | null {
  try {
    const value = JSON.parse(text) as Partial<Profiles>
    const profiles = Object.entries(value.profiles ?? {})
    const isComplete = profiles.every(
      ([, { url, token }]) => typeof url === 'string' && typeof token === 'string',
    )
    if (!isComplete) return null
    return { current: value.current ?? null, profiles: Object.fromEntries(profiles) }
  } catch {
    return null
  }
}
