// Lets the person allow a login in the browser, as OAuth describes it: the server asks on a page, then sends the browser with a
// code to a port of this machine, and the code is exchanged for a token.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Refused } from '../refused.ts'
import { exchange } from './exchange.ts'
import { oneLine } from './text.ts'

export interface BrowserLogin {
  /** The page that asks the person. */
  page: string
  /** Rejects if the person denies. */
  token: Promise<string>
  /** No browser is awaited any more. */
  stop(): void
}

interface Metadata {
  issuer: string
  authorization_endpoint: string
  registration_endpoint: string
  token_endpoint: string
  scopes_supported: string[]
}

/** What commands change. The page of tokens proposes the same (commandScopes in packages/web). */
const WRITE_SCOPES = [
  'write_agents',
  'write_artifacts',
  'write_build_logs',
  'write_builds',
  'write_clusters',
  'write_pipelines',
  'write_secrets',
]

/** null: the server does not answer, or is older than this way to log in. */
export async function startBrowserLogin(url: string, name: string): Promise<BrowserLogin | null> {
  const metadata = await request<Metadata>(`${url}/.well-known/oauth-authorization-server`).catch(() => null)
  if (metadata === null) return null
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const program = await register(url, metadata, name, (server.address() as AddressInfo).port)
    const getToken = (code: string) => exchangeCode(addressOf(url, metadata.token_endpoint), program, code)
    return {
      page: pageOf(metadata, program),
      token: awaitAnswer(server, { state: program.state, issuer: metadata.issuer }, getToken),
      stop: () => close(server),
    }
  } catch (error) {
    close(server)
    throw error
  }
}

interface Program {
  clientId: string
  redirectUri: string
  /** Recognizes the answer. */
  state: string
  /** Proves that the code is exchanged by whoever asked for it. */
  verifier: string
}

async function register(url: string, metadata: Metadata, name: string, port: number): Promise<Program> {
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { client_id: clientId } = await request<{ client_id: string }>(
    addressOf(url, metadata.registration_endpoint),
    { type: 'application/json', body: JSON.stringify({ client_name: name, redirect_uris: [redirectUri] }) },
  )
  return { clientId, redirectUri, state: randomSecret(), verifier: randomSecret() }
}

const randomSecret = () => randomBytes(32).toString('base64url')

function pageOf(metadata: Metadata, { clientId, redirectUri, state, verifier }: Program): string {
  const readScopes = metadata.scopes_supported.filter((scope) => scope.startsWith('read_'))
  const page = new URL(metadata.authorization_endpoint)
  page.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: [...readScopes, ...WRITE_SCOPES].join(' '),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  return page.href
}

async function exchangeCode(address: string, program: Program, code: string): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    client_id: program.clientId,
    redirect_uri: program.redirectUri,
    code_verifier: program.verifier,
  })
  const { access_token: token } = await request<{ access_token: string }>(address, {
    type: 'application/x-www-form-urlencoded',
    body: form.toString(),
  })
  return token
}

/** Only the path that the server names is used, so that secrets go to the host that the person has named. */
const addressOf = (url: string, endpoint: string) => `${url}${new URL(endpoint).pathname}`

/** The token, when the browser has brought the code. A request that does not know the state is no answer. */
function awaitAnswer(
  server: Server,
  { state, issuer }: { state: string; issuer: string },
  getToken: (code: string) => Promise<string>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    server.on('request', (asked: IncomingMessage, response: ServerResponse) => {
      const [path = '', query = ''] = (asked.url ?? '').split('?')
      const given = new URLSearchParams(query)
      const isAnswer = path === '/callback' && given.get('state') === state && given.get('iss') === issuer
      if (!isAnswer) {
        response.writeHead(404).end()
        return
      }
      const say = (text: string, then: () => void) =>
        response.writeHead(200, { 'Content-Type': 'text/plain' }).once('close', then).end(`${text}\n`)
      readCode(given)
        .then(getToken)
        .then(
          (token) =>
            say('You are logged in. Close this page and go back to the terminal.', () => resolve(token)),
          (error: Error) => say('You are not logged in. The terminal says why.', () => reject(error)),
        )
    })
  })
}

async function readCode(given: URLSearchParams): Promise<string> {
  const code = given.get('code')
  if (code !== null) return code
  const error = given.get('error') ?? 'no code'
  throw new Refused(
    error === 'access_denied' ? 'You denied it in the browser.' : `The server says: ${oneLine(error)}`,
  )
}

function close(server: Server): void {
  server.close()
  server.closeAllConnections()
}

async function request<T>(address: string, sent?: { type: string; body: string }): Promise<T> {
  const headers = { Accept: 'application/json', 'User-Agent': 'millrace-cli' }
  const answer = await exchange(
    address,
    sent === undefined
      ? { method: 'GET', headers }
      : { method: 'POST', headers: { ...headers, 'Content-Type': sent.type }, body: sent.body },
  )
  const text = await answer.text()
  if (!answer.ok) throw new Refused(`${address} answers ${answer.status}: ${oneLine(text).slice(0, 300)}`)
  return JSON.parse(text) as T
}
