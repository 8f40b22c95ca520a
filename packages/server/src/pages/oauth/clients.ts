// Programs that ask people for a token. None is stored: the id of a client contains what the client said about itself, and a
// code that only this installation can make. So anybody may register, and nothing grows.
import { Type } from 'typebox'
import type { Keyring } from '../../auth/keyring.ts'
import { checker } from '../../lib/check.ts'
import { oauthError } from './errors.ts'

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export interface Client {
  name: string
  redirectUris: readonly string[]
  /** It renews its tokens, so they are short. */
  renews?: true
}

const checkMetadata = checker(
  Type.Object({
    client_name: Type.Optional(Type.String({ maxLength: 200 })),
    redirect_uris: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 1, maxItems: 10 }),
    ),
    grant_types: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 20 })),
  }),
)

interface Registration {
  client: Client
  grantTypes: string[]
}

/** Reads what a program sends to register. Throws. */
export function readMetadata(given: unknown): Registration {
  const checked = checkMetadata(given)
  if (!checked.ok) throw oauthError('invalid_client_metadata', `${checked.reason}.`)
  const { client_name: name, redirect_uris: redirectUris = [], grant_types: grants = [] } = checked.value
  // Programs without a browser wait for a code that a person enters elsewhere.
  if (redirectUris.length === 0 && !grants.includes(deviceGrant))
    throw oauthError('invalid_client_metadata', 'redirect_uris is missing.')
  for (const uri of redirectUris) {
    const problem = redirectProblem(uri)
    if (problem !== null) throw oauthError('invalid_redirect_uri', `${uri}: ${problem}`)
  }
  const renews = grants.includes('refresh_token')
  const client: Client = {
    name: shown(name ?? '') || 'A program without a name',
    redirectUris,
    ...(renews ? { renews } : {}),
  }
  const byBrowser = redirectUris.length === 0 ? [] : ['authorization_code']
  const others = [deviceGrant, 'refresh_token'].filter((grant) => grants.includes(grant))
  return { client, grantTypes: [...byBrowser, ...others] }
}

/** Without line breaks, and characters that change the direction of text. */
const shown = (name: string) => name.replaceAll(/\p{C}/gu, ' ').trim()

const purpose = 'oauth client'

export function clientId(keys: Keyring, client: Client): string {
  const content = Buffer.from(JSON.stringify(client)).toString('base64url')
  return `${content}.${keys.sign(purpose, content).toString('base64url')}`
}

/** Public clients that cannot register because their id is a part of them: `bk`, the command line of Buildkite. */
const knownClients: ReadonlyMap<string, Client> = new Map([
  ['5214b230f06b48938ab5', { name: 'bk', redirectUris: ['http://127.0.0.1/callback'], renews: true }],
])

/** null: this installation has not made the id. */
export function readClient(keys: Keyring, id: string): Client | null {
  const known = knownClients.get(id)
  if (known !== undefined) return known
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

/** Throws. */
export function requireClient(keys: Keyring, form: URLSearchParams): { id: string; client: Client } {
  const id = form.get('client_id') ?? ''
  const client = readClient(keys, id)
  if (client === null)
    throw oauthError('invalid_client', 'This installation has not registered the client.', 401)
  return { id, client }
}
