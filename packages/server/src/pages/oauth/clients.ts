// Programs that ask people for a token. None is stored: the id of a client contains what the client said about itself, and a
// code that only this installation can make. So anybody may register, and nothing grows.
import { Type } from 'typebox'
import type { Keyring } from '../../auth/keyring.ts'
import { checker } from '../../lib/check.ts'
import { oauthError } from './errors.ts'

export interface Client {
  name: string
  redirectUris: readonly string[]
}

const checkMetadata = checker(
  Type.Object({
    client_name: Type.Optional(Type.String({ maxLength: 200 })),
    redirect_uris: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 1, maxItems: 10 }),
  }),
)

/** Reads what a program sends to register. Throws. */
export function readMetadata(given: unknown): Client {
  const checked = checkMetadata(given)
  if (!checked.ok) throw oauthError('invalid_client_metadata', `${checked.reason}.`)
  const { client_name: name, redirect_uris: redirectUris } = checked.value
  for (const uri of redirectUris) {
    const problem = redirectProblem(uri)
    if (problem !== null) throw oauthError('invalid_redirect_uri', `${uri}: ${problem}`)
  }
  return { name: shown(name ?? '') || 'A program without a name', redirectUris }
}

/** Without line breaks, and characters that change the direction of text. */
const shown = (name: string) => name.replaceAll(/\p{C}/gu, ' ').trim()

const purpose = 'oauth client'

export function clientId(keys: Keyring, client: Client): string {
  const content = Buffer.from(JSON.stringify(client)).toString('base64url')
  return `${content}.${keys.sign(purpose, content).toString('base64url')}`
}

/** null: this installation has not made the id. */
export function readClient(keys: Keyring, id: string): Client | null {
  const [content = '', code = ''] = id.split('.')
  if (!keys.verify(purpose, content, Buffer.from(code, 'base64url'))) return null
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as Client
}

/** A program on the person's own machine listens on a port that it does not know in advance. */
export const allowsRedirect = ({ redirectUris }: Client, asked: string): boolean =>
  redirectUris.includes(asked) ||
  (isLoopback(asked) &&
    redirectUris.some((uri) => isLoopback(uri) && withoutPort(uri) === withoutPort(asked)))

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost'])

export function isLoopback(uri: string): boolean {
  const { protocol, hostname } = new URL(uri)
  return protocol === 'http:' && loopbackHosts.has(hostname)
}

function withoutPort(uri: string): string {
  const url = new URL(uri)
  url.port = ''
  return url.href
}

/** Schemes that browsers or systems handle themselves. All others belong to applications. */
const reserved = /^(?:http|ftp|file|data|blob|javascript|vbscript|about|view-source|ws|wss|mailto|tel):$/

function redirectProblem(uri: string): string | null {
  if (!/^[\x21-\x7e]+$/.test(uri) || !URL.canParse(uri)) return 'This is not a URL.'
  const { protocol, hash, username, password } = new URL(uri)
  if (uri.includes('#') || hash !== '') return 'It must not have a fragment.'
  if (username !== '' || password !== '') return 'It must not contain a user name.'
  if (reserved.test(protocol) && !isLoopback(uri))
    return 'Use https, http on this machine (127.0.0.1), or a scheme of your application.'
  return null
}
