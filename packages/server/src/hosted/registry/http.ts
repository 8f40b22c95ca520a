import { HostedUnavailable } from '../driver.ts'

const answerSeconds = 30

export interface Connection {
  host: string
  /** The API's URL of a repository. */
  pathOf(name: string): string
  send(url: string, init: RequestInit, expected: readonly number[], seconds?: number): Promise<Response>
}

export interface Access {
  isInsecure: boolean
  /** The contents of a Docker configuration file with credentials; null: none are needed. */
  readCredentials: () => Promise<string | null>
  /** Aborts all requests. */
  closing: AbortSignal
}

export function connect(host: string, access: Access): Connection {
  // The API of docker.io has another host.
  const base = `${access.isInsecure ? 'http' : 'https'}://${host === 'docker.io' ? 'registry-1.docker.io' : host}`
  return { host, pathOf: (name) => `${base}/v2/${name}`, send: sender(host, access) }
}

function sender(host: string, { readCredentials, closing }: Access): Connection['send'] {
  return async (url, init, expected, seconds = answerSeconds) => {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(seconds * 1000)])
    try {
      const authorization = await authorize(url, init.method ?? 'GET', host, readCredentials, signal)
      const headers = { ...(init.headers as Record<string, string> | undefined), ...authorization }
      const response = await fetch(url, { ...init, headers, signal, redirect: 'follow' })
      if (expected.includes(response.status)) return response
      throw new Error(`it answered with ${response.status}: ${(await response.text()).slice(0, 500)}`)
    } catch (error) {
      const reason = error instanceof Error ? (causeOf(error) ?? error.message) : String(error)
      throw new HostedUnavailable(`The registry ${host} did not do what it was asked: ${reason}`, {
        cause: error,
      })
    }
  }
}

/** The message of fetch's own error says only that it failed. */
const causeOf = ({ cause }: Error) => (cause instanceof Error ? cause.message : undefined)

/** Asks for the challenge before the request, because a streamed body can be sent only once. */
async function authorize(
  url: string,
  method: string,
  host: string,
  readCredentials: Access['readCredentials'],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { origin, pathname, searchParams } = new URL(url)
  const asked = await fetch(`${origin}/v2/`, { signal })
  const challenge = asked.headers.get('www-authenticate') ?? ''
  await asked.body?.cancel()
  if (asked.status !== 401) return {}
  const credentials = basicOf(host, (await readCredentials()) ?? '{}')
  const basic: Record<string, string> = credentials === null ? {} : { authorization: `Basic ${credentials}` }
  if (!/^bearer /i.test(challenge)) return basic
  const parameter = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? ''
  const [, repository = ''] = /^\/v2\/(.+?)\/(?:blobs|manifests)\//.exec(pathname) ?? []
  const realm = new URL(parameter('realm'))
  realm.searchParams.set('service', parameter('service'))
  realm.searchParams.set('scope', `repository:${repository}:${rights[method] ?? 'pull,push'}`)
  const from = searchParams.get('from')
  if (from !== null) realm.searchParams.append('scope', `repository:${from}:pull`)
  const answer = await fetch(realm, { headers: basic, signal })
  if (!answer.ok)
    throw new Error(`${realm.host} answered with ${answer.status} when it was asked for a token`)
  const { token, access_token: other } = (await answer.json()) as { token?: string; access_token?: string }
  return { authorization: `Bearer ${token ?? other ?? ''}` }
}

const rights: Record<string, string> = { GET: 'pull', HEAD: 'pull', DELETE: 'delete' }

interface DockerConfig {
  auths?: Record<string, { auth?: string; username?: string; password?: string }>
}

function basicOf(host: string, config: string): string | null {
  const { auths = {} } = JSON.parse(config) as DockerConfig
  const key = host === 'docker.io' ? 'index.docker.io' : host
  const found = auths[host] ?? auths[`https://${key}`] ?? auths[`https://${key}/v1/`]
  if (found?.auth !== undefined) return found.auth
  if (found?.username === undefined) return null
  return Buffer.from(`${found.username}:${found.password ?? ''}`).toString('base64')
}
