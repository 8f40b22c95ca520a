// Lets the person allow a login in the browser, as OAuth describes it: the server asks on a page, then sends the browser with a
// code to a port of this machine, and the code is exchanged for a token.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Refused } from '../refused.ts'
import {
  addressOf,
  findMetadata,
  grantOf,
  postForm,
  register as registerClient,
  scopesOf,
  type Grant,
  type Metadata,
  type TokenAnswer,
} from './oauth.ts'
import { oneLine } from './text.ts'

interface BrowserLogin {
  /** The page that asks the person. */
  page: string
  /** Rejects if the person denies. */
  grant: Promise<Grant>
  /** No browser is awaited any more. */
  stop(): void
}

/** null: the server does not answer, or is older than this way to log in. */
export async function startBrowserLogin(url: string, name: string): Promise<BrowserLogin | null> {
  const metadata = await findMetadata(url)
  if (metadata === null) return null
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const program = await register(url, metadata, name, (server.address() as AddressInfo).port)
    const getGrant = (code: string) => exchangeCode(addressOf(url, metadata.token_endpoint), program, code)
    return {
      page: pageOf(metadata, program),
      grant: awaitAnswer(server, { state: program.state, issuer: metadata.issuer }, getGrant),
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
  const clientId = await registerClient(url, metadata, {
    client_name: name,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
  })
  return { clientId, redirectUri, state: randomSecret(), verifier: randomSecret() }
}

const randomSecret = () => randomBytes(32).toString('base64url')

function pageOf(metadata: Metadata, { clientId, redirectUri, state, verifier }: Program): string {
  const page = new URL(metadata.authorization_endpoint)
  page.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopesOf(metadata),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  return page.href
}

async function exchangeCode(address: string, program: Program, code: string): Promise<Grant> {
  const answer = await postForm<TokenAnswer>(address, {
    grant_type: 'authorization_code',
    code,
    client_id: program.clientId,
    redirect_uri: program.redirectUri,
    code_verifier: program.verifier,
  })
  return grantOf(answer, program.clientId)
}

/** The token, when the browser has brought the code. A request that does not know the state is no answer. */
function awaitAnswer(
  server: Server,
  { state, issuer }: { state: string; issuer: string },
  getGrant: (code: string) => Promise<Grant>,
): Promise<Grant> {
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
        .then(getGrant)
        .then(
          (grant) =>
            say('You are logged in. Close this page and go back to the terminal.', () => resolve(grant)),
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
