import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { expect, it, onTestFinished } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { aBrowser } from '../../test/browser.ts'
import { anAdmin, anOrganization } from '../../test/builders.ts'

const app = useApp()

/** A client of the SDK that keeps everything in memory. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:7777/callback'
  readonly clientMetadata = { client_name: 'Assistant', redirect_uris: [this.redirectUrl] }
  client: OAuthClientInformationMixed | undefined
  kept: OAuthTokens | undefined
  page: URL | undefined
  #verifier = ''

  clientInformation = () => this.client
  saveClientInformation = (client: OAuthClientInformationMixed) => void (this.client = client)
  tokens = () => this.kept
  saveTokens = (tokens: OAuthTokens) => void (this.kept = tokens)
  redirectToAuthorization = (page: URL) => void (this.page = page)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier
}

/** The server knows itself by another address than the one it has in tests. */
const atTheServer = (address: string | URL, init?: RequestInit) =>
  fetch(String(address).replace(baseUrl, app.address), init)

const transportOf = (authProvider: Keeper, query = '') =>
  new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp${query}`), { authProvider, fetch: atTheServer })

async function connect(transport: StreamableHTTPClientTransport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(transport)
  return client
}

it.each([
  ['reading tools', '', false],
  ['all tools', '?tools=write', true],
])('lets a client without a token ask for one with the scopes of %s', async (_, query, mayWrite) => {
  const person = await anAdmin(app, await anOrganization(app))
  const keeper = new Keeper()
  const transport = transportOf(keeper, query)
  await expect(connect(transport)).rejects.toThrow('Unauthorized')
  const { pathname, search } = keeper.page ?? new URL(baseUrl)
  const browser = aBrowser(app)
  await browser.signIn(person.token)
  const shown = await browser.get(pathname + search)
  expect(shown.text).toContain('Allow Assistant?')
  expect(shown.text.includes('<strong>Change:</strong>')).toBe(mayWrite)
  const { location } = await browser.submit('/-/oauth/authorize', { choice: 'allow' })
  await transport.finishAuth(new URL(String(location)).searchParams.get('code') ?? '')
  const client = await connect(transportOf(keeper, query))
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names).toContain('get_failure_summary')
  expect(names.includes('retry_job')).toBe(mayWrite)
})

it('names the page of the metadata and the scopes to a client without a token', async () => {
  const answer = await app.request('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
  const said = answer.headers.get('www-authenticate') ?? ''
  const metadata = `${baseUrl}/.well-known/oauth-protected-resource/mcp`
  expect(said).toContain(`Bearer resource_metadata="${metadata}", scope="`)
  for (const path of ['/.well-known/oauth-protected-resource', metadata.slice(baseUrl.length)]) {
    const { status, body } = await app.request('GET', path)
    expect(status).toBe(200)
    expect(body).toMatchObject({ resource: `${baseUrl}/mcp`, authorization_servers: [baseUrl] })
    expect(said).toContain(`scope="${(body['scopes_supported'] as unknown as string[]).join(' ')}"`)
  }
})
