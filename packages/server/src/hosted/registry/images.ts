// Images in a registry: a manifest names a configuration and layers by their digests.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Connection } from './http.ts'

const uploadSeconds = 600
const imageTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const
const accepting = {
  accept: [
    imageTypes.manifest,
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.docker.distribution.manifest.v2+json',
    'application/vnd.docker.distribution.manifest.list.v2+json',
  ].join(', '),
}

/** Also the architecture of the nodes, because they run this process's Node. */
const architecture = process.arch === 'x64' ? 'amd64' : process.arch

export interface ImageLocation {
  at: Connection
  /** The repository, without its host. */
  name: string
  /** A tag or a digest. */
  reference: string
}

interface Blob {
  mediaType: string
  digest: string
  size: number
}

interface Image {
  location: ImageLocation
  layers: readonly Blob[]
  config: Record<string, unknown>
  /** The digests of the unpacked layers. */
  diffIds: readonly string[]
}

/** As Docker reads names: without a host it is on Docker Hub, and without a path there it is in `library`. */
export function locate(image: string): Omit<ImageLocation, 'at'> & { host: string } {
  const [, path = '', tag = 'latest', digest] = /^(.+?)(?::([^:/@]+))?(?:@(.+))?$/.exec(image) ?? []
  const [first = '', ...rest] = path.split('/')
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first)
  const host = hasHost ? first : 'docker.io'
  const inHost = hasHost ? rest.join('/') : path
  const name = host === 'docker.io' && !inHost.includes('/') ? `library/${inHost}` : inHost
  return { host, name, reference: digest ?? tag }
}

/** The digest of the manifest, or of the index if there is one. Uses HEAD, which rate limits do not count. */
export async function findDigest(location: ImageLocation): Promise<string> {
  const { at, name, reference } = location
  const url = `${at.pathOf(name)}/manifests/${reference}`
  const { headers } = await at.send(url, { method: 'HEAD', headers: accepting }, [200])
  return headers.get('docker-content-digest') ?? digestOf(await readText(location, `manifests/${reference}`))
}

export async function readImage(location: ImageLocation): Promise<Image> {
  const manifest = await readManifest(location)
  const { config: configBlob, layers } = manifest
  if (configBlob === undefined || layers === undefined) {
    throw new Error(`${location.name} has no manifest of a kind that can be added to`)
  }
  const config = JSON.parse(await readText(location, `blobs/${configBlob.digest}`)) as Record<string, unknown>
  const { diff_ids: diffIds = [] } = (config['rootfs'] ?? {}) as { diff_ids?: string[] }
  return { location, layers: layers.map(asOci), config, diffIds }
}

interface Manifest {
  config?: Blob
  layers?: Blob[]
  manifests?: Array<Blob & { platform?: { os?: string; architecture?: string } }>
}

/** If it is an index, reads the manifest for this architecture. */
async function readManifest(location: ImageLocation): Promise<Manifest> {
  const manifest = JSON.parse(await readText(location, `manifests/${location.reference}`)) as Manifest
  if (manifest.manifests === undefined) return manifest
  const fitting = manifest.manifests.find(
    ({ platform }) => platform?.os === 'linux' && platform.architecture === architecture,
  )
  if (fitting === undefined) throw new Error(`${location.name} has no image for linux/${architecture}`)
  return readManifest({ ...location, reference: fitting.digest })
}

async function readText({ at, name }: ImageLocation, what: string): Promise<string> {
  const answer = await at.send(`${at.pathOf(name)}/${what}`, { headers: accepting }, [200])
  const text = await answer.text()
  const [, wanted] = /(sha256:[0-9a-f]{64})$/.exec(what) ?? []
  if (wanted !== undefined && digestOf(text) !== wanted) {
    throw new Error(`the registry ${at.host} has something else as ${wanted}`)
  }
  return text
}

