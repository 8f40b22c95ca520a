// An image registry, over the HTTP API that all of them speak: what Millrace itself does there. It brings the runner
// as an image and deletes images; everything else is between the registry, the builder and the nodes.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { HostedUnavailable } from './driver.ts'

export interface RegistrySettings {
  /** What the names of our images begin with: a host, and a path in it. */
  prefix: string
  /** Without TLS. */
  isInsecure: boolean
  /** The contents of a Docker configuration file with credentials; null: none are needed. */
  readCredentials: () => Promise<string | null>
}

export interface Registry {
  prefix: string
  host: string
  isInsecure: boolean
  /** Whether the image is one that can only have been built here. */
  holds(image: string): boolean
  /** Where the registry does not let images be deleted, it stays there unnamed. */
  deleteImage(name: string, digest: string): Promise<void>
  /** Makes an image of one layer and nothing else. Returns its digest. */
  pushLayer(name: string, tag: string, layer: Readable): Promise<string>
}

const answerSeconds = 30
const uploadSeconds = 600
const manifestType = 'application/vnd.oci.image.manifest.v1+json'

export function openRegistry({ prefix, isInsecure, readCredentials }: RegistrySettings): Registry {
  const [host = ''] = prefix.split('/')
  const base = `${isInsecure ? 'http' : 'https'}://${host}`
  const send = sender(host, readCredentials)
  const pathOf = (name: string) => `${base}/v2/${name.slice(host.length + 1)}`
  const put = async (name: string, digest: string, body: string) => {
    const at = await startUpload(name)
    await send(`${at}digest=${digest}`, { method: 'PUT', body }, [201])
  }
  /** Returns the address to go on at, ready for another parameter. */
  const startUpload = async (name: string) => {
    const begun = await send(`${pathOf(name)}/blobs/uploads/`, { method: 'POST' }, [202])
    return nextAddress(begun, base)
  }
  return {
    prefix,
    host,
    isInsecure,
    holds: (image) => image.startsWith(`${prefix}/`),
    async deleteImage(name, digest) {
      // 405, and 400 with Harbor and others: this registry deletes nothing on demand.
      const expected = [202, 200, 204, 400, 404, 405]
      await send(`${pathOf(name)}/manifests/${digest}`, { method: 'DELETE' }, expected)
    },
    async pushLayer(name, tag, layer) {
      const hash = createHash('sha256')
      let size = 0
      const counted = async function* () {
        for await (const piece of layer) {
          const bytes = piece as Buffer
          hash.update(bytes)
          size += bytes.length
          yield bytes
        }
      }
      const sent = await send(
        await startUpload(name),
        {
          method: 'PATCH',
          headers: { 'content-type': 'application/octet-stream' },
          body: Readable.toWeb(Readable.from(counted())),
          duplex: 'half',
        },
        [202, 204],
        uploadSeconds,
      )
      const layerDigest = `sha256:${hash.digest('hex')}`
      await send(`${nextAddress(sent, base)}digest=${layerDigest}`, { method: 'PUT' }, [201])
      const config = JSON.stringify({
        architecture: process.arch === 'x64' ? 'amd64' : process.arch,
        os: 'linux',
        config: {},
        rootfs: { type: 'layers', diff_ids: [layerDigest] },
      })
      await put(name, digestOf(config), config)
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType: manifestType,
        config: {
          mediaType: 'application/vnd.oci.image.config.v1+json',
          digest: digestOf(config),
          size: Buffer.byteLength(config),
        },
        layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: layerDigest, size }],
      })
      const headers = { 'content-type': manifestType }
      await send(`${pathOf(name)}/manifests/${tag}`, { method: 'PUT', headers, body: manifest }, [201])
      return digestOf(manifest)
    },
  }
}

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

function nextAddress(response: Response, base: string): string {
  const next = new URL(response.headers.get('location') ?? '', base).href
  return `${next}${next.includes('?') ? '&' : '?'}`
}

type Send = (
  url: string,
  init: RequestInit,
  expected: readonly number[],
  seconds?: number,
) => Promise<Response>

/** One request, with what the registry asks for to let us in. */
function sender(host: string, readCredentials: RegistrySettings['readCredentials']): Send {
  return async (url, init, expected, seconds = answerSeconds) => {
    const signal = AbortSignal.timeout(seconds * 1000)
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

/** What fetch says itself is only that it failed. */
const causeOf = ({ cause }: Error) => (cause instanceof Error ? cause.message : undefined)

/** Asks first what is wanted: a body that is a stream can be sent only once. */
async function authorize(
  url: string,
  method: string,
  host: string,
  readCredentials: RegistrySettings['readCredentials'],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { origin, pathname } = new URL(url)
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
  realm.searchParams.set('scope', `repository:${repository}:${method === 'DELETE' ? 'delete' : 'pull,push'}`)
  const answer = await fetch(realm, { headers: basic, signal })
  if (!answer.ok)
    throw new Error(`${realm.host} answered with ${answer.status} when it was asked for a token`)
  const { token, access_token: other } = (await answer.json()) as { token?: string; access_token?: string }
  return { authorization: `Bearer ${token ?? other ?? ''}` }
}

interface DockerConfig {
  auths?: Record<string, { auth?: string; username?: string; password?: string }>
}

function basicOf(host: string, config: string): string | null {
  const { auths = {} } = JSON.parse(config) as DockerConfig
  const found = auths[host] ?? auths[`https://${host}`] ?? auths[`https://${host}/v1/`]
  if (found?.auth !== undefined) return found.auth
  if (found?.username === undefined) return null
  return Buffer.from(`${found.username}:${found.password ?? ''}`).toString('base64')
}
