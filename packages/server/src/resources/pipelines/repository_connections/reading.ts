// Reading a repository over http with the credentials of the connection of its host.
import type { Context } from '../../../context.ts'
import { TokenRefused } from '../../../source-hosts/host.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { locate } from '../../../source-hosts/settings.ts'
import * as connections from './queries.ts'

export interface Reading {
  /** Without a slash at its end. */
  url: string
  username: string
  password: string
  /** Credentials go over plain http only to addresses that the operator allows. */
  staysPrivate: boolean
}

type FoundReading =
  | { ok: true; reading: Reading }
  /** `reason` null: the host has no connection with credentials. */
  | { ok: false; reason: string | null; isPassing: boolean }

const none: FoundReading = { ok: false, reason: null, isPassing: false }

export async function findReading(
  ctx: Context,
  orgId: string,
  repository: string,
  purpose: 'poll' | 'checkout',
): Promise<FoundReading> {
  const url = readHttpUrl(repository)
  if (url === null) return none
  const connection = await connections.findOfRepository(ctx.db, orgId, repository)
  const token = connection && hostOfType(connection.type).token
  if (connection === undefined || !token) return none
  if (purpose === 'checkout' && !connection.checkout_enabled)
    return { ok: false, reason: off, isPassing: false }
  if (!isAt(connection, url)) return { ok: false, reason: elsewhere(connection, url), isPassing: false }
  try {
    const path = locate(repository)?.path ?? ''
    const password = await token.find(ctx, connection, path, { contents: 'read' })
    if (password === null) return none
    const address = repository.replace(/\/+$/, '')
    const staysPrivate = url.protocol === 'http:'
    return { ok: true, reading: { url: address, username: token.gitUsername, password, staysPrivate } }
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error
    return { ok: false, reason: error.message, isPassing: error.isPassing }
  }
}

/** null: another kind of address, or one with a password of its own. */
export function readHttpUrl(repository: string): URL | null {
  const url = URL.canParse(repository) ? new URL(repository) : null
  const isPlain = url !== null && url.username === '' && url.password === '' && !/[?#]/.test(repository)
  return isPlain && /^https?:$/.test(url.protocol) ? url : null
}

/**
 * Another port may belong to anybody, so the host is compared with its port, and with the path that it has in front. Where
 * repositories have another host than the pages, they are at its usual port.
 */
export function isAt({ url: shown }: Pick<connections.ConnectionRow, 'url'>, repository: URL): boolean {
  const own = new URL(shown)
  if (own.hostname !== repository.hostname) return repository.protocol === 'https:' && repository.port === ''
  const root = own.pathname.replace(/\/+$/, '')
  return own.origin === repository.origin && repository.pathname.startsWith(`${root}/`)
}

const off = 'checkout_enabled is off for the connection of its host.'

const elsewhere = (connection: connections.ConnectionRow, url: URL) =>
  `${url.host} is another address than that of the connection, ${connection.url}, so its credentials are not sent there.`