/** Docker's layers differ only in their media type. */
const asOci = (layer: Blob): Blob => ({
  ...layer,
  mediaType: layer.mediaType.replace(
    /^application\/vnd\.docker\.image\.rootfs\.diff\.tar\.gzip$/,
    `${imageTypes.layer}+gzip`,
  ),
})

/** An image with the layers of both. The lower image's history is left out, because it lists only its own layers. */
export async function stackImages(lower: Image, upper: Image, target: ImageLocation): Promise<string> {
  for (const { location, layers } of [lower, upper]) {
    for (const { digest } of layers) await copyBlob(location, target, digest)
  }
  const { history: _history, ...config } = lower.config
  const rootfs = { type: 'layers', diff_ids: [...lower.diffIds, ...upper.diffIds] }
  return putImage(target, { ...config, rootfs }, [...lower.layers, ...upper.layers])
}

export async function putLayerImage(target: ImageLocation, layer: Readable): Promise<string> {
  const { digest, size } = await upload(target, await startUpload(target), layer)
  const rootfs = { type: 'layers', diff_ids: [digest] }
  const config = { architecture, os: 'linux', config: {}, rootfs }
  return putImage(target, config, [{ mediaType: imageTypes.layer, digest, size }])
}

async function putImage(target: ImageLocation, config: object, layers: readonly Blob[]): Promise<string> {
  const { at, name, reference } = target
  const stored = await upload(target, await startUpload(target), Readable.from([JSON.stringify(config)]))
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: imageTypes.manifest,
    config: { mediaType: imageTypes.config, ...stored },
    layers,
  })
  const init = { method: 'PUT', headers: { 'content-type': imageTypes.manifest }, body: manifest }
  await at.send(`${at.pathOf(name)}/manifests/${reference}`, init, [201])
  return digestOf(manifest)
}

/** Within one registry the blob is mounted instead of sent, if the registry supports that. */
async function copyBlob(from: ImageLocation, to: ImageLocation, digest: string): Promise<void> {
  const path = to.at.pathOf(to.name)
  const held = await to.at.send(`${path}/blobs/${digest}`, { method: 'HEAD' }, [200, 404])
  if (held.status === 200) return
  const mount = from.at.host === to.at.host ? `?mount=${digest}&from=${from.name}` : ''
  const begun = await to.at.send(`${path}/blobs/uploads/${mount}`, { method: 'POST' }, [201, 202])
  if (begun.status === 201) return
  const url = `${from.at.pathOf(from.name)}/blobs/${digest}`
  const { body } = await from.at.send(url, {}, [200], uploadSeconds)
  if (body === null) throw new Error(`the registry ${from.at.host} has nothing as ${digest}`)
  await upload(to, nextAddress(begun, path), Readable.fromWeb(body))
}

/** Returns the URL of the upload, ready for another parameter. */
async function startUpload({ at, name }: ImageLocation): Promise<string> {
  const path = at.pathOf(name)
  return nextAddress(await at.send(`${path}/blobs/uploads/`, { method: 'POST' }, [202]), path)
}

async function upload(
  { at, name }: ImageLocation,
  address: string,
  content: Readable,
): Promise<{ digest: string; size: number }> {
  const hash = createHash('sha256')
  let size = 0
  const counted = async function* () {
    for await (const piece of content) {
      const bytes = Buffer.from(piece as Uint8Array | string)
      hash.update(bytes)
      size += bytes.length
      yield bytes
    }
  }
  const sent = await at.send(
    address,
    {
      method: 'PATCH',
      headers: { 'content-type': 'application/octet-stream' },
      body: Readable.toWeb(Readable.from(counted())),
      duplex: 'half',
    },
    [202, 204],
    uploadSeconds,
  )
  const digest = `sha256:${hash.digest('hex')}`
  await at.send(`${nextAddress(sent, at.pathOf(name))}digest=${digest}`, { method: 'PUT' }, [201])
  return { digest, size }
}

function nextAddress(response: Response, base: string): string {
  const next = new URL(response.headers.get('location') ?? '', base).href
  return `${next}${next.includes('?') ? '&' : '?'}`
}

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
